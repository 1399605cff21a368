// All SQL of listings that belong together: the same flat at several portals, and neighbours.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Duplicate, Property } from '../contract.ts';
import { selected } from '../store.ts';

// By the hash of the index, so that no address is normalized anew for each listing of a common one.
const isSameAddress = "md5(plain_address(folded(other.address))) = md5(plain_address(folded(one.address))) and plain_address(folded(one.address)) <> ''";
// The two differ by 2 % of the higher one at most.
const isSameRent = 'other.currency = one.currency and other.price_monthly between 0.98 * one.price_monthly and one.price_monthly / 0.98';
/** One flat has one eircode; without it the address, the routing key, the beds and about the rent are the same. */
const duplicateKinds = [
  'other.eircode = one.eircode',
  `other.routing_key = one.routing_key and other.beds = one.beds and ${isSameRent} and ${isSameAddress}`,
] as const;

const mostDuplicates = 20;
const duplicateMembers =
  'other.id, other.source_url as "sourceUrl", other.address, other.price_monthly as "priceMonthly", other.currency, other.status, other.received_at as "receivedAt"';

// Each kind is looked up by an index of its own.
const duplicates = statement<Duplicate & { readonly of: string }, [ids: readonly string[]]>(
  'listings.duplicates',
  `
  select one.id as of, found.* from properties one cross join lateral (
    ${duplicateKinds
      .map(
        (kind) =>
          `(select ${duplicateMembers} from properties other where ${kind} and other.id <> one.id order by other.received_at desc limit ${mostDuplicates})`,
      )
      .join(' union ')}
    order by "receivedAt" desc, id limit ${mostDuplicates}
  ) as found
  where one.id = any($1::uuid[])
  order by one.id, found."receivedAt" desc, found.id`,
);

/** Only so many nearest listings are looked at, so that the cost does not depend on how many there are. */
const mostNear = 500;

const metres = `2 * 6371008.8 * asin(least(1, sqrt(
  power(sin(radians(near.latitude - $2) / 2), 2) + cos(radians($2)) * cos(radians(near.latitude)) * power(sin(radians(near.longitude - $3) / 2), 2))))`;

const neighbours = statement<Property & { readonly metres: number }, [id: string, latitude: number, longitude: number, limit: number]>(
  'listings.neighbours',
  `
  select ${selected.replace(/^id/, 'near.id')}, ${metres} as metres
  from (
    select other.* from properties other where latitude is not null and withdrawn_at is null order by point(longitude, latitude) <-> point($3, $2) limit ${mostNear}
  ) as near
  where near.id <> $1 and exists (
    select from properties one where one.id = $1 and near.currency = one.currency and abs(near.beds - one.beds) <= 1
      and near.price_monthly between 0.75 * one.price_monthly and 1.25 * one.price_monthly
      and not coalesce(${duplicateKinds
        .map((kind) => `(${kind})`)
        .join(' or ')
        .replaceAll('other.', 'near.')}, false)
  )
  order by metres, id limit $4`,
);

export type RelationStore = ReturnType<typeof createRelationStore>;

export const createRelationStore = (database: Database) => ({
  /** Other listings of the flats of these, the last received first. */
  duplicates: (ids: readonly string[]) => database.all(duplicates, ids),
  /** The nearest listings of about its beds and rent, but those of the same flat. */
  neighbours: ({ id, latitude, longitude }: { readonly id: string; readonly latitude: number; readonly longitude: number }, limit: number) =>
    database.all(neighbours, id, latitude, longitude, limit),
});
