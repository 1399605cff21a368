// All writing of typed rows: changes as rows of their table, and the processing state of rows.
import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { isObject, type JsonObject, storable } from '../../platform/json.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { namesOf, type RowColumns, rowsStatement } from '../../platform/postgres/rows.ts';
import type { ProcessingState } from '../contract.ts';
import { allTables } from './tables.ts';
import { type Change, type Column, columnsOf, type ForgeEvent, readColumn, type TypedTable, versionOf } from './typed-table.ts';

type EventChange = { readonly event: ForgeEvent; readonly change: Change };

/** A repository whose objects take its name, and its deletion. */
type Followed = { readonly forge: string; readonly repositoryId: string; readonly name: string; readonly deletedAt: Date | null };

function createTableWriter(table: TypedTable) {
  const columns = columnsOf(table);
  const sql = { state: stateStatement(table, columns), request: requestStatement(table), follow: followStatement(table) };
  const filtered = new Set(Object.values(table.filters));

  function value(column: Column, object: JsonObject): unknown {
    const alternative = table.alternatives?.[column.name];
    const read = readColumn(column.schema, object, column.path) ?? (alternative && readColumn(column.schema, object, alternative));
    return typeof read === 'string' && filtered.has(column.name) ? read.slice(0, maxIndexedLength) : read;
  }
  const isComplete = (object: JsonObject) => columns.every((column) => !column.isRequired || value(column, object) !== undefined);

  /** The newest state of each object, with the columns that it does not tell from the newest one that does. */
  function toRow(key: string, mentions: readonly EventChange[]): Row {
    const versions = mentions.map((mention) => ({ ...mention, version: versionOf(mention.change, mention.event) }));
    versions.sort((one, other) => (one.version < other.version ? 1 : -1));
    const [newest] = versions;
    if (!newest) throw new TypeError('an object must be mentioned at least once');
    const { event, change, version } = newest;
    const own: Record<string, unknown> = Object.fromEntries(columns.map((column) => [column.name, value(column, change.object)]));
    for (const [name, names] of Object.entries(table.kept ?? {})) {
      const telling = versions.find(({ change: { object } }) => columns.some((column) => column.name === name && value(column, object) !== undefined));
      for (const column of columns) if (names.includes(column.name)) own[column.name] = telling && value(column, telling.change.object);
      own[`${name}_version`] = telling?.version;
    }
    return {
      ...event,
      ...own,
      id: uuidv7(),
      objectKey: key,
      forgeId: storable(change.forgeId),
      repository: 'repository' in table.filters ? event.repository : null,
      repositoryId: 'repository' in table.filters ? event.repositoryId : null,
      processingState: isRequestedAgain(versions) ? 'RE_REQUESTED' : 'NEW',
      firstSeenAt: new Date(Math.min(...mentions.map(({ event: { receivedAt } }) => receivedAt.getTime()))),
      runAttempt: Math.min(change.runAttempt, maxInt),
      updatedAt: change.updatedAt,
      version,
      deletedAt: change.isDeleted ? event.receivedAt : null,
      rest: restOf(columns, change.object),
    };
  }

  function runsAgain(before: Change, later: Change): boolean {
    if (later.runAttempt > before.runAttempt) return true;
    const { isAgain: again } = table;
    return again !== undefined && before.object[again.column] === again.from && later.object[again.column] !== again.from;
  }

  /** @param versions newest first */
  const isRequestedAgain = (versions: readonly EventChange[]): boolean =>
    versions.some(({ change }, index) => {
      const later = versions[index - 1]?.change;
      return change.isRequested || (later !== undefined && runsAgain(change, later));
    });

  return {
    table,
    /** @returns how many objects were left out, as they lack a member that their row needs, and the repositories to be followed */
    async write(database: Database, changes: readonly EventChange[]): Promise<{ readonly leftOut: number; readonly followed: readonly Followed[] }> {
      const complete = changes.filter(({ change }) => change.kind === 'request' || isComplete(change.object));
      const byKey = (kind: Change['kind']) =>
        Map.groupBy(
          complete.filter(({ change }) => change.kind === kind),
          // As it is stored: two names may become the same.
          ({ event, change }) => `${event.forge} ${storedKey(change.key)}`,
        );
      const states = [...byKey('state').values()].flatMap((mentions) => (mentions[0] ? [toRow(storedKey(mentions[0].change.key), mentions)] : []));
      const followed = states.length === 0 ? [] : await database.all(sql.state, states);
      const requests = [...byKey('request').values()].flatMap(([one]) => (one ? [{ ...one.event, objectKey: storedKey(one.change.key) }] : []));
      if (requests.length > 0) await database.run(sql.request, requests);
      return { leftOut: changes.length - complete.length, followed: followed.filter(({ isToFollow }) => isToFollow) };
    },
    /** Gives the objects of a repository its name, and its deletion. */
    follow: async (database: Database, { forge, repositoryId, name, deletedAt }: Followed) => {
      if (sql.follow) await database.run(sql.follow, forge, repositoryId, name, deletedAt);
    },
  };
}

