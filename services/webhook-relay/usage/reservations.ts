// Reservations of the monthly limits: one statement for all that wait, and under load a small stock for those that come while the next one runs.
import type { DatabaseState } from '../database.ts';
import { type Candidate, type Count, periodOf, type Quota, type Refund, type Reservation, type UsageStore } from './store.ts';

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
  readonly connections: { readonly quotas: readonly Quota[] };
  readonly database: DatabaseState;
  readonly clock: () => Date;
  /** A stock is used for so long after it was last confirmed: a switch or reset on another replica takes effect within it. */
  readonly stockMs?: number;
};

type Waiter = {
  /** Names of connections, separated by spaces: one statement is for those that may use the same. */
  readonly unusable: string;
  readonly resolve: (result: ReserveResult) => void;
};

/** Reservations that nobody has asked for yet. A delivery that takes one waits for no commit of Postgres. */
type Stock = {
  readonly unusable: string;
  readonly reservation: Reservation;
  count: number;
  /** Undefined once it is too old to be spent: the statement under way confirms it or returns it. */
  expiry: NodeJS.Timeout | undefined;
};

/** A stock is what comes in so many milliseconds: half of it covers a commit of 50 ms, which a busy disk takes now and then. */
const aheadMs = 100;
const largestStock = 200;

