// All SQL of the senders' readers.
import { type Database, statement } from '../../../platform/postgres/pool.ts';
import type { Sender } from '../../contract.ts';

// From one sender to the next by index, then each one's first, newest and number of events by the same index.
const senders = statement<Sender, [after: string, rows: number]>(
  'dashboard.senders',
  `
  with recursive logins as (
    (select sender, 1 as row from events where sender > $1 order by sender limit 1)
    union all
    select (select e.sender from events e where e.sender > logins.sender order by e.sender limit 1), row + 1
    from logins where logins.sender is not null and row < $2
  )
  select logins.sender, newest.sender_class as "senderClass", total.events, oldest.received_at as "firstEventAt", newest.received_at as "lastEventAt"
  from logins
  cross join lateral (select e.sender_class, e.received_at from events e where e.sender = logins.sender order by e.received_at desc, e.id desc limit 1) newest
  cross join lateral (select e.received_at from events e where e.sender = logins.sender order by e.received_at, e.id limit 1) oldest
  cross join lateral (select count(*) as events from events e where e.sender = logins.sender) total
  where logins.sender is not null
  order by logins.sender`,
);

export type SenderStore = ReturnType<typeof createSenderStore>;

export const createSenderStore = (database: Database) => ({
  /** In order of their logins, those behind `after`. */
  list: (after: string, rows: number) => database.all(senders, after, rows),
});