const maxInt = 2 ** 31 - 1;
/** An index row above 2.7 KB is refused. */
const maxIndexedLength = 255;
const maxKeyLength = 500;
const storedKey = (key: string) => (key.length <= maxKeyLength ? storable(key) : `sha256:${createHash('sha256').update(key).digest('hex')}`);

/** No forge nests its objects deeper; what is deeper cannot be written as JSON, or read by Postgres. */
const maxDepth = 100;
const isDeeper = (value: unknown, depth: number): boolean =>
  typeof value === 'object' && value !== null && (depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1)));

/** The members that no column holds whole. */
function restOf(columns: readonly Column[], object: JsonObject): string {
  const held = new Set(columns.flatMap(({ path }) => (path.length === 1 ? path : [])));
  return storableJson(Object.fromEntries(Object.entries(object).filter(([name, member]) => !held.has(name) && !isDeeper(member, maxDepth))));
}

/** A whole value as JSON text for a jsonb column. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  // Most values hold neither, and are spared a second walk.
  if (!/\\u(0000|d[89a-f])/.test(json)) return json;
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member === 'string') return storable(member);
    return isObject(member) ? Object.fromEntries(Object.entries(member).map(([name, inner]) => [storable(name), inner])) : member;
  });
}

/** The columns of every typed table; those of the object's members stand beside them. */
type Row = Pick<ForgeEvent, 'forge' | 'repository' | 'repositoryId' | 'deliveryId' | 'hookId' | 'targetId' | 'digest'> & {
  readonly id: string;
  readonly objectKey: string;
  readonly forgeId: string;
  readonly processingState: string;
  readonly firstSeenAt: Date;
  readonly runAttempt: number;
  readonly updatedAt: Date;
  readonly receivedAt: Date;
  readonly version: string;
  readonly deletedAt: Date | null;
  readonly rest: string;
};

const shared: RowColumns<Row> = {
  id: 'uuid',
  forge: 'text',
  objectKey: 'text',
  forgeId: 'text',
  repository: 'text',
  repositoryId: 'text',
  processingState: 'text',
  firstSeenAt: 'timestamptz',
  runAttempt: 'int',
  updatedAt: 'timestamptz',
  receivedAt: 'event_received_at timestamptz',
  version: 'text',
  deletedAt: 'timestamptz',
  deliveryId: 'text',
  hookId: 'text',
  targetId: 'text',
  digest: 'text',
  rest: 'jsonb',
};

/** Whether the objects of a table belong to a repository. */
const belongs = ({ name, filters }: TypedTable) => 'repository' in filters && name !== 'repositories';

/**
 * Inserts objects, or writes their newer states over older ones. Composed from the table's description: every name in it is a constant of this program.
 * In the order of their keys, so that two workers with the same objects wait for each other instead of deadlocking.
 */
function stateStatement(table: TypedTable, own: readonly Column[]) {
  const { name, kept = {} } = table;
  const versions = Object.keys(kept).map((column) => `${column}_version`);
  const types = [...own.map((column) => [column.name, column.type] as const), ...versions.map((column) => [column, 'text'] as const)];
  const columns: RowColumns<Row> & Readonly<Record<string, string>> = { ...shared, ...Object.fromEntries<string>(types) };
  const names = namesOf(columns);
  const place = `left join repositories as place on place.forge = given.forge and place.object_key = given.repository_id`;
  const selected = names
    .split(', ')
    .map((column) => {
      if (column === 'repository') return 'coalesce(place.full_name, given.repository)';
      return column === 'deleted_at' ? 'coalesce(given.deleted_at, place.deleted_at)' : `given.${column}`;
    })
    .join(', ');
  const repositories = `returning forge, object_key as "repositoryId", full_name as name, deleted_at as "deletedAt",
    full_name is distinct from followed_name or (deleted_at is not null) <> followed_deletion as "isToFollow"`;
  return rowsStatement<Followed & { readonly isToFollow: boolean }, [rows: readonly Row[]]>(
    `intake.${name}.upsert`,
    [columns],
    (rows) => `
    insert into ${name} as known (${names})
    select ${belongs(table) ? selected : names} from ${rows} as given ${belongs(table) ? place : ''}
    order by given.forge, given.object_key
    on conflict (forge, object_key) do update set ${updates(table, own)}
    where ${[newer, 'excluded.first_seen_at < known.first_seen_at', ...versions.map(isNewer)].join(' or ')}
    ${name === 'repositories' ? repositories : ''}`,
  );
}

