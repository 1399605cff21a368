// The rows of the outbox that the rules make of events.
import type { RowColumns } from '../platform/postgres/rows.ts';
import { cleanNotice, type Notice } from './notifications/notice.ts';
import type { Match, Matchable, Rules } from './notifications/rules.ts';

export type NoticeRow = Notice & { readonly eventId: string; readonly rule: string };
export const noticeColumns: RowColumns<NoticeRow> = { eventId: 'uuid', rule: 'text', title: 'text', text: 'text', url: 'text' };

export type RecipientRow = { readonly eventId: string; readonly rule: string; readonly channel: string; readonly recipient: string };
export const recipientColumns: RowColumns<RecipientRow> = { eventId: 'uuid', rule: 'text', channel: 'text', recipient: 'text' };

/** An event as rules match it, and its notice. */
type Notified = Matchable & { readonly id: string; readonly notice: Notice };

/** A row for each rule that an event matches, and one for each recipient of the event. */
export function outboxRows(events: readonly Notified[], rules: Pick<Rules, 'match'>) {
  const matched = events.flatMap((event) => {
    const matches = rules.match(event);
    return matches.length === 0 ? [] : [{ eventId: event.id, matches, notice: cleanNotice(event.notice) }];
  });
  const notices = matched.flatMap(({ eventId, matches, notice }) => matches.map(({ rule }) => ({ eventId, rule, ...notice })));
  return { notices, recipients: matched.flatMap(({ eventId, matches }) => recipientsOf(eventId, matches)) };
}

/** Each once, under the first rule that names it. */
function recipientsOf(eventId: string, matches: readonly Match[]): RecipientRow[] {
  const rows = matches.flatMap(({ rule, recipients }) => recipients.map((one) => ({ eventId, rule, ...one })));
  return [...new Map(rows.toReversed().map((row) => [`${row.channel} ${row.recipient}`, row])).values()];
}
