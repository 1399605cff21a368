// Days of a time zone, as the instants at which they begin.

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Names of the IANA time zone database, in any case; undefined for anything else, offsets included. */
export function timeZone(name: string): string | undefined {
  if (!/^[a-z]/i.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined; // RangeError: there is no such zone
  }
}

/** @returns when the day began in which an instant lies; that is another hour than 0 where clocks were put forward at midnight */
export function createDayStart(zone: string): (instant: Date) => Date {
  // Sweden writes ISO 8601 but for the `T`: 2026-03-04 18:00:00.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  /** What a clock on the wall shows, as if it were UTC. */
  const wallClock = (ms: number): number => Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
  const known = new Map<number, Date>();

  function find(instant: number): Date {
    const wall = wallClock(instant);
    const midnight = wall - (((wall % dayMs) + dayMs) % dayMs);
    // The offset may change within the day: midnight is tried with that of the day before too, and the first hit counts.
    const offsets = [wallClock(instant - dayMs) - (instant - dayMs), wall - instant];
    const starts = offsets.map((offset) => midnight - offset).filter((start) => wallClock(start) >= midnight);
    return new Date(Math.min(...starts, instant));
  }

  return (instant) => {
    const whole = Math.floor(instant.getTime() / 1000) * 1000;
    const found = known.get(whole) ?? find(whole);
    known.set(whole, found);
    return found;
  };
}
