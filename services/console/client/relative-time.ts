// `3 hours ago`, `in 5 days`: of pages as they are written, and of the script while they stay open.

const spans = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** @param seconds from now; below 0 in the past */
export function relativeTime(format: Intl.RelativeTimeFormat, seconds: number): string {
  const [unit, length] = spans.find(([, span]) => Math.abs(seconds) >= span) ?? ['second', 1];
  return format.format(Math.trunc(seconds / length), unit);
}
