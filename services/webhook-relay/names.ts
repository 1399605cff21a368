// Names that a payload gives, as what is behind the relay can hold them: headers of a message, text in Postgres.
import { storable } from '../platform/text.ts';

/** As headers they must fit a frame of 128 KiB together; the forge's own have at most 50 characters. */
const maxLength = 255;

/** One name that Postgres cannot store would refuse all that is written with it. */
export const storableName = (name: string): string => storable(name.length > maxLength ? name.slice(0, maxLength) : name);

/** Empty when it is no text. */
export const nameOf = (value: unknown): string => (typeof value === 'string' ? storableName(value) : '');
