// Reservations of the monthly limits: all that wait are taken with one statement, so that throughput is not one row lock a delivery.
import { setTimeout as pause } from 'node:timers/promises';
import type { DatabaseState } from '../database.ts';
import { type Candidate, periodOf, type Quota, type Refund, type UsageStore } from './store.ts';

/** The right to publish one message on this connection. */
export type Reservation = { readonly broker: string; readonly period: string; readonly generation: string };

export type Count = { readonly broker: string; readonly messageCount: number; readonly monthlyLimit: number };

export type ReserveResult =
  | { readonly outcome: 'reserved'; readonly reservation: Reservation }
  /** Every connection is at its limit. */
  | { readonly outcome: 'exhausted'; readonly period: string; readonly counts: readonly Count[] }
  /** Every connection is at its limit or among the unusable; these have room. */
  | { readonly outcome: 'unreachable'; readonly withRoom: readonly string[] }
  | { readonly outcome: 'databaseDown' };

export type Reservations = ReturnType<typeof createReservations>;

export type ReservationsParts = {
  readonly store: Pick<UsageStore, 'reserve' | 'refund'>;
  readonly quotas: () => readonly Quota[];
  readonly database: DatabaseState;
  readonly clock: () => Date;
};

type Want = (result: ReserveResult) => void;
/** Deliveries that may use the same connections; while their statement is under way, the next ones gather. */
type Queue = { readonly unusable: ReadonlySet<string>; waiting: Want[] };

/** When deliveries come together, so much is between two statements: more of them share one. Alone, a delivery waits for nothing. */
const pacedMs = 10;

export function createReservations({ store, quotas, database, clock }: ReservationsParts) {
  const queues = new Map<string, Queue>();
  const refunds = createRefunds(store, database);

  async function work(key: string, queue: Queue): Promise<void> {
    while (queue.waiting.length > 0) {
      const begun = performance.now();
      const wants = queue.waiting;
      queue.waiting = [];
      const unserved = database.isUp ? await serve(queue.unusable, wants) : answer(wants, { outcome: 'databaseDown' });
      queue.waiting.unshift(...unserved);
      const rest = pacedMs - (performance.now() - begun);
      if (rest > 0 && wants.length > 1 && unserved.length === 0) await pause(rest);
    }
    queues.delete(key);
  }

  /** @returns those to ask for again: the chosen connection had no room for them, another may */
  async function serve(unusable: ReadonlySet<string>, wants: readonly Want[]): Promise<readonly Want[]> {
    try {
      await refunds.flush();
      // A server that hangs is not asked once more by those whom the refunds have kept waiting.
      if (!database.isUp) return answer(wants, { outcome: 'databaseDown' });
      const period = periodOf(clock());
      const ask = () => store.reserve(quotas(), (broker) => !unusable.has(broker), { period, wanted: wants.length });
      const candidates = await again(ask);
      const chosen = candidates.find(({ granted }) => granted !== null);
      if (!chosen) return answer(wants, refusal(candidates, period));
      const { broker, generation, granted } = chosen;
      if (generation === null || granted === null) throw new TypeError('a chosen connection has a generation');
      const result = { outcome: 'reserved', reservation: { broker, period, generation } } as const;
      answer(wants.slice(0, granted), result);
      return wants.slice(granted);
    } catch (error) {
      // Also for a fault of another kind, such as a missing table: a delivery is spooled rather than lost.
      database.failed(error);
      return answer(wants, { outcome: 'databaseDown' });
    }
  }

  return {
    /** On the active connection, or the next in failover order that is usable and has room. Never rejects.
     *  @param unusable names of connections that cannot be published to now */
    reserve(unusable: readonly string[]): Promise<ReserveResult> {
      if (!database.isUp) return Promise.resolve({ outcome: 'databaseDown' });
      return new Promise((resolve) => {
        const key = unusable.join(' ');
        const queue = queues.get(key);
        if (queue) {
          queue.waiting.push(resolve);
          return;
        }
        const fresh: Queue = { unusable: new Set(unusable), waiting: [resolve] };
        queues.set(key, fresh);
        void work(key, fresh);
      });
    },
    /** For a message that was certainly not published. */
    refund: (reservation: Reservation): void => refunds.add(reservation),
    /** Resolves when every refund is stored. */
    close: () => refunds.flush(),
  };
}

// A connection that was idle may have been cut meanwhile: then a fresh one answers. A server that hangs is not asked twice.
const quickMs = 250;
async function again<T>(ask: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  try {
    return await ask();
  } catch (error) {
    if (performance.now() - begun > quickMs) throw error;
    return ask();
  }
}

function answer(wants: readonly Want[], result: ReserveResult): readonly Want[] {
  for (const resolve of wants) resolve(result);
  return [];
}

/** Gathered by the count that they came from. */
function createRefunds(store: Pick<UsageStore, 'refund'>, database: DatabaseState) {
  let gathered = new Map<string, Refund>();
  let flushing: Promise<void> | undefined;

  async function send(): Promise<void> {
    while (gathered.size > 0 && database.isUp) {
      const refunds = [...gathered.values()];
      gathered = new Map();
      // Sent once: it may have been stored even though no answer came, and a count may err high, never low.
      await store.refund(refunds).catch((error: unknown) => database.failed(error));
    }
  }

  /** Before the next reservation, which may need the room. Never rejects. */
  const flush = (): Promise<void> =>
    (flushing ??= send().finally(() => {
      flushing = undefined;
    }));

  return {
    add({ broker, period, generation }: Reservation): void {
      const key = `${broker} ${period} ${generation}`;
      gathered.set(key, { broker, period, generation, count: (gathered.get(key)?.count ?? 0) + 1 });
      void flush();
    },
    flush,
  };
}

function refusal(candidates: readonly Candidate[], period: string): ReserveResult {
  const withRoom = candidates.filter(({ messageCount, monthlyLimit }) => messageCount < monthlyLimit).map(({ broker }) => broker);
  if (withRoom.length > 0 || candidates.length === 0) return { outcome: 'unreachable', withRoom };
  return { outcome: 'exhausted', period, counts: candidates.map(({ broker, messageCount, monthlyLimit }) => ({ broker, messageCount, monthlyLimit })) };
}
