// The description of a typed table: its items and their columns, its filters, and the changes that an event means for it.
import { z } from 'zod';
import { idOf, integerAt, type JsonObject, memberAt, storable, timeAt } from '../../platform/json.ts';
import { queryBoolean, queryChoice, Timestamp, TimestampInput } from '../../platform/schema.ts';
import { listOf, ProcessingState } from '../contract.ts';
import type { ForgeDelivery } from '../delivery.ts';
import { filterText, forgeFilter, type TimePage, timePage } from '../paging.ts';

// The kinds of members of an item. A member that is not nullable is required: an object without it has no row.
const described = <S extends z.ZodType>(schema: S, description: string, example?: unknown) =>
  schema.nullable().meta({ description, ...(example !== undefined && { examples: [example] }) });
export const text = (example: string | null, description: string) => described(z.string(), description, example);
export const integer = (example: number, description: string) => described(z.int32(), description, example);
export const bigInteger = (example: number, description: string) => described(z.int(), description, example);
export const flag = (description: string) => described(z.boolean(), description, false);
export const time = (description: string) => described(Timestamp, description);
const Account = z.object({ login: text('octocat', 'The login') }).meta({ id: 'Account', description: 'An account of a forge, by its login' });
export const account = (description: string) => described(Account, description);

/** The members that all typed rows have on the wire; the object's own main members come after it, under the forge's names. */
export const TypedItem = z.object({
  id: z.uuid().meta({ description: 'The id of the row', examples: ['019b76da-a800-7000-8000-5f3c1e2d4a6b'] }),
  forge: z.string().meta({ description: 'The host of the forge, within which its ids count; its kind where nothing names the host', examples: ['github.com'] }),
  forgeId: z.string().meta({ description: "The forge's id of the object; a branch's name, a push's new head", examples: ['73464126'] }),
  repository: text('me/mine', '`owner/name`, as it is called now; null where the object is in no repository'),
  processingState: ProcessingState.meta({ description: 'Whether the newest change was processed' }),
  firstSeenAt: Timestamp.meta({ description: 'When the relay received the first delivery about it' }),
  updatedAt: Timestamp.meta({ description: "The object's own time of change; where it has none, when the relay received it" }),
  deletedAt: time('When it was deleted on the forge, by itself or with its repository; null while it is there').meta({ examples: [null] }),
});
export type TypedItem = z.output<typeof TypedItem>;

export const commentKinds = ['issue_comment', 'commit_comment', 'pull_request_review_comment'] as const;
export const CommentKind = z.enum(commentKinds).meta({ id: 'CommentKind', description: 'The subject of a comment', examples: ['issue_comment'] });
const OpenOrClosed = z.enum(['open', 'closed']).meta({ id: 'OpenOrClosed', description: 'The state of an issue or pull request' });

/** The filters of lists; a table has those for which it has a column. */
const filterSchemas = {
  forge: forgeFilter,
  repository: filterText.meta({ description: '`owner/name`, in any case' }),
  state: queryChoice(OpenOrClosed).optional().meta({ description: 'Rows in this state only' }),
  kind: queryChoice(CommentKind).optional().meta({ description: 'Comments of this kind only' }),
  branch: filterText.meta({ description: 'Runs of this branch only' }),
  name: filterText.meta({ description: 'Runs of the workflow of this name only' }),
  status: filterText.meta({ description: 'Runs of this status only, such as `completed`' }),
  conclusion: filterText.meta({ description: 'Runs of this conclusion only, such as `failure`' }),
  sender: filterText.meta({ description: 'The login of the account that made it' }),
  login: filterText.meta({ description: 'The login' }),
  account: filterText.meta({ description: 'The login of the account' }),
  processingState: queryChoice(ProcessingState).optional().meta({ description: 'Rows in this processing state only' }),
  deleted: queryBoolean.transform(String).optional().meta({ description: 'Only what the forge has deleted, or only what it has not' }),
};

