// All SQL of failed_payloads: spooled deliveries whose disk may not outlive the process. Leases go by the database's clock.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { type Corrupt, headerOf, MessageHeader, type SpooledDelivery } from './file-format.ts';

/** Much longer than the budget of a publication; a replica that died holds its rows back no longer than that. */
const leaseMs = 60_000;

export type FailedPayload = {
  readonly id: string;
  /** As it was found: damaged, it is not one of a message. */
  readonly header: unknown;
  readonly spooledAt: Date;
  readonly tries: number;
  readonly bytes: number;
};

/** Where a walk through the table is: rows behind it are left for the next walk. */
export type Position = Pick<FailedPayload, 'id' | 'spooledAt'>;
export const start: Position = { spooledAt: new Date(0), id: '' };

type NewRow = [id: string, header: string, payload: Buffer, reason: string, spooledAt: Date, tries: number];
const insert = statement<unknown, NewRow>(
  'relay.failedPayloads.insert',
  `
  insert into failed_payloads (id, header, payload, reason, spooled_at, tries) values ($1, $2, $3, $4, $5, $6)
  on conflict (id) do nothing`,
);

type Claim = [afterTime: Date, afterId: string, limit: number, owner: string, leaseMs: number];
const claim = statement<FailedPayload, Claim>(
  'relay.failedPayloads.claim',
  `
  with due as (
    select id from failed_payloads
    where replayed_at is null and refused_at is null
      and (claimed_until is null or claimed_until < now())
      and (spooled_at, id) > ($1::timestamptz, $2::text)
    order by spooled_at, id
    limit $3
    for update skip locked),
  claimed as (
    update failed_payloads set claimed_by = $4, claimed_until = now() + $5 * interval '1 millisecond'
    from due where failed_payloads.id = due.id
    returning failed_payloads.id, header, spooled_at as "spooledAt", tries, octet_length(payload) as bytes)
  select * from claimed order by "spooledAt", id`,
);

// The lease is renewed here: a row may have waited behind others of its claim. No row when somebody else has it now.
const payload = statement<{ payload: Buffer }, [id: string, owner: string, leaseMs: number]>(
  'relay.failedPayloads.payload',
  `
  update failed_payloads set claimed_until = now() + $3 * interval '1 millisecond'
  where id = $1 and claimed_by = $2 and payload is not null
  returning payload`,
);

const markReplayed = statement<unknown, [id: string, owner: string]>(
  'relay.failedPayloads.markReplayed',
  `
  update failed_payloads set replayed_at = now(), payload = null, claimed_by = null, claimed_until = null
  where id = $1 and claimed_by = $2`,
);

const countRefusal = statement<{ refused: boolean }, [id: string, owner: string, mostTries: number]>(
  'relay.failedPayloads.countRefusal',
  `
  update failed_payloads
  set tries = tries + 1, refused_at = case when tries + 1 >= $3 then now() end, claimed_by = null, claimed_until = null
  where id = $1 and claimed_by = $2
  returning refused_at is not null as refused`,
);

const release = statement<unknown, [ids: readonly string[], owner: string]>(
  'relay.failedPayloads.release',
  `
  update failed_payloads set claimed_by = null, claimed_until = null where id = any($1::text[]) and claimed_by = $2`,
);

const deleteReplayed = statement<unknown, [limit: Date]>('relay.failedPayloads.deleteReplayed', 'delete from failed_payloads where replayed_at < $1');
const deleteRefused = statement<unknown, [limit: Date]>('relay.failedPayloads.deleteRefused', 'delete from failed_payloads where refused_at < $1');

export type FailedPayloads = ReturnType<typeof createFailedPayloads>;

export const createFailedPayloads = (database: Database) => ({
  /** Committed when it resolves. A delivery that is there already stays as it is. */
  insert: async ({ message, reason, spooledAt }: SpooledDelivery, tries: number) => {
    await database.run(insert, message.id, JSON.stringify(headerOf(message)), message.body, reason, spooledAt, tries);
  },
  /** Oldest first, none that another owner holds a lease on. */
  claimDue: (after: Position, limit: number, owner: string) => database.all(claim, after.spooledAt, after.id, limit, owner, leaseMs),
  /** Undefined when the lease was lost. */
  load: async ({ id, header }: FailedPayload, owner: string): Promise<Pick<SpooledDelivery, 'message'> | Corrupt | undefined> => {
    const row = await database.first(payload, id, owner, leaseMs);
    const parsed = MessageHeader.safeParse(header);
    if (!parsed.success) return row && { corrupt: 'the header is not one of a message' };
    return row && { message: { ...parsed.data, body: row.payload } };
  },
  /** Does nothing when the lease was lost: whoever has it now publishes once more, which consumers recognise. */
  markReplayed: (id: string, owner: string) => database.run(markReplayed, id, owner),
  /** @returns true when that was the last try that it is given */
  countRefusal: async (id: string, owner: string, mostTries: number) => (await database.first(countRefusal, id, owner, mostTries))?.refused ?? false,
  /** Free for every replica, at once. */
  release: (ids: readonly string[], owner: string) => database.run(release, ids, owner),
  /** @returns how many were deleted */
  deleteReplayedBefore: (limit: Date) => database.run(deleteReplayed, limit),
  /** @returns how many were deleted */
  deleteRefusedBefore: (limit: Date) => database.run(deleteRefused, limit),
});
