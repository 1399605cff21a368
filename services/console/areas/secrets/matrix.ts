// The matrix of an application: each secret in each environment, without values, and how often they are read.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { Environment } from '../../../secrets/contract.ts';
import { Coverage, type CoveredSecret } from '../../../secrets/overview/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { dayMs } from '../../../platform/time.ts';
import { action, type Visit } from '../../pages.ts';
import { chips, filterForm } from '../../view/filters.ts';
import { type Faults, field, form } from '../../view/forms.ts';
import { rowLink, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager, withQuery } from '../../view/pager.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, dotted, time } from '../../view/texts.ts';
import { applicationPage, appRoot, rowsFor, scrolling } from './application-page.ts';
import { atField } from './keys.ts';
import { readsOf, readsPart } from './reads-plot.ts';
import { appPath, area, InApp, type PartQuery, partPath, secretPath } from './tabs.ts';

type Covered = AnswerOf<typeof CoveredSecret>;
type Place = Covered['environments'][number];

type Asked = Pick<PartQuery, 'q' | 'lacking' | 'after'> & { readonly faults?: Faults };

const soonMs = 30 * dayMs;

/** @param faults of the form for an environment, which came back */
export async function matrixPart(visit: Visit, app: string, { q, lacking, after, faults }: Asked): Promise<readonly VNode[]> {
  const { locale, ask, may } = visit;
  const api = ask('secrets');
  const environments = await api.get(`${appRoot(app)}/environments`, z.array(Environment));
  const [{ items, next }, reads] = await Promise.all([
    api.get(`${appRoot(app)}/coverage`, Coverage, { q, lacking, after, limit: rowsFor(environments.length, 10) }),
    readsOf(visit, app),
  ]);
  const { secrets } = locale.t;
  const path = appPath(app);
  const isEditor = may(area, 'editor');
  const link = { href: partPath(app, 'new'), label: secrets.parts.new };
  const isFiltered = q !== undefined || lacking !== undefined;
  const nothing = isFiltered ? filteredEmpty(locale, path) : empty({ ...secrets.none, ...(isEditor && { link }) });
  return [
    ...(items.length > 0 || isFiltered ? filters(locale, path, { q, lacking }) : []),
    items.length > 0 ? matrix(locale, app, { slugs: environments.map(({ slug }) => slug), items, isEditor }) : nothing,
    ...(items.length > 0 ? [pager(locale, { path, query: { q, lacking, after }, shown: items.length, next })] : []),
    readsPart(visit, reads),
    ...(isEditor ? [newEnvironment(locale, app, faults)] : []),
  ];
}

const filters = (locale: Locale, path: string, { q, lacking }: Pick<PartQuery, 'q' | 'lacking'>): readonly VNode[] => {
  const { secrets } = locale.t;
  return [
    filterForm(locale, { path, query: { q, lacking }, kept: ['lacking'], filters: [{ kind: 'search', name: 'q', label: secrets.findSecret }] }),
    chips(locale, secrets.gaps, [
      { label: secrets.all, href: withQuery(path, { q }), isCurrent: lacking === undefined },
      { label: secrets.lacking, href: withQuery(path, { q, lacking: 'true' }), isCurrent: lacking !== undefined },
    ]),
  ];
};

type Matrix = { readonly slugs: readonly string[]; readonly items: readonly Covered[]; readonly isEditor: boolean };

function matrix(locale: Locale, app: string, { slugs, items, isEditor }: Matrix): VNode {
  const shown = table<Covered>({
    caption: locale.t.secrets.matrix,
    items,
    idOf: ({ name }) => name,
    columns: [
      { label: locale.t.secrets.columns.secret, kind: 'main', cell: ({ name }) => rowLink(secretPath(app, name), name) },
      ...slugs.map((slug) => ({
        label: slug,
        cell: ({ name, environments }: Covered) => {
          const found = environments.find(({ environment }) => environment === slug);
          return placeOf(locale, found, isEditor ? addPath(app, name, slug) : undefined);
        },
      })),
    ],
  });
  return scrolling(locale.t.secrets.matrix, shown);
}

/** The form for a version, with the environment chosen. */
const addPath = (app: string, name: string, environment: string) => `${withQuery(secretPath(app, name), { environment })}#add`;

/** Version, age, expiry and last read of a secret in an environment; where none is served, a way to add one. */
function placeOf(locale: Locale, found: Place | undefined, add: string | undefined): VNode {
  const { secrets } = locale.t;
  if (found?.version === undefined || found.version === null) {
    const words = found?.newestVersion ? badge('bad', secrets.off(found.newestVersion)) : badge('warn', secrets.missing);
    return h('span', { class: 'place' }, add === undefined ? words : h('a', { href: add, title: secrets.add.title }, words));
  }
  const { version, newestVersion, createdAt, expiresAt, lastReadAt, inheritedFrom } = found;
  const isSoon = expiresAt !== null && Date.parse(expiresAt) - locale.now.getTime() < soonMs;
  const expiry = expiresAt === null ? null : [`${secrets.expires} `, time(locale, expiresAt, 'ago')];
  return h(
    'span',
    { class: 'place' },
    h('span', null, h('span', { class: 'strong' }, secrets.version(version)), ' ', isSoon ? badge('warn', expiry) : null),
    dotted(
      [`${secrets.made} `, time(locale, createdAt, 'ago')],
      inheritedFrom === null ? null : secrets.inherited(inheritedFrom),
      newestVersion !== null && newestVersion > version ? secrets.off(newestVersion) : null,
      isSoon ? null : expiry,
      lastReadAt === null ? secrets.neverRead : [`${secrets.read} `, time(locale, lastReadAt, 'ago')],
    ),
  );
}

function newEnvironment(locale: Locale, app: string, faults: Faults | undefined): VNode {
  const { environments } = locale.t.secrets;
  return h(
    'details',
    { open: faults !== undefined },
    h('summary', null, environments.add),
    form(
      locale,
      { path: `${appPath(app)}/environments/add`, submit: environments.add, faults },
      field(locale, {
        kind: 'text',
        name: 'name',
        label: environments.name,
        hint: environments.hint,
        isRequired: true,
        maxLength: 100,
        autocomplete: 'off',
        faults,
      }),
    ),
  );
}

const addEnvironment = action({
  path: '/secrets/{app}/environments/add',
  area,
  params: InApp,
  form: z.object({ name: z.string() }),
  async run({ params: { app }, form: { name }, locale, ask }) {
    const { slug } = await atField('name', ask('secrets').send({ method: 'POST', path: `${appRoot(app)}/environments`, body: { name } }, Environment));
    return { message: locale.t.secrets.environments.added(slug), target: `${app} ${slug}`, to: appPath(app) };
  },
  async again(visit) {
    const { app } = visit.params;
    return applicationPage(visit, { app, part: 'secrets', content: await matrixPart(visit, app, { faults: visit.faults }) });
  },
});

export const matrixActions = [addEnvironment];
