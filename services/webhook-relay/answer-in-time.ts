// Bounds what a person or a dashboard waits for a database that hangs: the pool's own limits leave housekeeping its time.
import { Common } from '../platform/problem.ts';
import { withTimeout } from '../platform/time.ts';

export const patienceMs = 2000;

/** @throws Problem 503 when `asked` has not settled in time; what it does goes on */
export const answerInTime = <T>(asked: Promise<T>): Promise<T> =>
  withTimeout(asked, patienceMs, () => {
    throw Common.unavailable({ detail: 'The database does not answer in time.', headers: { 'Retry-After': '5' } });
  });
