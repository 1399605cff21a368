// The calendar month, in UTC, that a message counts in.

/** `2026-01` */
export const periodOf = (date: Date): string => date.toISOString().slice(0, 7);
