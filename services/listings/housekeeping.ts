// Deletes expired alert mails and cached coordinates, and withdraws listings that do not come any more.
import type { Outbox } from '../platform/events/events.ts';
import type { Log } from '../platform/log.ts';
import type { Database } from '../platform/postgres/pool.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { runPeriodically } from '../platform/process/periodic-job.ts';
import { dayMs } from '../platform/time.ts';
import { createGeocodingStore } from './geocoding/store.ts';
import { createMailStore } from './mails/store.ts';
import type { ListingStore } from './store.ts';
import { withdrawUnseen } from './withdrawal.ts';

export type HousekeepingParts = {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly clock: () => Date;
  readonly store: Pick<ListingStore, 'withdrawUnseen'>;
  readonly outbox: Outbox;
  readonly withdrawnAfterDays: number;
  readonly rawMailsDays: number;
  readonly geocodeCacheDays: number;
};

const everyMs = 60 * 60_000;

/** Runs at once and then every hour, on one replica at a time, until the lifecycle stops. */
export function startHousekeeping(parts: HousekeepingParts): void {
  const { database, log, clock, rawMailsDays, geocodeCacheDays } = parts;
  const mails = createMailStore(database);
  const geocoding = createGeocodingStore(database);
  const before = (days: number) => new Date(clock().getTime() - days * dayMs);
  const work = async () => {
    const deletedMails = await mails.deleteReceived(before(rawMailsDays));
    const withdrawn = await withdrawUnseen({ ...parts, stopping: parts.lifecycle.stopping });
    if (withdrawn > 0) log.info({ listings: withdrawn }, 'listings that do not come any more are withdrawn');
    const deletedPlaces = await geocoding.deleteCached(before(geocodeCacheDays));
    if (deletedMails > 0 || deletedPlaces > 0) log.info({ mails: deletedMails, places: deletedPlaces }, 'expired rows deleted');
  };
  runPeriodically(parts, { name: 'listings.housekeeping', everyMs, work });
}