const newer = 'excluded.version > known.version';
const isNewer = (version: string) => `(excluded.${version} > known.${version} or excluded.${version} is not null and known.${version} is null)`;

function updates({ kept = {}, isAgain, isMentioned }: TypedTable, own: readonly Column[]): string {
  const facts = [...own.map(({ name }) => name), 'deleted_at'];
  const row = (of: string) => facts.map((column) => `${of}.${column}`).join(', ');
  // A mention that repeats the known facts is no change.
  const isChanged = isMentioned ? `${newer} and (${row('excluded')}) is distinct from (${row('known')})` : newer;
  const when = (condition: string, columns: readonly string[]) =>
    columns.map((column) => `${column} = case when ${condition} then excluded.${column} else known.${column} end`);
  const ofGroups = Object.entries(kept).flatMap(([name, columns]) => when(isNewer(`${name}_version`), [...columns, `${name}_version`]));
  const grouped = new Set(Object.values(kept).flat());
  const again = isAgain ? `or known.${isAgain.column} = '${isAgain.from}' and excluded.${isAgain.column} <> '${isAgain.from}'` : '';
  return [
    ...when(newer, ['version', 'run_attempt', 'updated_at', 'event_received_at', 'repository_id', 'rest', ...facts.filter((column) => !grouped.has(column))]),
    ...when(isChanged, ['delivery_id', 'hook_id', 'target_id', 'digest']),
    ...ofGroups,
    `repository = case when ${newer} then coalesce(excluded.repository, known.repository) else known.repository end`,
    'first_seen_at = least(known.first_seen_at, excluded.first_seen_at)',
    `claimed_until = case when ${isChanged} then null else known.claimed_until end`,
    `processing_state = case
      when not (${isChanged}) then known.processing_state
      when excluded.processing_state = 'RE_REQUESTED' or excluded.run_attempt > known.run_attempt ${again} then 'RE_REQUESTED'
      when known.processing_state in ('NEW', 'RE_REQUESTED') then known.processing_state
      else 'UPDATED' end`,
  ].join(',\n      ');
}

type Requested = Pick<Row, 'forge' | 'objectKey' | 'deliveryId' | 'hookId' | 'targetId' | 'digest'>;

const requestStatement = ({ name }: TypedTable) =>
  rowsStatement<unknown, [rows: readonly Requested[]]>(
    `intake.${name}.requestAgain`,
    [{ forge: 'text', objectKey: 'text', deliveryId: 'text', hookId: 'text', targetId: 'text', digest: 'text' }],
    (rows) => `
    update ${name} set processing_state = 'RE_REQUESTED', claimed_until = null,
      delivery_id = given.delivery_id, hook_id = given.hook_id, target_id = given.target_id, digest = given.digest
    from (
      select known.id, given.delivery_id, given.hook_id, given.target_id, given.digest
      from ${rows} as given join ${name} as known using (forge, object_key)
      where known.deleted_at is null order by forge, object_key for update of known) as given
    where ${name}.id = given.id`,
  );

type FollowValues = [forge: string, repositoryId: string, name: string, deletedAt: Date | null];

/** The objects of a repository that was renamed, transferred or deleted. Its own row is locked by now, so nothing else writes them meanwhile. */
function followStatement(table: TypedTable) {
  const { name } = table;
  const follow = (text: string) => statement<unknown, FollowValues>(`intake.${name}.follow`, text);
  if (name === 'repositories')
    return follow(`update repositories set followed_name = $3, followed_deletion = $4::timestamptz is not null where forge = $1 and object_key = $2`);
  if (!belongs(table)) return undefined;
  return follow(`
    update ${name} set repository = $3, deleted_at = coalesce(deleted_at, $4), claimed_until = null,
      processing_state = case when processing_state in ('PROCESSING', 'PROCESSED') then 'UPDATED' else processing_state end
    where forge = $1 and repository_id = $2 and (repository is distinct from $3 or (deleted_at is null and $4::timestamptz is not null))`);
}

