// The stock of reservations under load (ADR 11): deliveries that come while a statement runs take from it without waiting for a commit.
import { periodOf, type Reservation } from './store.ts';

type StockParts = {
  readonly giveBack: (reservation: Reservation, count: number) => void;
  /** Whether a statement is under way: it confirms a stock that expires meanwhile, or returns it. */
  readonly isAsking: () => boolean;
  readonly clock: () => Date;
  /** A stock is spent for so long after it was last confirmed: a switch or reset on another replica takes effect within it. */
  readonly stockMs: number;
};

export function createStock({ giveBack, isAsking, clock, stockMs }: StockParts) {
  /** Undefined once it is too old to be spent. */
  let expiry: NodeJS.Timeout | undefined;
  let reservation: Reservation | undefined;

  const stock = {
    count: 0,
    /** The connections that its deliveries may not use, as in `reserve`. */
    unusable: '',
    returnAll(): void {
      clearTimeout(expiry);
      expiry = undefined;
      if (reservation) giveBack(reservation, stock.count);
      reservation = undefined;
      stock.count = 0;
    },
    /** Adds to a stock of the same count and confirms it; another is returned. */
    confirm(unusable: string, given: Reservation, count: number): void {
      if (stock.unusable !== unusable || reservation?.generation !== given.generation) stock.returnAll();
      clearTimeout(expiry);
      stock.unusable = unusable;
      reservation = given;
      stock.count += count;
      expiry = setTimeout(expire, stockMs);
    },
    /** Undefined where there is none for deliveries like these. */
    take(unusable: string): Reservation | undefined {
      if (!expiry || stock.unusable !== unusable || stock.count === 0 || reservation?.period !== periodOf(clock())) return undefined;
      stock.count -= 1;
      return reservation;
    },
  };

  function expire(): void {
    if (isAsking()) expiry = undefined;
    else stock.returnAll();
  }
  return stock;
}