type Filter = keyof typeof filterSchemas;
/** In the order of the lists, which is that of the last change. */
const changedWithin = {
  from: TimestampInput.optional().meta({ description: 'Changed at this time or later' }),
  to: TimestampInput.optional().meta({ description: 'Changed before this time' }),
};
type ChangedWithin = { readonly from?: Date | undefined; readonly to?: Date | undefined };

export type TypedFilter = Readonly<Partial<Record<Filter, string | undefined>>> & ChangedWithin;
export type TypedQuery = TimePage & TypedFilter;

type Declaration = {
  readonly name: string;
  /** Its members are the columns. */
  readonly item: z.ZodObject & z.ZodType<TypedItem>;
  /** The column behind each filter. Objects that cannot be asked for by repository are in none. */
  readonly filters: Readonly<Partial<Record<Filter, string>>>;
  /** In the order in which they happened. */
  readonly changes: (event: ForgeEvent) => readonly Change[];
  /** Tracked for every repository, not only for own ones. */
  readonly isTracking?: true;
  /**
   * Columns that not every event of the object tells, by the column that is there when all of them are: they are those of the newest event that has
   * it, whose version is the column `<name>_version`.
   */
  readonly kept?: Readonly<Record<string, readonly string[]>>;
  /** At equal times the state of the higher rank is the later one: completed after in progress, closed after open. */
  readonly rank?: (object: JsonObject) => number;
  /** Whether a state that follows another one is the object once more: a rerun. */
  readonly isAgain?: { readonly column: string; readonly from: string };
  /** Any event may mention the object: what it says is taken over, and is a change only where it differs. */
  readonly isMentioned?: true;
  /** Where a column is found when the object does not have it under its own name. */
  readonly alternatives?: Readonly<Record<string, readonly string[]>>;
};

export type TypedTable = ReturnType<typeof typedTable>;

export function typedTable(table: Declaration) {
  const path = table.name.replace('_', '-');
  const filters: Declaration['filters'] = { forge: 'forge', ...table.filters, processingState: 'processing_state' };
  return {
    ...table,
    filters,
    /** Below `/api/v1/`. */
    path,
    query: typedQuery(filters, path),
    page: listOf(table.item),
  };
}

/** @param list whose cursors it takes: the path, where there is one list of the table only */
export const typedQuery = (filters: Declaration['filters'], list: string): z.ZodObject & z.ZodType<TypedQuery> =>
  z.object({ ...typedFilters(filters), ...timePage(list) });

export const typedFilters = (filters: Declaration['filters']) => ({
  ...Object.fromEntries(Object.entries(filterSchemas).filter(([filter]) => filter in filters)),
  ...changedWithin,
});

// The columns are read off the item: `user.login` on the wire is `user_login` in the table.

export type Column = {
  readonly name: string;
  /** Where it is found in the forge's object. */
  readonly path: readonly string[];
  /** Without null. */
  readonly schema: z.core.$ZodType;
  /** In Postgres. */
  readonly type: string;
  readonly isRequired: boolean;
};

/** The columns of the object's own members. */
export const columnsOf = ({ item }: Pick<TypedTable, 'item'>): Column[] =>
  ownMembers(item).flatMap(([member, schema]) => {
    const inner = withoutNull(schema);
    if (!(inner instanceof z.ZodObject)) return [column([member], schema)];
    return Object.entries<z.core.$ZodType>(inner.shape).map(([part, partSchema]) => column([member, part], partSchema));
  });

const ownMembers = ({ shape }: Declaration['item']) => Object.entries<z.core.$ZodType>(shape).filter(([member]) => !(member in TypedItem.shape));
const withoutNull = (schema: z.core.$ZodType) => (schema instanceof z.ZodNullable ? schema.unwrap() : schema);

function column(path: readonly string[], schema: z.core.$ZodType): Column {
  const inner = withoutNull(schema);
  return { name: path.join('_'), path, schema: inner, type: typeOf(inner), isRequired: !(schema instanceof z.ZodNullable) };
}

function typeOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodDate) return 'timestamptz';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  if (schema instanceof z.ZodNumber) return schema.format === 'int32' ? 'int' : 'bigint';
  return 'text';
}

