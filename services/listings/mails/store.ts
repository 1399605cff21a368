// All SQL of alert mails: the raw mails and their outcomes.
import { type Database, statement } from '../../platform/postgres/pool.ts';

export type StoredMail = { readonly id: string; readonly raw: Buffer; readonly receivedAt: Date; readonly failures: number };

export type MailState = {
  readonly outcome: 'created' | 'updated' | 'ignored' | 'failed';
  readonly reason: string | null;
  readonly propertyId: string | null;
  readonly failures: number;
  readonly parseAfter: Date;
};

// Failed at first, so that the worker parses a mail whose parsing is interrupted.
const insert = statement<{ id: string }, [id: string, identity: Buffer, receivedAt: Date, parseAfter: Date, raw: Buffer]>(
  'listings.mails.insert',
  `
  insert into alert_mails (id, identity, received_at, parse_after, raw, outcome, reason)
  values ($1, $2, $3, $4, $5, 'failed', 'parsing was interrupted')
  on conflict (identity) do nothing
  returning id`,
);

const propertyOf = statement<{ propertyId: string | null }, [identity: Buffer]>(
  'listings.mails.propertyOf',
  'select property_id as "propertyId" from alert_mails where identity = $1',
);

const finish = statement<unknown, [id: string, outcome: string, reason: string | null, propertyId: string | null, failures: number, parseAfter: Date]>(
  'listings.mails.finish',
  'update alert_mails set outcome = $2, reason = $3, property_id = $4, failures = $5, parse_after = $6 where id = $1',
);

const claimFailed = statement<StoredMail, [now: Date, leaseUntil: Date]>(
  'listings.mails.claimFailed',
  `
  update alert_mails set parse_after = $2
  where id = (
    select id from alert_mails where outcome = 'failed' and parse_after <= $1
    order by parse_after, id limit 1 for update skip locked)
  returning id, raw, received_at as "receivedAt", failures`,
);

const deleteReceived = statement<unknown, [before: Date]>('listings.mails.deleteReceived', 'delete from alert_mails where received_at < $1');

const countFailed = statement<{ failed: number }>('listings.mails.countFailed', `select count(*) as failed from alert_mails where outcome = 'failed'`);

export type MailStore = ReturnType<typeof createMailStore>;

export const createMailStore = (database: Database) => ({
  /** False when the mail has come before. @param parseAfter when the worker takes it, unless it is finished before */
  insert: async ({ id, identity, receivedAt, raw }: { id: string; identity: Buffer; receivedAt: Date; raw: Buffer }, parseAfter: Date) =>
    (await database.first(insert, id, identity, receivedAt, parseAfter, raw)) !== undefined,
  /** The first listing of an earlier mail with this identity. */
  propertyOf: async (identity: Buffer) => (await database.first(propertyOf, identity))?.propertyId ?? undefined,
  finish: (id: string, { outcome, reason, propertyId, failures, parseAfter }: MailState) =>
    database.run(finish, id, outcome, reason, propertyId, failures, parseAfter),
  /** The failed mail that has been due longest; leased, so that no other worker gets it. */
  claimFailed: (now: Date, leaseUntil: Date) => database.first(claimFailed, now, leaseUntil),
  deleteReceived: (before: Date) => database.run(deleteReceived, before),
  countFailed: async () => (await database.first(countFailed))?.failed ?? 0,
});
