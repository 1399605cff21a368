// Reservations of the monthly limits: one statement for all that wait, and under load a small stock for those that come while the next one runs.
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
  /** Others after each reload. */
  readonly connections: { readonly quotas: readonly Quota[] };
  readonly database: DatabaseState;
  readonly clock: () => Date;
  /** A stock is used for so long after it was last confirmed: a switch or reset on another replica takes effect within it. */
  readonly stockMs?: number;
};

type Waiter = (result: ReserveResult) => void;

/** Reservations that nobody has asked for yet. A delivery that takes one waits for no commit of Postgres. */
type Stock = {
  readonly reservation: Reservation;
  count: number;
  /** As they were when it was reserved: after a reload it is not spent. */
  readonly quotas: readonly Quota[];
  /** Undefined once it is too old to be spent: the statement under way confirms it or returns it. */
  expiry: NodeJS.Timeout | undefined;
};

/** Deliveries that may use the same connections. One statement at a time is under way for them. */
type Queue = {
  readonly key: string;
  readonly unusable: ReadonlySet<string>;
  waiting: Waiter[];
  /** Resolves to those that have to be asked for again. */
  statement: Promise<readonly Waiter[]> | undefined;
  begunAt: number;
  /** Deliveries since then. */
  arrived: number;
  /** How long the last statement took. */
  statementMs: number;
  /** Whether deliveries came during it. One client that waits for each answer never makes a stock. */
  isBusy: boolean;
  stock: Stock | undefined;
  /** With less in stock a statement begins to refill it. */
  lowWater: number;
};

/** A stock is what comes in so many milliseconds. */
const aheadMs = 40;
const largestStock = 200;

