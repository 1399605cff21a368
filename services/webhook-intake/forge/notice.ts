// What a person is told of a forge event: in its title what happened where, in its text who did it and the words of the payload.
import type { LoggedEvent } from '../event-log.ts';
import type { Notice } from '../notifications/notice.ts';
import { integerAt, objectAt, textAt } from './delivery.ts';

/** The objects that an event may be about, what says the most first. */
const subjects = [
  'comment',
  'review',
  'pull_request',
  'issue',
  'discussion',
  'release',
  'workflow_run',
  'workflow_job',
  'check_run',
  'check_suite',
  'alert',
  'security_advisory',
  'deployment_status',
  'deployment',
  'milestone',
  'head_commit',
];
/** What an object is called, in the order of preference. */
const titles = ['title', 'display_title', 'name', 'tag_name', 'summary', 'message', 'environment'];

type Told = Pick<LoggedEvent, 'event' | 'action' | 'repository' | 'sender'>;

/** Total: members of another kind than expected count as absent. The texts are the payload's own; whoever sends them cuts and escapes them. */
export function noticeOf({ event, action, repository, sender }: Told, payload: unknown): Notice {
  const objects = subjects.flatMap((subject) => objectAt(payload, subject) ?? []);
  const first = (members: readonly string[]) => firstOf(members.flatMap((member) => objects.map((object) => textAt(object, member))));
  const number = integerAt(payload, 'pull_request', 'number') ?? integerAt(payload, 'issue', 'number');
  const called = (first(titles) ?? textAt(payload, 'ref'))?.split('\n')[0];
  const what = [event, action, number !== undefined && `#${number}`].filter(Boolean).join(' ');
  const result = first(['conclusion', 'state']) ?? textAt(payload, 'state');
  const lines = [sender !== null && `By ${sender}`, result !== undefined && `State: ${result}`, first(['body', 'description', 'message'])];
  return {
    title: `${repository === null ? '' : `[${repository}] `}${what}${called === undefined ? '' : `: ${called}`}`,
    text: lines.filter(Boolean).join('\n'),
    url: firstOf([first(['html_url']), textAt(payload, 'compare'), textAt(payload, 'target_url'), textAt(payload, 'repository', 'html_url')]) ?? null,
  };
}

const firstOf = (texts: readonly (string | undefined)[]): string | undefined => texts.find((text) => text !== undefined);
