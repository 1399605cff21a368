// The typed lists of the intake: what each shows of its rows, and what it can be narrowed by.
import { z } from 'zod';
import { type ComponentChildren, h } from '../../view/elements.ts';
import { integerAt, memberAt, textAt } from '../../../platform/json.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import type { Column } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { withQuery } from '../../view/pager.ts';
import { badge, code, externalRowLink, time, type Tone, wordIn } from '../../view/texts.ts';

/** The members that all typed rows have; the others are the forge's own, and read by their paths. */
export const TypedRow = z.looseObject({
  id: z.string(),
  repository: z.string().nullable(),
  updatedAt: z.string(),
  deletedAt: z.string().nullable(),
});
export type TypedRow = AnswerOf<typeof TypedRow>;

export const filterNames = ['repository', 'state', 'conclusion', 'branch', 'name', 'status', 'kind', 'sender', 'login', 'account', 'deleted'] as const;
export type FilterName = (typeof filterNames)[number];

type Cell = (row: TypedRow, locale: Locale) => ComponentChildren;
type ColumnName = keyof Locale['t']['events']['columns'];

export type TypedList = {
  readonly name: keyof Locale['t']['events']['typed'];
  readonly path: `/events/${string}`;
  /** The path at the intake, below `/api/v1/`. */
  readonly api: string;
  readonly main: (row: TypedRow) => string;
  /** The address of its page on the forge. */
  readonly link?: readonly string[];
  readonly columns: readonly (readonly [name: ColumnName, cell: Cell, kind?: 'number' | 'minor'])[];
  readonly filters: readonly FilterName[];
  /** A filter whose values are links above the list. */
  readonly choices?: { readonly name: 'state' | 'conclusion'; readonly values: readonly string[] };
  /** Whether its runs are counted by days. */
  readonly hasSeries?: true;
};

const numbered = (row: TypedRow) => `#${integerAt(row, 'number') ?? ''} ${textAt(row, 'title') ?? ''}`;
const text =
  (...path: readonly string[]): Cell =>
  (row) =>
    textAt(row, ...path);
const number =
  (...path: readonly string[]): Cell =>
  (row, { format }) => {
    const value = integerAt(row, ...path);
    return value === undefined ? null : format.number(value);
  };
const when =
  (...path: readonly string[]): Cell =>
  (row, locale) =>
    textAt(row, ...path) === undefined ? null : time(locale, textAt(row, ...path));
const short =
  (...path: readonly string[]): Cell =>
  (row) => {
    const commit = textAt(row, ...path);
    return commit === undefined ? null : code(commit.slice(0, 8));
  };
const changed: TypedList['columns'][number] = ['changed', when('updatedAt'), 'number'];

const tones: Readonly<Record<string, Tone>> = {
  open: 'good',
  merged: 'info',
  success: 'good',
  failure: 'bad',
  timed_out: 'bad',
  startup_failure: 'bad',
  cancelled: 'warn',
  in_progress: 'info',
};
/** A word of the forge, in the language of the page where it is known. */
export const wordOf = ({ t }: Locale, value: string): string => wordIn(t.events.words, value) ?? value.replaceAll('_', ' ');

const word = (locale: Locale, value: string | undefined) => (value === undefined ? null : badge(tones[value] ?? 'plain', wordOf(locale, value)));
const flagsOf = (locale: Locale, row: TypedRow, ...names: readonly string[]) =>
  names.filter((name) => memberAt(row, name) === true).map((name) => badge('plain', wordOf(locale, name)));
const flags =
  (...names: readonly string[]): Cell =>
  (row, locale) =>
    flagsOf(locale, row, ...names);
const firstLine = (value: string | undefined) => value?.split('\n', 1)[0]?.slice(0, 160);

const openOrClosed = { name: 'state', values: ['open', 'closed'] } as const;