/** Undefined where the object has no such member, or one of another kind. An empty text is none. */
export function readColumn(schema: z.core.$ZodType, object: JsonObject, path: readonly string[]): unknown {
  if (schema instanceof z.ZodDate) return timeAt(object, ...path);
  const member = memberAt(object, ...path);
  if (member === null || member === undefined) return undefined; // as most that are missing: a refusal by the schema costs more
  const { data } = z.safeParse(schema, member);
  return typeof data === 'string' ? storable(data) || undefined : data;
}

const shared = `id, forge, forge_id as "forgeId", repository, processing_state as "processingState", first_seen_at as "firstSeenAt",
  updated_at as "updatedAt", deleted_at as "deletedAt"`;

/** For a select list; every name in it is a constant of this program. */
export const selectList = ({ item }: Pick<TypedTable, 'item'>): string =>
  [shared, ...ownMembers(item).map(([member, schema]) => selected(member, schema))].join(', ');

function selected(member: string, schema: z.core.$ZodType): string {
  const inner = withoutNull(schema);
  if (!(inner instanceof z.ZodObject)) return `"${member}"`;
  const parts = Object.keys(inner.shape).map((part) => ({ part, name: `"${member}_${part}"` }));
  const whole = parts.map(({ part, name }) => `'${part}', ${name}`).join(', ');
  return `case when coalesce(${parts.map(({ name }) => name).join(', ')}) is not null then json_build_object(${whole}) end as "${member}"`;
}

export type ForgeEvent = ForgeDelivery;

export type Change = {
  /** - state: inserted, or written over an older state.
   *  - request: the object, when known, is to be processed again. */
  readonly kind: 'state' | 'request';
  /** The object's identity within its table and forge. */
  readonly key: string;
  readonly forgeId: string;
  readonly runAttempt: number;
  /** The object's own time, else that of reception. */
  readonly updatedAt: Date;
  readonly rank: number;
  readonly isDeleted: boolean;
  /** A rerun. */
  readonly isRequested: boolean;
  /** Holds the columns. */
  readonly object: JsonObject;
};

type Details = Partial<Pick<Change, 'kind' | 'key' | 'forgeId' | 'updatedAt' | 'isDeleted' | 'isRequested'>> & Pick<Declaration, 'rank'>;

/** Above every state of an object. */
const deletedRank = 9;

/** The state of an object with an id, as a list of one; empty where the payload has no such object. */
export function stateOf(event: ForgeEvent, object: JsonObject | undefined, { rank, ...details }: Details = {}): readonly Change[] {
  const id = idOf(object) ?? details.key;
  if (!object || id === undefined) return [];
  const isDeleted = details.isDeleted ?? false;
  const own = timeAt(object, 'updated_at') ?? event.receivedAt;
  return [
    {
      kind: 'state',
      key: id,
      forgeId: id,
      runAttempt: integerAt(object, 'run_attempt') ?? 0,
      // A deletion is newer than every state that was sent before it, also where it has the time of the last edit.
      updatedAt: isDeleted && own < event.receivedAt ? event.receivedAt : own,
      rank: isDeleted ? deletedRank : (rank?.(object) ?? 0),
      isRequested: false,
      object,
      ...details,
      isDeleted,
    },
  ];
}

/** For objects without a time of their own. */
export const stateAsReceived = (event: ForgeEvent, object: JsonObject | undefined, details: Details = {}) =>
  stateOf(event, object, { ...details, updatedAt: event.receivedAt });

/**
 * The age of a state, as text that sorts by its parts: attempt, time, rank, and of equal ones the time of
 * reception. The delivery's id comes last, so that no two deliveries are equal.
 */
export const versionOf = ({ runAttempt, updatedAt, rank }: Change, { receivedAt, deliveryId }: ForgeEvent): string =>
  storable([String(runAttempt).padStart(16, '0'), updatedAt.toISOString(), rank, receivedAt.toISOString(), deliveryId].join(' '));
