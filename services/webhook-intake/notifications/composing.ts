// Which notifications of one recipient become a message now: at most so many messages an hour, the last of which tells all the rest.

export type Load = {
  /** Messages that wait to be sent. */
  readonly pending: number;
  /** Sent within the last hour. */
  readonly sent: number;
};

/** A digest stays a mail of some hundred kilobytes. */
export const longestDigest = 1000;

/**
 * Messages that wait count, so that an outage saves up no burst beyond the cap. The last one of an hour is a digest, and is made when
 * those before it are sent: what comes up during an outage is all in it.
 * @param waiting oldest first, at least one @returns the notifications of each message
 */
export function compose<Id>(waiting: readonly Id[], maxPerHour: number, { pending, sent }: Load): Id[][] {
  const free = maxPerHour - pending - sent;
  if (free <= 0) return [];
  if (free > 1) return waiting.slice(0, free - 1).map((id) => [id]);
  return pending === 0 ? [waiting.slice(0, longestDigest)] : [];
}
