// Days as forms and addresses have them, in the zone of the person.
import { dayMs } from '../platform/time.ts';
const day = /^\d{4}-\d{2}-\d{2}$/;

/** When the day begins in the zone, or so many days later; anything else, and a day before 1970, is left to the service, which says what is wrong with it. */
export function instantOf(given: string | undefined, zone: string, addedDays = 0): string | undefined {
  if (given === undefined || !day.test(given)) return given;
  const midnight = Date.parse(`${given}T00:00:00Z`) + addedDays * dayMs;
  if (Number.isNaN(midnight) || midnight < 0) return given;
  // Once more with the offset of that time: clocks may have changed in between.
  const guess = midnight - offsetOf(midnight, zone);
  return new Date(midnight - offsetOf(guess, zone)).toISOString();
}

function offsetOf(instant: number, zone: string): number {
  // Sweden writes ISO 8601 but for the `T`.
  const wall = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(instant);
  return Date.parse(`${wall.replace(' ', 'T')}Z`) - Math.floor(instant / 1000) * 1000;
}
