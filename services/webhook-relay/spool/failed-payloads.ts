// All SQL of failed_payloads: spooled deliveries whose disk may not outlive the process. Leases go by the database's clock.
import { randomUUID } from 'node:crypto';
import type { Message } from '../../platform/broker/broker.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { messageHeaders } from '../contract.ts';
import { corruptText, headerOf, maxTries, MessageHeader, refusedSince, type SpooledDelivery } from './file-format.ts';

export type FailedPayload = {
  readonly id: string;
  /** As it was found: damaged, it is not one of a message. */
  readonly header: unknown;
  readonly bytes: number;
};

type NewRow = [id: string, header: string, payload: Buffer, reason: string, spooledAt: Date, tries: number];
const insert = statement<unknown, NewRow>(
  'relay.failedPayloads.insert',
  `
  insert into failed_payloads (id, header, payload, reason, spooled_at, tries) values ($1, $2, $3, $4, $5, $6)
  on conflict (id) do nothing`,
);

// A lease is much longer than the budget of a publication; a replica that died holds its rows back no longer than that.
const claim = statement<FailedPayload, [limit: number, owner: string]>(
  'relay.failedPayloads.claim',
  `
  with due as (
    select id from failed_payloads
    where replayed_at is null and refused_at is null
      and (claimed_until is null or claimed_until < now())
    order by spooled_at, id
    limit $1
    for update skip locked),
  claimed as (
    update failed_payloads set claimed_by = $2, claimed_until = now() + interval '1 minute'
    from due where failed_payloads.id = due.id
    returning failed_payloads.id, header, spooled_at, octet_length(payload) as bytes)
  select id, header, bytes from claimed order by spooled_at, id`,
);

// The lease is renewed here: a row may have waited behind others of its claim. No row when another replica has it now.
const payload = statement<{ payload: Buffer }, [id: string, owner: string]>(
  'relay.failedPayloads.payload',
  `
  update failed_payloads set claimed_until = now() + interval '1 minute'
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
  set tries = tries + 1, refused_at = case when tries + 1 >= $3 then now() end
  where id = $1 and claimed_by = $2
  returning refused_at is not null as refused`,
);

const release = statement<unknown, [owner: string]>(
  'relay.failedPayloads.release',
  `
  update failed_payloads set claimed_by = null, claimed_until = null where claimed_by = $1 and replayed_at is null`,
);

const deleteOld = statement<unknown, [replayedBefore: Date, refusedBefore: Date]>(
  'relay.failedPayloads.deleteOld',
  'delete from failed_payloads where replayed_at < $1 or refused_at < $2',
);

const ask = statement('relay.failedPayloads.ask', 'select 1');

/** A row as it is listed. */
export type ListedPayload = {
  readonly id: string;
  readonly spooledAt: Date;
  readonly reason: string;
  readonly tries: number;
  readonly isGivenUp: boolean;
  readonly event: string | null;
  readonly deliveryId: string | null;
};
const listed = `id, spooled_at as "spooledAt", reason, tries, refused_at is not null as "isGivenUp", header ->> 'type' as event,
  header -> 'headers' ->> '${messageHeaders.deliveryId}' as "deliveryId"`;
const list = statement<ListedPayload, [afterTime: Date | null, afterId: string | null, limit: number]>(
  'relay.failedPayloads.list',
  `
  select ${listed} from failed_payloads
  where replayed_at is null and ($1::timestamptz is null or (spooled_at, id) > ($1, $2))
  order by spooled_at, id limit $3`,
);
const find = statement<ListedPayload, [id: string]>('relay.failedPayloads.find', `select ${listed} from failed_payloads where id = $1 and replayed_at is null`);
const retry = statement<unknown, [id: string]>(
  'relay.failedPayloads.retry',
  'update failed_payloads set tries = 0, refused_at = null where id = $1 and replayed_at is null and refused_at is not null',
);
const drop = statement<unknown, [id: string]>('relay.failedPayloads.drop', 'delete from failed_payloads where id = $1 and replayed_at is null');
const countAll = statement<{ waiting: number; givenUp: number }>(
  'relay.failedPayloads.count',
  `select count(*) filter (where refused_at is null) as waiting, count(*) filter (where refused_at is not null) as "givenUp"
   from failed_payloads where replayed_at is null`,
);

/** Why a row is corrupt. */
export const headerFault = 'the header is not one of a message';
/** Why a row is given up; one that is corrupt at its first try. */
export const refusalOf = (tries: number, reason: string): string => (tries < maxTries ? corruptText(headerFault) : refusedSince(reason));

export type FailedPayloads = ReturnType<typeof createFailedPayloads>;

/** Each is an owner of leases. */
export function createFailedPayloads(database: Database) {
  const owner = randomUUID();
  return {
    /** Resolves when the database answers. */
    ask: () => database.run(ask),

    /** Committed when it resolves. A delivery that is there already stays as it is. */
    insert: async ({ message, reason, spooledAt }: SpooledDelivery, tries: number) => {
      await database.run(insert, message.id, JSON.stringify(headerOf(message)), message.body, reason, spooledAt, tries);
    },
    /** Oldest first, without rows that have a lease, one of this owner included. */
    claimDue: (limit: number) => database.all(claim, limit, owner),
    /** Undefined when the lease was lost. */
    async load({ id, header }: FailedPayload): Promise<{ readonly message: Message } | 'corrupt' | undefined> {
      const row = await database.first(payload, id, owner);
      const parsed = MessageHeader.safeParse(header);
      if (!parsed.success) return row && 'corrupt';
      return row && { message: { ...parsed.data, body: row.payload } };
    },
    /** 0 when the lease was lost: the replica that has it now publishes once more, which consumers recognise. */
    markReplayed: (id: string) => database.run(markReplayed, id, owner),
    /** @returns true when that was the last try that it is given */
    countRefusal: async (id: string, mostTries: number) => (await database.first(countRefusal, id, owner, mostTries))?.refused ?? false,
    /** Rows that were claimed and not published are free for every replica, at once. */
    release: () => database.run(release, owner),
    /** The rows that were not replayed, oldest first. */
    list: (limit: number, after?: { readonly spooledAt: Date; readonly id: string }) => database.all(list, after?.spooledAt ?? null, after?.id ?? null, limit),
    find: (id: string) => database.first(find, id),
    /** Also tries a row again that was given up. */
    retry: (id: string) => database.run(retry, id),
    /** @returns 0 when it is gone */
    drop: (id: string) => database.run(drop, id),
    count: async () => (await database.first(countAll)) ?? { waiting: 0, givenUp: 0 },
    /** @returns how many were deleted */
    deleteOld: (replayedBefore: Date, refusedBefore: Date) => database.run(deleteOld, replayedBefore, refusedBefore),
  };
}
