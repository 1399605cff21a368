// All SQL of listings and of the prices that they had, but that of overviews and of listings that belong together.
import knex from 'knex';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { asMembers, insertRows, type RowColumns, setExcluded } from '../platform/postgres/rows.ts';
import { gradesFrom, type PriceChange, type Property, type PropertyUpdate, type Status, type Stats } from './contract.ts';
import { type Position, type PropertyFilter, type PropertyOrder, sortMembers } from './property-query.ts';

const builder = knex({ client: 'pg' });

/** A listing as it is written: prices before the last change are kept by the statement itself. */
export type StoredProperty = Omit<Property, 'previousPrice' | 'priceChangedAt' | 'duplicates' | 'withdrawnAt'> & { readonly withdrawnAt: Date | null };

const written: RowColumns<StoredProperty> = {
  id: 'uuid',
  sourceId: 'text',
  sourceUrl: 'text',
  address: 'text',
  eircode: 'text',
  routingKey: 'text',
  priceMonthly: 'numeric',
  currency: 'text',
  beds: 'int',
  baths: 'int',
  propertyType: 'text',
  berRating: 'text',
  mainImageUrl: 'text',
  latitude: 'float8',
  longitude: 'float8',
  status: 'text',
  receivedAt: 'timestamptz',
  approvedAt: 'timestamptz',
  recycledAt: 'timestamptz',
  notes: 'text',
  withdrawnAt: 'timestamptz',
};
const { withdrawnAt, ...columns } = written;
/** The members of a listing that every answer has. */
export const selected = asMembers(columns);
/** Further members by the word of `include` that adds them. */
const included = {
  price: asMembers<Required<Pick<Property, 'previousPrice' | 'priceChangedAt'>>>({ previousPrice: 'numeric', priceChangedAt: 'timestamptz' }),
  withdrawal: asMembers<Pick<StoredProperty, 'withdrawnAt'>>({ withdrawnAt }),
} as const;
const withIncluded = (include: PropertyOrder['include']) => [selected, ...include.flatMap((word) => (word === 'duplicates' ? [] : included[word]))].join(', ');

const find = statement<Property, [id: string]>('listings.find', `select ${selected} from properties where id = $1`);
/** A changed status sets its time: inbox clears both times, the other two set their own. */
const withStatus = (wanted: string, now: string) => `
    status = coalesce(${wanted}, status),
    approved_at = case nullif(${wanted}, status) when 'approved' then ${now}::timestamptz when 'inbox' then null else approved_at end,
    recycled_at = case nullif(${wanted}, status) when 'recycled' then ${now}::timestamptz when 'inbox' then null else recycled_at end`;

const update = statement<Property, [id: string, status: string | null, notes: string | null, now: Date]>(
  'listings.update',
  `
  update properties set notes = coalesce($3, notes), ${withStatus('$2::text', '$4')}
  where id = $1 returning ${selected}`,
);

// Rows are locked in order of id, as an ingest locks them, so that the two cannot deadlock.
const updateAll = statement<unknown, [ids: readonly string[], status: string, now: Date]>(
  'listings.updateAll',
  `
  with chosen as (select id as chosen_id from properties where id = any($1::uuid[]) and status <> $2 order by id for update)
  update properties set ${withStatus('$2::text', '$3')} from chosen where id = chosen_id`,
);

const stats = statement<Stats>(
  'listings.stats',
  `
  select
    coalesce(sum(count) filter (where status = 'inbox'), 0)::bigint as "inboxCount",
    coalesce(sum(count) filter (where status = 'approved'), 0)::bigint as "approvedCount",
    coalesce(sum(count) filter (where status = 'recycled'), 0)::bigint as "recycledCount",
    coalesce(round(avg, 2), 0) as "avgApprovedPrice",
    coalesce(round(median::numeric, 2), 0) as "medianApprovedPrice"
  from (select status, count(*) as count from properties group by status) as counted,
    (select avg(price_monthly), percentile_cont(0.5) within group (order by price_monthly) as median from properties where status = 'approved') as approved
  group by avg, median`,
);

const nothing: Stats = { inboxCount: 0, approvedCount: 0, recycledCount: 0, avgApprovedPrice: 0, medianApprovedPrice: 0 };

const history = statement<PriceChange, [id: string, limit: number]>(
  'listings.history',
  `
  select price_monthly as "priceMonthly", currency, changed_at as "changedAt" from price_history
  where property_id = $1 order by id desc limit $2`,
);