export const typedLists: readonly TypedList[] = [
  {
    name: 'issues',
    path: '/events/issues',
    api: 'issues',
    main: numbered,
    link: ['html_url'],
    columns: [
      ['state', (row, locale) => word(locale, textAt(row, 'state'))],
      ['author', text('user', 'login')],
      ['comments', number('comments'), 'number'],
      changed,
    ],
    filters: ['repository', 'sender', 'deleted'],
    choices: openOrClosed,
  },
  {
    name: 'pullRequests',
    path: '/events/pull-requests',
    api: 'pull-requests',
    main: numbered,
    link: ['html_url'],
    columns: [
      ['state', (row, locale) => [word(locale, memberAt(row, 'merged') === true ? 'merged' : textAt(row, 'state')), flagsOf(locale, row, 'draft')]],
      ['author', text('user', 'login')],
      ['branch', text('head', 'ref'), 'minor'],
      ['lines', (row, { format }) => linesOf(row, format.number), 'number'],
      changed,
    ],
    filters: ['repository', 'sender', 'deleted'],
    choices: openOrClosed,
  },
  {
    name: 'releases',
    path: '/events/releases',
    api: 'releases',
    main: (row) => textAt(row, 'name') ?? textAt(row, 'tag_name') ?? '',
    link: ['html_url'],
    columns: [
      ['tag', (row) => code(textAt(row, 'tag_name') ?? '')],
      ['state', flags('draft', 'prerelease')],
      ['author', text('author', 'login')],
      ['published', when('published_at'), 'number'],
    ],
    filters: ['repository', 'sender', 'deleted'],
  },
  {
    name: 'runs',
    path: '/events/runs',
    api: 'workflow-runs',
    main: (row) => `${textAt(row, 'name') ?? ''} #${integerAt(row, 'run_number') ?? ''}`,
    link: ['html_url'],
    columns: [
      ['state', (row, locale) => word(locale, textAt(row, 'conclusion') ?? textAt(row, 'status'))],
      ['branch', text('head_branch')],
      ['trigger', text('event'), 'minor'],
      ['author', text('actor', 'login'), 'minor'],
      ['started', when('run_started_at'), 'number'],
      changed,
    ],
    filters: ['repository', 'name', 'branch', 'status', 'sender', 'deleted'],
    choices: { name: 'conclusion', values: ['success', 'failure', 'cancelled', 'timed_out', 'skipped'] },
    hasSeries: true,
  },
  {
    name: 'pushes',
    path: '/events/pushes',
    api: 'pushes',
    main: (row) => (textAt(row, 'ref') ?? '').replace(/^refs\/(heads|tags)\//, ''),
    link: ['compare'],
    columns: [
      ['message', (row) => firstLine(textAt(row, 'head_commit', 'message'))],
      ['commits', number('commit_count'), 'number'],
      ['author', text('pusher', 'name')],
      ['state', flags('created', 'deleted', 'forced'), 'minor'],
      changed,
    ],
    filters: ['repository', 'sender', 'deleted'],
  },
  {
    name: 'branches',
    path: '/events/branches',
    api: 'branches',
    main: (row) => textAt(row, 'name') ?? '',
    columns: [['commit', short('sha')], ['mainBranch', text('master_branch'), 'minor'], changed],
    filters: ['repository', 'deleted'],
  },
  {
    name: 'comments',
    path: '/events/comments',
    api: 'comments',
    main: (row) => firstLine(textAt(row, 'body')) ?? '…',
    link: ['html_url'],
    columns: [
      ['about', (row) => [integerAt(row, 'number') === undefined ? textAt(row, 'path') : `#${integerAt(row, 'number') ?? ''}`]],
      ['author', text('user', 'login')],
      ['kind', (row) => textAt(row, 'kind')?.replaceAll('_', ' '), 'minor'],
      changed,
    ],
    filters: ['repository', 'sender', 'deleted'],
  },
  {
    name: 'repositories',
    path: '/events/repositories',
    api: 'repositories',
    main: (row) => textAt(row, 'full_name') ?? '',
    link: ['html_url'],
    columns: [
      ['description', text('description')],
      ['language', text('language')],
      ['state', (row, locale) => [word(locale, textAt(row, 'visibility')), flagsOf(locale, row, 'archived', 'fork')], 'minor'],
      changed,
    ],
    filters: ['repository', 'deleted'],
  },
  {
    name: 'users',
    path: '/events/users',
    api: 'users',
    main: (row) => textAt(row, 'login') ?? '',
    link: ['html_url'],
    columns: [['kind', text('type')], changed],
    filters: ['login'],
  },
  {
    name: 'installations',
    path: '/events/installations',
    api: 'installations',
    main: (row) => textAt(row, 'account', 'login') ?? '',
    link: ['html_url'],
    columns: [
      ['app', text('app_slug')],
      ['kind', text('target_type')],
      ['selection', text('repository_selection'), 'minor'],
      ['suspended', when('suspended_at')],
      changed,
    ],
    filters: ['account', 'deleted'],
  },
];

function linesOf(row: TypedRow, format: (value: number) => string): ComponentChildren {
  const [added, removed] = [integerAt(row, 'additions'), integerAt(row, 'deletions')];
  return added === undefined && removed === undefined ? null : `+${format(added ?? 0)} −${format(removed ?? 0)}`;
}

export function typedColumns(locale: Locale, { main, link, columns, name, path }: TypedList): readonly Column<TypedRow>[] {
  const { events } = locale.t;
  const hasRepository = name !== 'repositories' && name !== 'users' && name !== 'installations';
  return [
    {
      label: events.typedNoun[name],
      kind: 'main',
      cell: (row) => {
        const address = link && textAt(row, ...link);
        const label = main(row);
        return [
          address === undefined ? h('span', { class: 'strong' }, label) : externalRowLink(address, label),
          row.deletedAt === null ? null : [' ', badge('plain', events.deleted)],
        ];
      },
    },
    ...(hasRepository
      ? [
          {
            label: events.repository,
            cell: ({ repository }: TypedRow) =>
              repository === null ? null : h('a', { class: 'plain-link', href: withQuery(path, { repository }) }, repository),
          },
        ]
      : []),
    ...columns.map(([column, cell, kind]): Column<TypedRow> => ({ label: events.columns[column], ...(kind && { kind }), cell: (row) => cell(row, locale) })),
  ];
}
