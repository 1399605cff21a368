// The record of logins and actions: who did what, and what came of it.
import { z } from 'zod';
import { named } from '../../../platform/json.ts';
import { type ComponentChildren, h } from '../../view/elements.ts';
import { encodeCursor, queryCursor } from '../../../platform/schema.ts';
import { areas } from '../../contract.ts';
import { page, pageRows } from '../../pages.ts';
import type { ActionRow, ConsoleStore, Outcome } from '../../store.ts';
import { filterForm } from '../../view/filters.ts';
import { type Column, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, code, time, wordIn } from '../../view/texts.ts';
import { systemTabs } from './tabs.ts';

const path = '/system/actions';
const list = 'actions';
const cursor = queryCursor(list, z.tuple([z.coerce.date(), z.uuid()]));
const RecordQuery = z.object({ person: z.string().max(200).optional(), area: z.string().max(50).optional(), after: cursor });
const tones = { done: 'good', refused: 'warn', failed: 'bad' } as const satisfies Record<Outcome, string>;

export const recordPages = ({ store }: { readonly store: Pick<ConsoleStore, 'listActions'> }) => [
  page({
    path,
    area: 'system',
    role: 'admin',
    query: RecordQuery,
    async show(visit) {
      const {
        locale,
        query: { person, area, after },
      } = visit;
      const { record } = locale.t;
      const rows = await store.listActions({ person: person && named(person), area: area && named(area), before: after, rows: pageRows + 1 });
      const items = rows.slice(0, pageRows);
      const last = rows.length > pageRows ? items.at(-1) : undefined;
      const next = last ? encodeCursor(list, [last.at.toISOString(), last.id]) : null;
      const isFiltered = person !== undefined || area !== undefined;
      const options = ['access', 'me', ...areas].map((value) => ({ value, label: areaName(locale, value) }));
      const query = { person, area };
      const filters = [
        { kind: 'text', name: 'person', label: record.person },
        { kind: 'choice', name: 'area', label: record.area, options },
      ] as const;
      const nothing = isFiltered ? filteredEmpty(locale, path) : empty({ title: record.empty });
      return {
        title: record.title,
        body: [
          pageHead({ title: record.title, lead: record.lead }),
          systemTabs(visit, 'record'),
          filterForm(locale, { path, query, filters }),
          items.length > 0 ? table({ caption: record.title, columns: columnsIn(locale), items, idOf: ({ id }) => id }) : nothing,
          pager(locale, { path, query: { ...query, after: after ? 'further' : undefined }, shown: items.length, next }),
        ],
      };
    },
  }),
];

const columnsIn = (locale: Locale): readonly Column<ActionRow>[] => {
  const { record } = locale.t;
  return [
    { label: record.at, cell: ({ at }) => time(locale, at.toISOString()) },
    { label: record.person, kind: 'main', cell: ({ person }) => person || locale.t.view.none },
    { label: record.area, cell: ({ area }) => areaName(locale, area) },
    { label: record.action, cell: ({ action }) => h('span', { title: action }, wordsOf(locale, action)) },
    { label: record.target, cell: linked },
    { label: record.outcome, cell: ({ outcome }) => badge(tones[outcome], record.outcomes[outcome]) },
    { label: record.address, kind: 'minor', cell: ({ address }) => address },
    { label: record.request, kind: 'minor', cell: ({ requestId }) => code(requestId) },
  ];
};

/** An action that this version does not have keeps the name that the record has. */
const wordsOf = ({ t }: Locale, action: string): string => wordIn(t.actions, action) ?? action;

/** Ids of what has a page lead to it. */
const pages = [
  [/^\/(?:events|links|listings)\//, (action: string) => action.split('/', 2).join('/')],
  [/^\/bookmarks(?:\/\{id\}(?:\/favorite)?)?$/, () => '/bookmarks'],
  [/^\/bookmarks\/folders(?:\/\{id\})?$/, () => '/bookmarks/folders'],
] as const;
const uuid = /([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})/;

function linked({ action, target, name }: ActionRow): ComponentChildren {
  const root = pages.find(([pattern]) => pattern.test(action))?.[1](action);
  function shown(id: string): ComponentChildren {
    if (root !== undefined) return h('a', { href: `${root}/${id}` }, name ?? id);
    return name === null ? id : h('span', { title: id }, name);
  }
  return target.split(uuid).map((part, index) => (index % 2 === 1 ? shown(part) : part));
}

function areaName({ t }: Locale, area: string): string {
  const names: Readonly<Record<string, string>> = { ...t.view.areas, ...t.record.areas };
  return names[area] ?? area;
}
