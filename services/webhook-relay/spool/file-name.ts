// The name of a spool file: its time first, so that names sort by age; the message's id; the tries that were refused.
import { createHash } from 'node:crypto';

export type SpoolFile = {
  readonly name: string;
  readonly spooledAt: Date;
  /** How often every connection refused it. In the name, because a rename counts a try without writing the payload again. */
  readonly tries: number;
};

const pattern = /^(\d{4}-\d\d-\d\dT)(\d\d)(\d\d)(\d\d\.\d{3}Z)_([\w-]{1,64})\.(\d{1,6})\.payload$/;

export function nameFile(spooledAt: Date, messageId: string): string {
  const id = /^[\w-]{1,64}$/.test(messageId) ? messageId : createHash('sha256').update(messageId).digest('hex');
  return `${spooledAt.toISOString().replaceAll(':', '')}_${id}.0.payload`;
}

/** Undefined for a name that is none of ours. */
export function parseFileName(name: string): SpoolFile | undefined {
  const [, date, hours, minutes, seconds, , tries] = pattern.exec(name) ?? [];
  const spooledAt = new Date(`${date}${hours}:${minutes}:${seconds}`);
  return Number.isNaN(spooledAt.getTime()) ? undefined : { name, spooledAt, tries: Number(tries) };
}

export const withTries = (name: string, tries: number): string => name.replace(/\.\d+\.payload$/, `.${tries}.payload`);
