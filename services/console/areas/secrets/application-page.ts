// What every part of an application's page has around it.
import { h, type VNode } from 'preact';
import { Application } from '../../../secrets/contract.ts';
import type { Shown, Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { icon } from '../../view/icons.ts';
import { pageHead } from '../../view/shell.ts';
import { type AppPart, appPath, appTabs, area, auditOf, listPath, partPath } from './tabs.ts';

export type Part = { readonly app: string; readonly part: AppPart; readonly content: readonly VNode[] };

/** The address of an application at its service. */
export const appRoot = (app: string) => pathOf`/api/management/applications/${app}`;

export async function applicationPage({ locale, ask, may }: Pick<Visit, 'locale' | 'ask' | 'may'>, { app, part, content }: Part): Promise<Shown> {
  const { secrets, view } = locale.t;
  const { name, description } = await ask('secrets').get(appRoot(app), Application);
  const isForm = part === 'new' || part === 'import';
  const title = isForm ? secrets.parts[part] : name;
  const trail = isForm ? { label: name, href: appPath(app) } : { label: view.areas.secrets, href: listPath };
  return {
    title,
    body: [
      pageHead({
        title,
        trail: [trail],
        lead: isForm ? null : description,
        actions: isForm ? null : actionsOf(app, { secrets, isEditor: may(area, 'editor') }),
      }),
      isForm ? null : appTabs(locale, app, part),
      ...content,
    ],
  };
}

type Words = { readonly secrets: Visit['locale']['t']['secrets']; readonly isEditor: boolean };

const actionsOf = (app: string, { secrets, isEditor }: Words) => [
  h('a', { class: 'button plain', href: auditOf(app) }, secrets.audit.title),
  ...(isEditor
    ? [
        h('a', { class: 'button', href: partPath(app, 'import') }, secrets.parts.import),
        h('a', { class: 'button primary', href: partPath(app, 'new'), 'data-key': 'n', 'data-key-label': secrets.parts.new }, icon('add'), secrets.parts.new),
      ]
    : []),
];
