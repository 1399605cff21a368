// The import of a dotenv file: names and what happened to each are shown, and no value.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { Environment } from '../../../secrets/contract.ts';
import { Imported } from '../../../secrets/management/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { action, fieldCheck, fieldFile, type Refilled, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { field, form } from '../../view/forms.ts';
import { table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pageHead } from '../../view/shell.ts';
import { badge, code } from '../../view/texts.ts';
import { applicationPage, appRoot } from './application-page.ts';
import { appPath, area, InApp, partPath } from './tabs.ts';

/** As the service takes them, with room for the parts of the form. */
const mostFileBytes = 1_048_576 + 4096;
const importMs = 30_000;
const kinds = ['secrets', 'configuration'] as const;

type Asking = Pick<Visit, 'locale' | 'ask' | 'may'>;

/** @param refilled without the file, which a browser does not send back */
export async function importPart({ locale, ask }: Asking, app: string, refilled?: Refilled): Promise<readonly VNode[]> {
  const environments = await ask('secrets').get(`${appRoot(app)}/environments`, z.array(Environment));
  const { dotenv } = locale.t.secrets;
  const entered = (name: string) => [refilled?.fields[name] ?? ''].flat()[0];
  const faults = refilled?.faults;
  return [
    form(
      locale,
      { path: `${appPath(app)}/import`, submit: dotenv.submit, cancel: appPath(app), isUpload: true, faults },
      field(locale, { kind: 'file', name: 'file', label: dotenv.file, hint: dotenv.fileHint, accept: '.env,text/plain', isRequired: true, faults }),
      field(locale, {
        kind: 'choice',
        name: 'environment',
        label: dotenv.environment,
        value: entered('environment'),
        options: environments.map(({ slug }) => ({ value: slug, label: slug })),
        isRequired: true,
        faults,
      }),
      field(locale, {
        kind: 'choice',
        name: 'as',
        label: dotenv.as,
        value: entered('as'),
        options: kinds.map((value) => ({ value, label: locale.t.secrets.parts[value] })),
        isRequired: true,
        faults,
      }),
      field(locale, { kind: 'check', name: 'dryRun', label: dotenv.dryRun, isChecked: entered('dryRun') === 'true' }),
    ),
  ];
}

const take = action({
  path: '/secrets/{app}/import',
  area,
  params: InApp,
  hasFile: true,
  maxFormBytes: mostFileBytes,
  form: z.object({ file: fieldFile, environment: z.string(), as: z.enum(kinds), dryRun: fieldCheck }),
  async run({ params: { app }, form: { file, environment, as, dryRun }, locale, ask }) {
    const path = appRoot(app) + pathOf`/environments/${environment}/import`;
    const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
    const { items } = await ask('secrets').send({ method: 'POST', path, query: { as, dryRun }, body: file, headers, timeoutMs: importMs }, Imported);
    const { dotenv } = locale.t.secrets;
    const changed = items.filter(({ change }) => change === 'created' || change === 'updated').length;
    const message = (dryRun ? dotenv.wouldImport : dotenv.imported)(changed);
    return { message, target: `${app} ${environment} ${as}`, page: { title: dotenv.outcome, body: outcome(locale, { app, as, message, items }) } };
  },
  async again(visit) {
    const { app } = visit.params;
    return applicationPage(visit, { app, part: 'import', content: await importPart(visit, app, visit) });
  },
});

type Outcome = {
  readonly app: string;
  readonly as: (typeof kinds)[number];
  readonly message: string;
  readonly items: AnswerOf<typeof Imported>['items'];
};
const tones = { created: 'good', updated: 'info', unchanged: 'plain', empty: 'warn' } as const;
/** A file has up to a thousand lines; a page has room for fewer. */
const mostShown = 200;

function outcome(locale: Locale, { app, as, message, items }: Outcome): VNode[] {
  const { dotenv, columns } = locale.t.secrets;
  return [
    pageHead({ title: dotenv.outcome, trail: [{ label: app, href: partPath(app, as) }], lead: message }),
    table<Outcome['items'][number]>({
      caption: dotenv.outcome,
      items: items.slice(0, mostShown),
      idOf: ({ name }) => name,
      columns: [
        { label: columns.name, kind: 'main', cell: ({ name }) => code(name) },
        { label: dotenv.change, cell: ({ change }) => badge(tones[change], dotenv.changes[change]) },
      ],
    }),
    ...(items.length > mostShown ? [h('p', { class: 'quiet' }, dotenv.further(items.length - mostShown))] : []),
    h('p', { class: 'buttons' }, h('a', { class: 'button', href: partPath(app, as) }, locale.t.secrets.parts[as])),
  ];
}

export const importActions = [take];
