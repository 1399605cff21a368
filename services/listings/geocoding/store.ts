// All SQL of geocoding: listings without coordinates and their back-off, the cache, the worker's row.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Coordinates, Place } from './providers.ts';

/** A listing without coordinates. */
export type Unplaced = Place & { readonly id: string; readonly misses: number };

const due = statement<Unplaced, [now: Date, limit: number]>(
  'listings.geocoding.due',
  `
  select id, address, eircode, geocode_misses as misses from properties
  where latitude is null and geocode_after <= $1
  order by geocode_after, received_at, id
  limit $2`,
);

// A listing whose address changed meanwhile, or that got coordinates otherwise, is left as it is.
const isStill = 'id = $1 and address = $2 and eircode is not distinct from $3 and latitude is null';

const place = statement<unknown, [id: string, address: string, eircode: string | null, latitude: number, longitude: number]>(
  'listings.geocoding.place',
  `update properties set latitude = $4, longitude = $5, geocode_misses = 0, geocode_after = '-infinity' where ${isStill}`,
);

const backOff = statement<unknown, [id: string, address: string, eircode: string | null, misses: number, after: Date]>(
  'listings.geocoding.backOff',
  `update properties set geocode_misses = $4, geocode_after = $5 where ${isStill}`,
);

const cached = statement<Coordinates, [provider: string, place: string, foundSince: Date]>(
  'listings.geocoding.cached',
  'select latitude, longitude from geocode_cache where provider = $1 and place = $2 and found_at >= $3',
);

const cache = statement<unknown, [provider: string, place: string, latitude: number, longitude: number, foundAt: Date]>(
  'listings.geocoding.cache',
  `
  insert into geocode_cache (provider, place, latitude, longitude, found_at) values ($1, $2, $3, $4, $5)
  on conflict (provider, place) do update set latitude = excluded.latitude, longitude = excluded.longitude, found_at = excluded.found_at`,
);

const deleteCached = statement<unknown, [foundBefore: Date]>('listings.geocoding.deleteCached', 'delete from geocode_cache where found_at < $1');

const beat = statement<{ pausedUntil: Date | null }, [now: Date]>(
  'listings.geocoding.beat',
  `
  insert into geocoding_worker (ran_at) values ($1)
  on conflict (id) do update set ran_at = excluded.ran_at
  returning nullif(paused_until, '-infinity') as "pausedUntil"`,
);

const setAnswering = statement('listings.geocoding.setAnswering', 'update geocoding_worker set failing_since = null where failing_since is not null');

const setFailing = statement<unknown, [since: Date, pausedUntil: Date]>(
  'listings.geocoding.setFailing',
  'update geocoding_worker set failing_since = coalesce(failing_since, $1), paused_until = $2',
);

const state = statement<{ ranAt: Date; failingSince: Date | null }>(
  'listings.geocoding.state',
  'select ran_at as "ranAt", failing_since as "failingSince" from geocoding_worker',
);

/** The cache key of a place, independent of spacing and case. */
const keyOf = ({ address, eircode }: Place) => `${address} ${eircode ?? ''}`.toLowerCase().replace(/\s+/g, ' ').trim();

export type GeocodingStore = ReturnType<typeof createGeocodingStore>;

export const createGeocodingStore = (database: Database) => ({
  /** Listings never looked up, oldest first; then those whose back-off is over. */
  due: (now: Date, limit: number) => database.all(due, now, limit),
  place: ({ id, address, eircode }: Unplaced, { latitude, longitude }: Coordinates) => database.run(place, id, address, eircode, latitude, longitude),
  backOff: ({ id, address, eircode }: Unplaced, misses: number, after: Date) => database.run(backOff, id, address, eircode, misses, after),
  cached: (provider: string, where: Place, foundSince: Date) => database.first(cached, provider, keyOf(where), foundSince),
  cache: (provider: string, where: Place, { latitude, longitude }: Coordinates, foundAt: Date) =>
    database.run(cache, provider, keyOf(where), latitude, longitude, foundAt),
  deleteCached: (foundBefore: Date) => database.run(deleteCached, foundBefore),
  /** Records the heartbeat. @returns until when the geocoder wants no request, if it said so */
  beat: async (now: Date) => (await database.first(beat, now))?.pausedUntil ?? undefined,
  setAnswering: () => database.run(setAnswering),
  setFailing: (since: Date, pausedUntil: Date) => database.run(setFailing, since, pausedUntil),
  /** Undefined before the first run. */
  state: () => database.first(state),
});