export function createReservations({ store, connections, database, clock, stockMs = 150 }: ReservationsParts) {
  const refunds = createRefunds(store, database);
  let waiting: Waiter[] = [];
  let stock: Stock | undefined;
  /** One at a time. */
  let statement: Promise<void> | undefined;
  let begunAt = -Infinity;
  /** Deliveries since then. */
  let arrived = 0;
  /** With less in stock the next statement begins. */
  let lowWater = 0;
  /** While above 0 no stock is kept. */
  let readers = 0;
  /** A statement from before the last change makes no stock. */
  let changes = 0;

  function returnStock(): void {
    if (!stock) return;
    clearTimeout(stock.expiry);
    refunds.add(stock.reservation, stock.count);
    stock = undefined;
  }

  function expire(): void {
    if (statement && stock) stock.expiry = undefined;
    else returnStock();
  }

  function changed(): void {
    changes += 1;
    returnStock();
  }

  /** Adds to a stock of the same count and renews its expiry; another is returned. */
  function restock(unusable: string, reservation: Reservation, count: number): void {
    if (stock?.unusable !== unusable || stock.reservation.generation !== reservation.generation) returnStock();
    clearTimeout(stock?.expiry);
    stock = { unusable, reservation, count: count + (stock?.count ?? 0), expiry: setTimeout(expire, stockMs) };
  }

  function take(unusable: string): Reservation | undefined {
    if (!stock?.expiry || stock.unusable !== unusable || stock.count === 0 || stock.reservation.period !== periodOf(clock())) return undefined;
    stock.count -= 1;
    return stock.reservation;
  }

  function begin(): void {
    if (statement) return;
    const unusable = waiting[0]?.unusable ?? stock?.unusable ?? '';
    const { asking = [], others = [] } = Object.groupBy(waiting, (waiter) => (waiter.unusable === unusable ? 'asking' : 'others'));
    waiting = others;
    const now = performance.now();
    // All but the one that begins this: one client that waits for each answer never makes a stock.
    const perMs = (arrived - 1) / (now - begunAt);
    const wantedStock = Math.min(largestStock, Math.ceil(perMs * aheadMs));
    lowWater = wantedStock / 2;
    begunAt = now;
    arrived = 0;
    statement = ask(unusable, asking, wantedStock).finally(() => {
      statement = undefined;
      if (waiting.length > 0) begin();
    });
  }

  function giveUp(asking: readonly Waiter[]): void {
    returnStock();
    answer(asking, { outcome: 'databaseDown' });
  }

  /** Never rejects. */
  async function ask(unusable: string, asking: readonly Waiter[], wantedStock: number): Promise<void> {
    await refunds.flush();
    // A server that hangs is not asked once more by those whom the refunds have kept waiting.
    if (!database.isUp) return giveUp(asking);
    const [period, changesBefore] = [periodOf(clock()), changes];
    const ahead = readers > 0 ? 0 : Math.max(0, wantedStock - (stock?.count ?? 0));
    const isUsable = (broker: string) => !unusable.split(' ').includes(broker);
    try {
      const candidates = await retryIfCut(() => store.reserve(connections.quotas, isUsable, { period, wanted: asking.length, ahead }));
      const chosen = candidates.find((candidate) => candidate.granted !== null);
      if (!chosen) {
        returnStock();
        return answer(asking, refusal(candidates, period));
      }
      restock(unusable, { broker: chosen.broker, period, generation: chosen.generation }, chosen.granted);
      const unserved = serve(asking); // another connection may have room for them
      if (changes !== changesBefore) returnStock();
      waiting = serve([...unserved, ...waiting]);
    } catch (error) {
      // Also for a fault of another kind, such as a missing table: a delivery is spooled rather than lost.
      database.failed(error);
      giveUp(asking);
    }
  }

  /** From the stock as far as it goes. @returns the others */
  function serve(waiters: readonly Waiter[]): Waiter[] {
    return waiters.filter(({ unusable, resolve }) => {
      const reservation = take(unusable);
      if (reservation) resolve({ outcome: 'reserved', reservation });
      return !reservation;
    });
  }

  async function returnAll(): Promise<void> {
    changed();
    await statement;
    await refunds.flush();
  }

  return {
    /** On the active connection, or the next in failover order that is usable and has room; at once from the stock. Never rejects.
     *  @param names of connections that cannot be published to now */
    reserve(names: readonly string[]): Promise<ReserveResult> | ReserveResult {
      if (!database.isUp) return { outcome: 'databaseDown' };
      arrived += 1;
      const unusable = names.join(' ');
      const reservation = take(unusable);
      const reserved: Promise<ReserveResult> | ReserveResult = reservation
        ? { outcome: 'reserved', reservation }
        : new Promise((resolve) => waiting.push({ unusable, resolve }));
      if (!reservation || (stock?.count ?? 0) < lowWater) begin();
      return reserved;
    },
    /** For a message that was certainly not published. */
    refund: (reservation: Reservation): void => refunds.add(reservation, 1),
    /** What `read` reads counts nothing that this process has in stock. */
    async withoutStock<T>(read: () => Promise<T>): Promise<T> {
      readers += 1;
      try {
        await returnAll();
        return await read();
      } finally {
        readers -= 1;
      }
    },
    /** The active connection, a limit or a count was changed from here: the next delivery asks anew. */
    changed,
    /** Resolves when every refund is stored. */
    async close(): Promise<void> {
      readers += 1;
      await returnAll();
    },
  };
}

const quickMs = 250;

/** A connection that was idle may have been cut meanwhile: then a fresh one answers. A server that hangs is not asked twice. */
async function retryIfCut<T>(ask: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  try {
    return await ask();
  } catch (error) {
    if (performance.now() - begun > quickMs) throw error;
    return ask();
  }
}

function answer(waiters: readonly Waiter[], result: ReserveResult): void {
  for (const { resolve } of waiters) resolve(result);
}

/** They are kept while the database is down. */
function createRefunds(store: Pick<UsageStore, 'refund'>, database: DatabaseState) {
  let pending: Refund[] = [];
  let last = Promise.resolve();

  async function send(): Promise<void> {
    if (pending.length === 0 || !database.isUp) return;
    const refunds = pending;
    pending = [];
    // Sent once: it may have been stored even though no answer came, and a count may err high, never low.
    await store.refund(refunds).catch((error: unknown) => database.failed(error));
  }

  /** Before the next reservation, which may need the room. Never rejects. */
  const flush = (): Promise<void> => (last = last.then(send));

  return {
    add(reservation: Reservation, count: number): void {
      if (count === 0) return;
      pending.push({ ...reservation, count });
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
