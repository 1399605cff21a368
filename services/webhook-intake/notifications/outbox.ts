// What is to be told of events, as rows of the outbox: one for each rule that an event matches, and one for each recipient of the event.
import { cleanNotice, type Notice } from './notice.ts';
import type { Match, Matchable, Rules } from './rules.ts';

type Told = Matchable & { readonly id: string; readonly notice: Notice };

/** As JSON, for the statement that stores the events. */
export function outboxRows(events: readonly Told[], rules: Pick<Rules, 'match'>): { readonly notices: string; readonly recipients: string } {
  const matched = events.flatMap((event) => {
    const matches = rules.match(event);
    return matches.length === 0 ? [] : [{ eventId: event.id, matches, notice: cleanNotice(event.notice) }];
  });
  const notices = matched.flatMap(({ eventId, matches, notice }) => matches.map(({ rule }) => ({ eventId, rule, ...notice })));
  return { notices: JSON.stringify(notices), recipients: JSON.stringify(matched.flatMap(({ eventId, matches }) => recipientsOf(eventId, matches))) };
}

/** Each once, under the first rule that names it. */
function recipientsOf(eventId: string, matches: readonly Match[]) {
  const rows = matches.flatMap(({ rule, recipients }) => recipients.map((one) => ({ eventId, rule, ...one })));
  return [...new Map(rows.toReversed().map((row) => [`${row.channel} ${row.recipient}`, row])).values()];
}