/**
 * Writes what events mean for each table, in one transaction of the caller's: repositories first, since their objects take their names.
 * @returns how many objects were left out of each table
 */
export async function writeChanges(database: Database, changesOf: (table: TypedTable) => readonly EventChange[]): Promise<ReadonlyMap<string, number>> {
  const leftOut = new Map<string, number>();
  const followed: Followed[] = [];
  for (const { table, write, follow } of writers) {
    const written = await write(database, changesOf(table));
    leftOut.set(table.name, written.leftOut);
    followed.push(...written.followed);
    for (const repository of followed) await follow(database, repository);
  }
  return leftOut;
}

const writers = allTables.map(createTableWriter);

// A row whose event the service worker has not stored yet stays as it is, and comes round again; so does a claim whose
// holder died. A row that changes while it is claimed turns UPDATED, and the finish passes it by.
const processing = allTables.map(({ name }) => ({
  claim: statement<{ id: string }, [limit: number, leaseMs: number]>(
    `intake.${name}.claim`,
    `
    update ${name} set processing_state = 'PROCESSING', claimed_until = now() + $2 * interval '1 millisecond'
    where id in (
      select typed.id from ${name} typed
      where exists (
        select from delivery_keys key where key.source = 'forge'
        and ((key.delivery_id = typed.delivery_id and key.hook_id = typed.hook_id and key.target_id = typed.target_id) or key.digest = typed.digest))
      and typed.processing_state <> 'PROCESSED' and (typed.processing_state <> 'PROCESSING' or typed.claimed_until < now())
      limit $1 for update skip locked)
    returning id`,
  ),
  finish: statement<unknown, [ids: readonly string[]]>(
    `intake.${name}.finish`,
    `
    update ${name} set processing_state = 'PROCESSED', claimed_until = null where id = any($1::uuid[]) and processing_state = 'PROCESSING'`,
  ),
}));

const finishOf = allTables.map(({ name }) =>
  statement<unknown, [deliveryId: string]>(
    `intake.${name}.finishDelivery`,
    `
    update ${name} set processing_state = 'PROCESSED', claimed_until = null where processing_state <> 'PROCESSED' and delivery_id = $1`,
  ),
);

/** Makes the rows that a delivery without an event changed PROCESSED. @returns how many */
export async function finishDelivery(database: Database, deliveryId: string): Promise<number> {
  let finished = 0;
  for (const finish of finishOf) finished += await database.run(finish, deliveryId);
  return finished;
}

const limit = 500;
const leaseMs = 60_000;

/** Rows become PROCESSED once the event log holds their event: one pass over every table. @returns whether there may be more to do at once */
export async function processRows(database: Database): Promise<boolean> {
  let isMore = false;
  for (const { claim, finish } of processing) {
    const ids = (await database.all(claim, limit, leaseMs)).map(({ id }) => id);
    if (ids.length > 0) await database.run(finish, ids);
    isMore ||= ids.length === limit;
  }
  return isMore;
}

/** A row of a typed table, told by its place. */
export type TypedRow = {
  readonly table: string;
  readonly id: string;
  readonly forgeId: string;
  readonly processingState: ProcessingState;
  readonly updatedAt: Date;
  readonly deletedAt: Date | null;
};

const byKeys = allTables.map((table) => ({
  table,
  find: statement<Omit<TypedRow, 'table'>, [forge: string, keys: readonly string[]]>(
    `intake.${table.name}.byKeys`,
    `
    select id, forge_id as "forgeId", processing_state as "processingState", updated_at as "updatedAt", deleted_at as "deletedAt"
    from ${table.name} where forge = $1 and object_key = any ($2::text[]) order by object_key`,
  ),
}));

/** The rows that an event is about, as they are now. */
export async function rowsOf(database: Database, event: ForgeEvent): Promise<TypedRow[]> {
  const found: TypedRow[] = [];
  for (const { table, find } of byKeys) {
    const keys = table.changes(event).map(({ key }) => storedKey(key));
    if (keys.length > 0) found.push(...(await database.all(find, event.forge, keys)).map((row) => ({ table: table.path, ...row })));
  }
  return found;
}
