// The frame of every part of an application's page.
import { h, type VNode } from '../../view/elements.ts';
import { Application } from '../../../secrets/contract.ts';
import { pageRows, type Shown, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { icon } from '../../view/icons.ts';
import { pageHead } from '../../view/shell.ts';
import { type AppPart, appPath, appTabs, area, auditOf, listPath, partPath } from './tabs.ts';

export type Part = { readonly app: string; readonly part: AppPart; readonly content: readonly VNode[] };

/** The address of an application at its service. */
export const appRoot = (app: string) => pathOf`/api/management/applications/${app}`;

/** Calls for the environments of a page. */
export const askedAtOnce = 8;

/** The answer for each environment, in their order; an application may have hundreds, and the service has other callers. */
export async function inEach<E, T>(environments: readonly E[], ask: (environment: E) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let from = 0; from < environments.length; from += askedAtOnce)
    answers.push(...(await Promise.all(environments.slice(from, from + askedAtOnce).map(ask))));
  return answers;
}

/** Rows of a table with a column for each environment: a page has at most 1500 elements. */
export const rowsFor = (environments: number, elementsOfCell: number) =>
  Math.max(10, Math.min(pageRows, Math.floor(1000 / (3 + elementsOfCell * environments))));

/** Around a table that is wider than the page: keys scroll what has the focus. */
export const scrolling = (label: string, wide: VNode): VNode => h('div', { class: 'matrix', role: 'region', 'aria-label': label, tabindex: 0 }, wide);

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
  h('a', { class: 'button', href: auditOf(app) }, secrets.audit.title),
  ...(isEditor
    ? [
        h('a', { class: 'button', href: partPath(app, 'import') }, secrets.parts.import),
        h('a', { class: 'button primary', href: partPath(app, 'new'), 'data-key': 'n', 'data-key-label': secrets.parts.new }, icon('add'), secrets.parts.new),
      ]
    : []),
];
