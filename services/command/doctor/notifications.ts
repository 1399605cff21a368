// The doctor asks the intake for notifications that are not sent.
import { z } from 'zod';
import { Notification } from '../../webhook-intake/dashboard/contract.ts';
import type { Installation } from '../installation.ts';
import type { Check, Finding } from './finding.ts';

const Notifications = z.object({ items: z.array(Notification.pick({ channel: true, recipient: true, status: true, lastError: true })) });
type Told = z.output<typeof Notifications>['items'][number];

const subject = 'notifications';

export const notificationChecks = (installation: Installation): Check[] =>
  installation.canAsk('webhook-intake') ? [{ subject, run: () => lookAtNotifications(installation) }] : [];

async function lookAtNotifications(installation: Installation): Promise<readonly Finding[]> {
  const [pending, failed] = await Promise.all(
    ['pending', 'failed'].map((status) => installation.ask('webhook-intake', { path: `/api/v1/notifications?status=${status}&limit=200` }, Notifications)),
  );
  return notificationFindings([...(pending?.items ?? []), ...(failed?.items ?? [])]);
}

/** One for each channel and reason, with the newest recipient. Messages that were not tried yet are well. */
export function notificationFindings(messages: readonly Told[]): readonly Finding[] {
  const groups = Map.groupBy(
    messages.filter(({ lastError }) => lastError !== null),
    ({ channel, status, lastError }) => `${channel} ${status} ${lastError}`,
  );
  if (groups.size === 0) return [{ subject, state: 'ok', detail: 'none failed' }];
  return [...groups.values()].flatMap((group): Finding[] => {
    const [first] = group;
    if (!first) return [];
    const isPending = first.status === 'pending';
    return [
      {
        subject,
        state: 'warning',
        detail: `${first.channel}, ${isPending ? 'tried again' : 'given up'}: ${group.length}; to ${first.recipient}: ${first.lastError ?? ''}`,
        toDo: isPending
          ? 'see whether its server answers, and takes login and recipient; the settings are Notifications__…'
          : 'end the cause, then send them again: docs/notifications.md says how',
      },
    ];
  });
}