const takeTurn = statement('listings.takeTurn', `select pg_advisory_xact_lock(hashtextextended('signalbox.listings.ingest', 0))`);

const lockBySource = statement<StoredProperty, [sourceIds: readonly string[]]>(
  'listings.lockBySource',
  `select ${asMembers(written)} from properties where source_id = any($1) order by id for update`,
);

const isAtSamePlace = '(properties.address, properties.eircode) is not distinct from (excluded.address, excluded.eircode)';

const isSamePrice = '(properties.price_monthly, properties.currency) = (excluded.price_monthly, excluded.currency)';

// A repeat keeps decisions and notes. A changed address starts the geocoder's back-off anew.
const write = insertRows<StoredProperty>('listings.write', {
  into: 'properties',
  columns: written,
  onConflict: `(source_id) do update set ${setExcluded(written, ['id', 'sourceId', 'status', 'approvedAt', 'recycledAt', 'notes'])},
    previous_price = case when ${isSamePrice} then properties.previous_price else properties.price_monthly end,
    price_changed_at = case when ${isSamePrice} then properties.price_changed_at else excluded.received_at end,
    geocode_misses = case when ${isAtSamePlace} then properties.geocode_misses else 0 end,
    geocode_after = case when ${isAtSamePlace} then properties.geocode_after else '-infinity' end`,
});

export type PriceSeen = PriceChange & { readonly propertyId: string };

const addPrices = insertRows<PriceSeen>('listings.addPrices', {
  into: 'price_history',
  columns: { propertyId: 'uuid', priceMonthly: 'numeric', currency: 'text', changedAt: 'timestamptz' },
  orderBy: 'ordinal',
});

// Rows are locked as an ingest locks them. The limit keeps the transaction short.
const withdrawUnseen = statement<StoredProperty, [before: Date, now: Date, limit: number]>(
  'listings.withdrawUnseen',
  `
  with unseen as (
    select id as unseen_id from properties where withdrawn_at is null and received_at < $1 order by received_at, id limit $3
  ), chosen as (
    select id as chosen_id from properties join unseen on unseen_id = id where withdrawn_at is null and received_at < $1 order by id for update of properties
  )
  update properties set withdrawn_at = $2 from chosen where id = chosen_id
  returning ${asMembers(written)}`,
);

const sortColumns = { receivedAt: 'received_at', price: 'price_monthly', beds: 'beds', approvedAt: 'approved_at' } as const;

const hasDropped = 'coalesce(previous_price > price_monthly, false)';

/** All listings that the filter leaves. */
export function matching(filter: PropertyFilter) {
  const query = builder.from('properties');
  if (filter.status !== undefined) query.where('status', filter.status);
  if (filter.search !== undefined) query.whereRaw('search_text like containing(?)', [filter.search]);
  if (filter.routingKeys.length > 0) query.whereIn('routing_key', filter.routingKeys);
  if (filter.propertyTypes.length > 0) query.whereIn('property_type', filter.propertyTypes);
  if (filter.minBeds !== undefined) query.where('beds', '>=', filter.minBeds);
  if (filter.maxBeds !== undefined) query.where('beds', '<=', filter.maxBeds);
  if (filter.minBaths !== undefined) query.where('baths', '>=', filter.minBaths);
  if (filter.minPrice !== undefined) query.where('price_monthly', '>=', filter.minPrice);
  if (filter.maxPrice !== undefined) query.where('price_monthly', '<=', filter.maxPrice);
  if (filter.receivedFrom) query.where('received_at', '>=', filter.receivedFrom);
  if (filter.receivedTo) query.where('received_at', '<=', filter.receivedTo);
  if (filter.priceDropped !== undefined) query.whereRaw(filter.priceDropped ? hasDropped : `not ${hasDropped}`);
  if (filter.bbox) {
    const { west, south, east, north } = filter.bbox;
    query.whereRaw('latitude between ? and ?', [south, north]);
    query.whereRaw(west <= east ? 'longitude between ? and ?' : '(longitude >= ? or longitude <= ?)', [west, east]);
  }
  if (filter.withdrawn !== undefined) query.whereRaw(`withdrawn_at is ${filter.withdrawn ? 'not ' : ''}null`);
  if (filter.berMin !== undefined) query.whereRaw('(ber_rating is null or ber_rating = any(?))', [[...gradesFrom(filter.berMin)]]);
  return query;
}