export function createReservations({ store, connections, database, clock, stockMs = 50 }: ReservationsParts) {
  const queues = new Map<string, Queue>();
  const refunds = createRefunds(store, database);
  /** While above 0 no stock is kept. */
  let stockPauses = 0;
  /** What an administrator changed here; a statement from before it makes no stock. */
  let changeNumber = 0;

  function queueFor(unusable: readonly string[]): Queue {
    const key = unusable.join(' ');
    let queue = queues.get(key);
    if (!queue) {
      const idle = { statement: undefined, begunAt: -Infinity, arrived: 0, statementMs: 0, isBusy: false, stock: undefined, lowWater: 0 };
      queue = { key, unusable: new Set(unusable), waiting: [], ...idle };
      queues.set(key, queue);
    }
    return queue;
  }

  function returnStock(queue: Queue): void {
    const { stock } = queue;
    queue.stock = undefined;
    clearTimeout(stock?.expiry);
    if (stock) refunds.add(stock.reservation, stock.count);
  }

  function expire(queue: Queue, stock: Stock): void {
    stock.expiry = undefined;
    if (queue.statement) return;
    returnStock(queue);
    queues.delete(queue.key);
  }

  /** Adds to a stock of the same broker, month and generation and renews its expiry; a stock of another is refunded. */
  function restock(queue: Queue, reservation: Reservation, { count, quotas }: { count: number; quotas: readonly Quota[] }): void {
    if (queue.stock && keyOf(queue.stock.reservation) !== keyOf(reservation)) returnStock(queue);
    clearTimeout(queue.stock?.expiry);
    const stock: Stock = { reservation, count: count + (queue.stock?.count ?? 0), quotas, expiry: undefined };
    stock.expiry = setTimeout(() => expire(queue, stock), stockMs);
    queue.stock = stock;
  }

  function take(queue: Queue): Reservation | undefined {
    const { stock } = queue;
    if (!stock?.expiry || stock.count === 0) return undefined;
    if (stock.quotas !== connections.quotas || stock.reservation.period !== periodOf(clock())) {
      returnStock(queue);
      return undefined;
    }
    stock.count -= 1;
    return stock.reservation;
  }

  async function work(queue: Queue): Promise<void> {
    do {
      const waiting = queue.waiting;
      const ahead = wantedAhead(queue);
      queue.waiting = [];
      queue.arrived = 0;
      queue.begunAt = performance.now();
      queue.statement = database.isUp ? ask(queue, waiting, ahead) : Promise.resolve(answer(waiting, { outcome: 'databaseDown' }));
      const unserved = await queue.statement;
      queue.statementMs = performance.now() - queue.begunAt;
      queue.isBusy = queue.arrived > 0;
      queue.waiting.unshift(...unserved);
    } while (queue.waiting.length > 0);
    queue.statement = undefined;
    if (!queue.stock) queues.delete(queue.key);
  }

  function wantedAhead(queue: Queue): number {
    const perMs = queue.isBusy && stockPauses === 0 ? queue.arrived / (performance.now() - queue.begunAt) : 0;
    queue.lowWater = 1.5 * perMs * queue.statementMs; // not every statement is as quick as the last
    return Math.max(0, Math.min(largestStock, Math.ceil(perMs * aheadMs)) - (queue.stock?.count ?? 0));
  }

  /** @returns those to ask for again: the chosen connection had no room for them, another may */
  async function ask(queue: Queue, waiting: readonly Waiter[], ahead: number): Promise<readonly Waiter[]> {
    try {
      await refunds.flush();
      // A server that hangs is not asked once more by those whom the refunds have kept waiting.
      if (!database.isUp) return answer(waiting, { outcome: 'databaseDown' });
      const [period, quotas, changeNumberBefore] = [periodOf(clock()), connections.quotas, changeNumber];
      const wanted = { period, wanted: waiting.length, ahead };
      const candidates = await retryIfCut(() => store.reserve(quotas, (broker) => !queue.unusable.has(broker), wanted));
      const chosen = candidates.find(({ granted }) => granted !== null);
      if (!chosen) {
        returnStock(queue);
        return answer(waiting, refusal(candidates, period));
      }
      const { broker, generation, granted } = chosen;
      if (generation === null || granted === null) throw new TypeError('a chosen connection has a generation');
      const reservation = { broker, period, generation };
      answer(waiting.slice(0, granted), { outcome: 'reserved', reservation });
      const count = Math.max(0, granted - waiting.length);
      if (stockPauses > 0 || changeNumberBefore !== changeNumber) {
        refunds.add(reservation, count);
        returnStock(queue);
      } else {
        restock(queue, reservation, { count, quotas });
        spend(queue);
      }
      return waiting.slice(granted);
    } catch (error) {
      // Also for a fault of another kind, such as a missing table: a delivery is spooled rather than lost.
      database.failed(error);
      returnStock(queue);
      return answer(waiting, { outcome: 'databaseDown' });
    }
  }

  /** For those that came while it was reserved. */
  function spend(queue: Queue): void {
    for (let next = queue.waiting[0]; next; next = queue.waiting[0]) {
      const reservation = take(queue);
      if (!reservation) return;
      queue.waiting.shift();
      next({ outcome: 'reserved', reservation });
    }
  }

  async function returnAll(): Promise<void> {
    for (const queue of queues.values()) returnStock(queue);
    for (const { statement } of [...queues.values()]) await statement;
    await refunds.flush();
  }

  return {
    /** On the active connection, or the next in failover order that is usable and has room; at once from the stock. Never rejects.
     *  @param unusable names of connections that cannot be published to now */
    reserve(unusable: readonly string[]): Promise<ReserveResult> | ReserveResult {
      if (!database.isUp) return { outcome: 'databaseDown' };
      const queue = queueFor(unusable);
      queue.arrived += 1;
      const reservation = take(queue);
      const reserved: Promise<ReserveResult> | ReserveResult = reservation
        ? { outcome: 'reserved', reservation }
        : new Promise((resolve) => queue.waiting.push(resolve));
      if (!queue.statement && (!reservation || (queue.stock?.count ?? 0) < queue.lowWater)) void work(queue);
      return reserved;
    },
    /** For a message that was certainly not published. */
    refund: (reservation: Reservation): void => refunds.add(reservation, 1),
    /** What `read` reads counts nothing that this process has in stock. */
    async withoutStock<T>(read: () => Promise<T>): Promise<T> {
      stockPauses += 1;
      try {
        await returnAll();
        return await read();
      } finally {
        stockPauses -= 1;
      }
    },
    /** The active connection or a count was changed from here: the next delivery asks anew. */
    changed(): void {
      changeNumber += 1;
      for (const queue of queues.values()) returnStock(queue);
    },
    /** Resolves when every refund is stored. */
    async close(): Promise<void> {
      stockPauses += 1;
      await returnAll();
    },
  };
}

// A connection that was idle may have been cut meanwhile: then a fresh one answers. A server that hangs is not asked twice.
const quickMs = 250;
async function retryIfCut<T>(ask: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  try {
    return await ask();
  } catch (error) {
    if (performance.now() - begun > quickMs) throw error;
    return ask();
  }
}

function answer(waiting: readonly Waiter[], result: ReserveResult): readonly Waiter[] {
  for (const resolve of waiting) resolve(result);
  return [];
}

const keyOf = ({ broker, period, generation }: Reservation) => `${broker} ${period} ${generation}`;

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
    add(reservation: Reservation, count: number): void {
      if (count === 0) return;
      const key = keyOf(reservation);
      gathered.set(key, { ...reservation, count: (gathered.get(key)?.count ?? 0) + count });
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
