// Text that Postgres can store: neither text nor jsonb takes NUL, and UTF-8 has no half of a surrogate pair.

/** Whether Postgres takes it as it is. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Each character that cannot be stored becomes U+FFFD. To ask first takes a third of the time of mending all. */
export const storable = (text: string): string => (isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\ufffd'));
