// The configuration of an application, side by side in all environments. It is not secret: its values are shown.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { Configuration, Environment } from '../../../secrets/contract.ts';
import { configurationsCursor } from '../../../secrets/management/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import type { Visit } from '../../pages.ts';
import { chips, filterForm } from '../../view/filters.ts';
import { table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager, withQuery } from '../../view/pager.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, code, quiet } from '../../view/texts.ts';
import { appRoot, askedAtOnce, inEach, rowsFor, scrolling } from './application-page.ts';
import { appPath, area, partPath, type PartQuery } from './tabs.ts';

type Entry = AnswerOf<typeof Configuration>;
type Line = { readonly key: string; readonly values: ReadonlyMap<string, Entry>; readonly isDiffering: boolean };

/** Longer values are folded. */
const mostCharacters = 160;

export async function configurationPart({ locale, ask, may }: Visit, app: string, { q, differing, after }: PartQuery): Promise<readonly VNode[]> {
  const { configuration } = locale.t.secrets;
  const slugs = (await ask('secrets').get(`${appRoot(app)}/environments`, z.array(Environment))).map(({ slug }) => slug);
  const rows = rowsFor(slugs.length, 4);
  const isFiltered = q !== undefined || differing !== undefined;
  const isEnough = !isFiltered && slugs.length <= askedAtOnce;
  const entries = await (isEnough ? entriesBehind({ ask }, app, { slugs, key: after ?? '', rows }) : allEntries({ ask }, app));
  const part = q?.toLowerCase() ?? '';
  const all = linesOf(entries, slugs).filter(({ key, isDiffering }) => key.toLowerCase().includes(part) && (isDiffering || !differing));
  const rest = all.filter(({ key }) => key > (after ?? ''));
  const shown = rest.slice(0, rows);
  const next = rest.length > shown.length ? shown.at(-1)?.key : undefined;
  const path = appPath(app);
  const query = { part: 'configuration', q, differing };
  const link = { href: partPath(app, 'import'), label: locale.t.secrets.parts.import };
  const hasEntries = entries.length > 0 || after !== undefined;
  const nothing = hasEntries ? filteredEmpty(locale, partPath(app, 'configuration')) : empty({ ...configuration.none, ...(may(area, 'editor') && { link }) });
  return [
    ...(hasEntries ? filters(locale, path, query) : []),
    shown.length > 0 ? sideBySide(locale, slugs, shown) : nothing,
    ...(shown.length > 0 ? [pager(locale, { path, query: { ...query, after }, shown: shown.length, next })] : []),
  ];
}

const allEntries = ({ ask }: Pick<Visit, 'ask'>, app: string) => ask('secrets').get(`${appRoot(app)}/configurations`, z.array(Configuration));

type Behind = { readonly slugs: readonly string[]; readonly key: string; readonly rows: number };

/** The entries behind a key that a page can show, and one more of each environment: the service lists one environment after the other. */
async function entriesBehind({ ask }: Pick<Visit, 'ask'>, app: string, { slugs, key, rows }: Behind): Promise<readonly Entry[]> {
  const entriesOf = async (environmentSlug: string) => {
    const query = { limit: rows + 1, after: configurationsCursor({ environmentSlug, key }) };
    const found = await ask('secrets').get(`${appRoot(app)}/configurations`, z.array(Configuration), query);
    return found.filter((entry) => entry.environmentSlug === environmentSlug);
  };
  return (await inEach(slugs, entriesOf)).flat();
}

type Query = { readonly part: string; readonly q: string | undefined; readonly differing: string | undefined };

const filters = (locale: Locale, path: string, query: Query): readonly VNode[] => {
  const { configuration } = locale.t.secrets;
  return [
    filterForm(locale, { path, query, kept: ['part', 'differing'], filters: [{ kind: 'search', name: 'q', label: configuration.find }] }),
    chips(locale, configuration.compare, [
      { label: configuration.all, href: withQuery(path, { ...query, differing: undefined }), isCurrent: query.differing === undefined },
      { label: configuration.differing, href: withQuery(path, { ...query, differing: 'true' }), isCurrent: query.differing !== undefined },
    ]),
  ];
};

/** By key, in the order of their bytes, as the service has names. */
function linesOf(entries: readonly Entry[], slugs: readonly string[]): Line[] {
  const byKey = [...Map.groupBy(entries, ({ key }) => key)].map(([key, found]) => {
    const values = new Map(found.map((entry) => [entry.environmentSlug, entry]));
    return { key, values, isDiffering: new Set(slugs.map((slug) => values.get(slug)?.value)).size > 1 };
  });
  return byKey.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

function sideBySide(locale: Locale, slugs: readonly string[], lines: readonly Line[]): VNode {
  const { configuration, columns } = locale.t.secrets;
  const shown = table<Line>({
    caption: configuration.title,
    items: lines,
    idOf: ({ key }) => key,
    columns: [
      {
        label: columns.key,
        kind: 'main',
        cell: ({ key, isDiffering }) => [code(key), ' ', isDiffering ? badge('info', configuration.differs) : null],
      },
      ...slugs.map((slug) => ({ label: slug, cell: ({ values }: Line) => valueOf(locale, values.get(slug)) })),
    ],
  });
  return scrolling(configuration.title, shown);
}

function valueOf({ t }: Locale, entry: Entry | undefined): VNode {
  if (!entry) return quiet(t.secrets.configuration.missing);
  const { value } = entry;
  if (value.length <= mostCharacters) return h('span', { class: 'setting' }, value);
  return h('details', { class: 'setting' }, h('summary', null, `${value.slice(0, mostCharacters / 2)}…`), h('pre', { tabindex: 0 }, value));
}
