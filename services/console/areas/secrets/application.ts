// One application, in parts: its secrets in all environments, a form for a new one, its configuration side by side, its keys, an import.
import type { VNode } from '../../view/elements.ts';
import { Problems } from '../../contract.ts';
import { page, type Visit } from '../../pages.ts';
import { applicationPage } from './application-page.ts';
import { configurationPart } from './configuration.ts';
import { importPart } from './import.ts';
import { keyParts } from './keys.ts';
import { matrixPart } from './matrix.ts';
import { newSecretPart } from './new-secret.ts';
import { area, InApp, PartQuery } from './tabs.ts';

const show = page({
  path: '/secrets/{app}',
  area,
  params: InApp,
  query: PartQuery,
  show: async (visit) => {
    const { params, query } = visit;
    const content = await contentOf(visit, params.app, query);
    return applicationPage(visit, { app: params.app, part: query.part, content });
  },
});

async function contentOf(visit: Visit, app: string, query: PartQuery): Promise<readonly VNode[]> {
  const isForm = query.part === 'new' || query.part === 'import';
  if (isForm && !visit.may(area, 'editor')) throw Problems.roleMissing({ area, role: 'editor' });
  switch (query.part) {
    case 'new':
      return newSecretPart(visit, app);
    case 'configuration':
      return configurationPart(visit, app, query);
    case 'keys':
      return keyParts(visit, app);
    case 'import':
      return importPart(visit, app);
    case 'secrets':
      return matrixPart(visit, app, query);
  }
}

export const appPages = [show];
