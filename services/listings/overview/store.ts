// All SQL of overviews. Each looks at the last received listings that its filters leave, and at no more than a fixed number.
import knex from 'knex';
import type { Database } from '../../platform/postgres/pool.ts';
import { statuses } from '../contract.ts';
import type { Box, PropertyFilter } from '../property-query.ts';
import { matching } from '../store.ts';
import { mostLookedAt, type PriceHistogram, PropertyFacets, type PropertyMap } from './contract.ts';

const builder = knex({ client: 'pg' });

/** One more than is looked at, which shows whether there are more. A list by time has an index for each status. */
function newest(filter: PropertyFilter) {
  const inOrder = 'received_at desc, id';
  const columns = ['id', 'received_at', 'status', 'property_type', 'ber_rating', 'routing_key', 'beds', 'price_monthly', 'latitude', 'longitude'];
  const of = (status: (typeof statuses)[number]) =>
    matching({ ...filter, status })
      .select(columns)
      .orderByRaw(inOrder)
      .limit(mostLookedAt + 1);
  const parts = (filter.status === undefined ? statuses : [filter.status]).map(of);
  return builder
    .select('*')
    .from(builder.unionAll(parts, true).as('each'))
    .orderByRaw(inOrder)
    .limit(mostLookedAt + 1);
}

/** `seen` are the listings that count; `extent` says how many, and since when if there are more. */
const lookedAt = (filter: PropertyFilter) =>
  builder.raw(
    `looked as materialized (?),
    seen as materialized (select * from looked order by received_at desc, id limit ${mostLookedAt}),
    extent as (
      select count(*) as counted, case when (select count(*) from looked) > ${mostLookedAt} then min(received_at) end as "from" from seen
    )`,
    [newest(filter)],
  );

const facetColumns = ['status', 'property_type', 'ber_rating', 'routing_key', 'beds'] as const;
type FacetRow = {
  readonly facet: (typeof facetColumns)[number] | null;
  readonly value: string | null;
  readonly count: number;
  readonly median: number | null;
  readonly from: Date | null;
};

const cells = 16;
/** A power of two of degrees, so that the cells of one zoom stay where they are while a map is moved. */
const cellSize = (degrees: number) => 2 ** Math.ceil(Math.log2(Math.max(degrees, 1e-6) / cells));

const asJson = (rows: string, order: string) => `(select coalesce(json_agg(row_to_json(one) order by ${order}), '[]') from (${rows}) as one)`;

export type OverviewStore = ReturnType<typeof createOverviewStore>;

export const createOverviewStore = (database: Database) => ({
  async map(filter: PropertyFilter & { readonly bbox: Box }): Promise<PropertyMap> {
    const { west, south, east, north } = filter.bbox;
    const [width, height] = [cellSize(west <= east ? east - west : east - west + 360), cellSize(north - south)];
    const grouped = `
      select count(*) as count, round(avg(latitude)::numeric, 6) as latitude,
        round((avg(x) - case when avg(x) > 180 then 360 else 0 end)::numeric, 6) as longitude,
        min(price_monthly) as "minPrice", round(percentile_cont(0.5) within group (order by price_monthly)::numeric, 2) as "medianPrice",
        case when count(*) = 1 then min(id::text) end as id, (array_agg(id order by price_monthly, received_at desc, id))[1] as cheapest_id
      from (select *, case when longitude < ? then longitude + 360 else longitude end as x from seen) as placed
      group by floor(x / ?), floor(latitude / ?)`;
    const clusters = `
      select count, grouped.latitude, grouped.longitude, "minPrice", "medianPrice", address, currency, grouped.id
      from (${grouped}) as grouped join properties on properties.id = cheapest_id`;
    const [row] = await database.select<PropertyMap>(
      builder.raw(`with ? select counted, "from", ${asJson(clusters, 'count desc, latitude, longitude')} as clusters from extent`, [
        lookedAt(filter),
        west,
        width,
        height,
      ]),
    );
    return row ?? { counted: 0, from: null, clusters: [] };
  },

  async facets(filter: PropertyFilter): Promise<PropertyFacets> {
    const named = facetColumns.map((column) => `('${column}', ${column}::text)`).join(', ');
    const rows = await database.select<FacetRow>(
      builder.raw(
        `with ?, counts as (
          select facet, value, count(*) as count,
            round((percentile_cont(0.5) within group (order by price_monthly) filter (where facet = 'routing_key'))::numeric, 2) as median,
            row_number() over (partition by facet order by count(*) desc, value) as place
          from seen, lateral (values ${named}) as each (facet, value) where value is not null group by facet, value
        )
        select null as facet, null as value, counted as count, null::numeric as median, "from" from extent
        union all (select facet, value, count, median, null from counts where place <= 200 order by facet, place)`,
        [lookedAt(filter)],
      ),
    );
    return facetsOf(rows);
  },

  async histogram(filter: PropertyFilter, buckets: number): Promise<PriceHistogram> {
    // The narrowest of these widths with which there are not too many ranges.
    const widths = '(10), (20), (25), (50), (100), (200), (250), (500), (1000), (2000), (5000), (10000), (100000), (1000000), (10000000), (100000000)';
    const ranges = `
      select place * width as "from", (place + 1) * width as below, count(id) as count
      from chosen cross join lateral generate_series(floor(low / width), floor(high / width)) as place
        left join seen on floor(price_monthly / width) = place
      group by place, width`;
    const [row] = await database.select<PriceHistogram>(
      builder.raw(
        `with ?, bounds as (
          select min(price_monthly) as low, max(price_monthly) as high,
            round(percentile_cont(0.5) within group (order by price_monthly)::numeric, 2) as median from seen
        ), chosen as (
          select low, high, min(width) as width from bounds, (values ${widths}) as each (width)
          where floor(high / width) - floor(low / width) < ? group by low, high
        )
        select counted, "from", median as "medianPrice", ${asJson(ranges, '"from"')} as buckets from extent, bounds`,
        [lookedAt(filter), buckets],
      ),
    );
    return row ?? { counted: 0, from: null, medianPrice: null, buckets: [] };
  },
});

function facetsOf(rows: readonly FacetRow[]): PropertyFacets {
  const of = (name: FacetRow['facet']) =>
    rows.flatMap(({ facet, value, count, median }) => (facet === name && value !== null ? [{ value, count, medianPrice: median }] : []));
  const total = rows.find(({ facet }) => facet === null);
  return PropertyFacets.parse({
    counted: total?.count ?? 0,
    from: total?.from ?? null,
    facets: {
      status: of('status'),
      propertyType: of('property_type'),
      berRating: of('ber_rating'),
      routingKey: of('routing_key'),
      beds: of('beds').map(({ value, count }) => ({ value: Number(value), count })),
    },
  });
}
