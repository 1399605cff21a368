// Names that a payload gives, as what is behind the relay can hold them: headers of a message, text in Postgres.

/** As headers they must fit a frame of 128 KiB together; the forge's own have at most 50 characters. */
const maxLength = 255;

/** Postgres holds neither a NUL nor half a surrogate pair, and one such name would refuse all that is written with it. */
export function storable(name: string): string {
  const short = name.length > maxLength ? name.slice(0, maxLength) : name;
  // Nearly every name is well: to ask first takes a third of the time of mending all.
  return short.isWellFormed() && !short.includes('\0') ? short : short.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Empty when it is no text. */
export const nameOf = (value: unknown): string => (typeof value === 'string' ? storable(value) : '');
