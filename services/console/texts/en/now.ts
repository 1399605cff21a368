// English texts of the first page.
import { countedIn } from '../plural/counted.ts';

const counted = countedIn('en-GB');

export const now = {
  well: 'All is well',
  wellLead: 'Every service is ready, and nothing was given up.',
  notWell: 'Something needs a look',
  notWhole: 'A service did not answer in time, or refused: parts of this page are missing.',
  waits: 'Waiting',
  listings: 'Listings to decide',
  links: 'Links to decide',
  lost: 'Lost deliveries of the last day',
  failedNotifications: 'Notifications that failed',
  failedWorkers: 'Workers whose last run failed',
  givenUp: 'Dead letters',
  oldestGivenUp: 'The oldest was given up',
  moreReasons: counted({ one: 'and # further reason', other: 'and # further reasons' }),
  allDeadLetters: 'All dead letters',
  expiring: 'Secrets that expire within 30 days',
  noneExpiring: 'None expires or has expired without a newer version in its place.',
  someExpired: 'Secrets have expired',
  secret: 'Secret',
  application: 'Application',
  environment: 'Environment',
  expires: 'Expires',
  furtherExpiring: 'There are more.',
  services: 'Services',
  noServices: 'This console has no address and credential of a service.',
  service: 'Service',
  state: 'State',
  names: { relay: 'Webhook relay', intake: 'Webhook intake', digest: 'Link digest', secrets: 'Secrets', bookmarks: 'Bookmarks', listings: 'Listings' },
  states: { ready: 'ready', unready: 'not ready', away: 'does not answer', slow: 'answers too late', refused: 'refuses the console' },
};
