// Reservations of the monthly limits: one statement for all that wait, and under load a small stock for those that come while the next one runs.
import type { DatabaseState } from '../database.ts';
import { createStock } from './stock.ts';
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
  readonly stockMs?: number;
};

type Waiter = {
  /** Names of connections, separated by spaces: one statement is for those that may use the same. */
  readonly unusable: string;
  readonly resolve: (result: ReserveResult) => void;
};

export function createReservations(parts: ReservationsParts) {
  const { store, database, clock, stockMs = 150 } = parts;
  const refunds = createRefunds(store, database);
  const demand = createDemand();
  const stock = createStock({ giveBack: refunds.add, isAsking: () => statement !== undefined, clock, stockMs });
  let waiting: Waiter[] = [];
  /** One at a time. */
  let statement: Promise<void> | undefined;
  /** While above 0 no stock is kept. */
  let readers = 0;
  /** A statement from before the last change makes no stock. */
  let changes = 0;

  function changed(): void {
    changes += 1;
    stock.returnAll();
  }

  function begin(): void {
    if (statement) return;
    const unusable = waiting[0]?.unusable ?? stock.unusable;
    const { asking = [], others = [] } = Object.groupBy(waiting, (waiter) => (waiter.unusable === unusable ? 'asking' : 'others'));
    waiting = others;
    statement = ask(unusable, asking, demand.wantedStock()).finally(() => {
      statement = undefined;
      if (waiting.length > 0) begin();
    });
  }

  /** Never rejects. */
  async function ask(unusable: string, asking: readonly Waiter[], wantedStock: number): Promise<void> {
    await refunds.flush();
    const changesBefore = changes;
    const ahead = readers > 0 ? 0 : Math.max(0, wantedStock - stock.count);
    const isUsable = (broker: string) => !unusable.split(' ').includes(broker);
    const result = await askStore(parts, isUsable, { wanted: asking.length, ahead });
    if (result.outcome !== 'granted') {
      stock.returnAll();
      return answer(asking, result);
    }
    const { reservation, granted } = result;
    const isCurrent = reservation.period === periodOf(clock());
    const served = asking.slice(0, isCurrent ? granted : 0);
    answer(served, { outcome: 'reserved', reservation });
    if (granted > served.length || stock.count > 0) stock.confirm(unusable, reservation, granted - served.length);
    if (changes !== changesBefore) stock.returnAll();
    // Another connection may have room for the others.
    waiting = [...asking.slice(served.length), ...waiting].filter((waiter) => !serve(waiter));
  }

  /** From the stock. */
  function serve({ unusable, resolve }: Waiter): boolean {
    const reservation = stock.count > 0 ? stock.take(unusable) : undefined;
    if (reservation) resolve({ outcome: 'reserved', reservation });
    return reservation !== undefined;
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
      demand.arrived += 1;
      const unusable = names.join(' ');
      const reservation = stock.count > 0 ? stock.take(unusable) : undefined;
      const reserved: Promise<ReserveResult> | ReserveResult = reservation
        ? { outcome: 'reserved', reservation }
        : new Promise((resolve) => waiting.push({ unusable, resolve }));
      if (!reservation || stock.count < demand.lowWater) begin();
      return reserved;
    },
    /** For a message that was certainly not published. */
    refund: (reservation: Reservation): void => refunds.add(reservation, 1),
    /** `read` counts nothing that this process has in stock. */
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

function answer(waiters: readonly Waiter[], result: ReserveResult): void {
  for (const { resolve } of waiters) resolve(result);
}

type Granted = { readonly outcome: 'granted'; readonly reservation: Reservation; readonly granted: number };
type Refusal = Exclude<ReserveResult, { outcome: 'reserved' }>;
type Asked = Granted | Refusal;
type Numbers = { readonly wanted: number; readonly ahead: number };

/** Never rejects. */
async function askStore({ store, connections, database, clock }: ReservationsParts, isUsable: (broker: string) => boolean, numbers: Numbers): Promise<Asked> {
  // A server that hangs is not asked once more by deliveries that the refunds have kept waiting.
  if (!database.isUp) return { outcome: 'databaseDown' };
  const period = periodOf(clock());
  try {
    const candidates = await retryIfCut(() => store.reserve(connections.quotas, isUsable, { period, ...numbers }));
    const chosen = candidates.find((candidate) => candidate.granted !== null);
    if (!chosen) return refusal(candidates, period);
    const { broker, generation, granted } = chosen;
    return { outcome: 'granted', reservation: { broker, period, generation }, granted };
  } catch (error) {
    // Also for a fault of another kind, such as a missing table: a delivery is spooled rather than lost.
    database.failed(error);
    return { outcome: 'databaseDown' };
  }
}

/** A stock covers so many milliseconds: half of it covers a commit of 50 ms, which a busy disk takes now and then. */
const aheadMs = 100;
const largestStock = 200;

/** How many reservations are wanted in stock, by the deliveries since the last statement began. */
function createDemand() {
  let begunAt = -Infinity;
  const demand = {
    arrived: 0,
    /** With less in stock the next statement begins. */
    lowWater: 0,
    /** To be called when a statement begins. */
    wantedStock(): number {
      const now = performance.now();
      // The delivery that begins the statement does not count, so one client that waits for each answer never makes a stock.
      const perMs = (demand.arrived - 1) / (now - begunAt);
      const wanted = Math.min(largestStock, Math.ceil(perMs * aheadMs));
      begunAt = now;
      demand.arrived = 0;
      demand.lowWater = wanted / 2;
      return wanted;
    },
  };
  return demand;
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

function refusal(candidates: readonly Candidate[], period: string): Refusal {
  const withRoom = candidates.filter(({ messageCount, monthlyLimit }) => messageCount < monthlyLimit).map(({ broker }) => broker);
  if (withRoom.length > 0 || candidates.length === 0) return { outcome: 'unreachable', withRoom };
  return { outcome: 'exhausted', period, counts: candidates.map(({ broker, messageCount, monthlyLimit }) => ({ broker, messageCount, monthlyLimit })) };
}