/** The rows behind a cursor, as conditions that follow one another in the order of the list: each reads an index from its place on. */
function behind({ sortBy, sortDir, value, id }: Position): readonly (readonly [sql: string, values: readonly (string | number | Date)[]])[] {
  const column = sortColumns[sortBy];
  if (value === null) return [[`${column} is null and id > ?`, [id]]];
  return [
    [`${column} = ? and id > ?`, [value, id]],
    [`${column} ${sortDir === 'asc' ? '>' : '<'} ?`, [value]],
    ...(sortBy === 'approvedAt' ? ([[`${column} is null`, []]] as const) : []),
  ];
}

/** A page; ties by id ascending, whatever the direction. */
function pageOf(filter: PropertyFilter, { sortBy, sortDir, include, after, offset, rows }: PropertyOrder) {
  // Listings that were never approved come last in either direction.
  const inOrderOf = (column: string) => `${column} ${sortDir}${sortBy === 'approvedAt' ? ' nulls last' : ''}, id`;
  const first = () =>
    matching(filter)
      .select(builder.raw(withIncluded(include)))
      .orderByRaw(inOrderOf(sortColumns[sortBy]));
  if (!after) return first().limit(rows).offset(offset);
  const parts = behind(after).map(([sql, values]) =>
    first()
      .whereRaw(sql, [...values])
      .limit(offset + rows),
  );
  return builder
    .select('*')
    .from(builder.unionAll(parts, true).as('page'))
    .orderByRaw(inOrderOf(`"${sortMembers[sortBy]}"`))
    .limit(rows)
    .offset(offset);
}

export type ListingStore = ReturnType<typeof createListingStore>;

export const createListingStore = (database: Database) => ({
  page: (filter: PropertyFilter, order: PropertyOrder) => database.select<Property>(pageOf(filter, order)),

  async count(filter: PropertyFilter): Promise<number> {
    const [row] = await database.select<{ total: number }>(matching(filter).count({ total: '*' }));
    return row?.total ?? 0;
  },

  find: (id: string) => database.first(find, id),
  /** With the members that `include` adds, but duplicates. */
  async findWith(id: string, include: PropertyOrder['include']): Promise<Property | undefined> {
    const [found] = await database.select<Property>(
      builder
        .from('properties')
        .select(builder.raw(withIncluded(include)))
        .where({ id }),
    );
    return found;
  },
  /** Undefined when no listing has the id. An undefined member stays as it is. */
  update: (id: string, { status, notes }: PropertyUpdate, now: Date) => database.first(update, id, status ?? null, notes ?? null, now),
  /** @returns how many had another status; unknown ids are ignored */
  updateAll: (ids: readonly string[], status: Status, now: Date) => database.run(updateAll, ids, status, now),
  stats: async () => (await database.first(stats)) ?? nothing,
  /** Newest first. */
  history: (id: string, limit: number) => database.all(history, id, limit),

  /** Runs in one transaction; ingests of all processes take turns. */
  ingest: <T>(work: (questions: ReturnType<typeof ingestQuestions>, inTransaction: Database) => Promise<T>): Promise<T> =>
    database.transaction(async (inTransaction) => {
      await inTransaction.run(takeTurn);
      return work(ingestQuestions(inTransaction), inTransaction);
    }),

  /** Withdraws listings last received before a time, so many at once. @param onWithdrawn gets them in the transaction @returns how many there were */
  withdrawUnseen: (
    { before, now, limit }: { readonly before: Date; readonly now: Date; readonly limit: number },
    onWithdrawn: (inTransaction: Database, withdrawn: readonly StoredProperty[]) => Promise<void>,
  ): Promise<number> =>
    database.transaction(async (inTransaction) => {
      const withdrawn = await inTransaction.all(withdrawUnseen, before, now, limit);
      await onWithdrawn(inTransaction, withdrawn);
      return withdrawn.length;
    }),
});

const ingestQuestions = (database: Database) => ({
  /** Locks the listings until the end of the transaction. */
  lockBySource: (sourceIds: readonly string[]) => database.all(lockBySource, sourceIds),
  /** Inserts new listings, and updates the facts of known ones. */
  write: (properties: readonly StoredProperty[]) => database.run(write, properties),
  addPrices: (prices: readonly PriceSeen[]) => database.run(addPrices, prices),
});
