// Bounds what a person or a dashboard waits for a database that hangs: the pool's own limits leave housekeeping its time.
import { Common } from '../platform/problem.ts';

const patienceMs = 2000;

/** @throws Problem 503 when `asked` has not settled in time; what it does goes on */
export async function answerInTime<T>(asked: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const refuse = () => late.reject(Common.unavailable({ detail: 'The database does not answer in time.', headers: { 'Retry-After': '5' } }));
  const timer = setTimeout(refuse, patienceMs);
  try {
    return await Promise.race([asked, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
