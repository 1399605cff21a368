// The forge queue's worker: deliveries become events in the log, each with the text of its notifications.
import { v7 as uuidv7 } from 'uuid';
import { forges } from '../../forges/forges.ts';
import type { BatchHandler, Delivery } from '../../platform/broker/broker.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { integerAt, isObject, type JsonObject, memberAt, objectAt, storable, textAt } from '../../platform/json.ts';
import { type LoggedEvent, measureEvents, storeEvents } from '../event-log.ts';
import type { Notice } from '../notifications/notice.ts';
import { noRules, type Rules } from '../notifications/rules.ts';
import { type BatchWorkerParts, createBatchWorker } from './batch-worker.ts';
import { readDelivery } from '../delivery.ts';

type ServiceWorkerParts = BatchWorkerParts & {
  readonly database: Database;
  /** Default: no rules, so no notifications. */
  readonly rules?: Pick<Rules, 'match'>;
};

export function createServiceWorker({ database, rules = noRules, ...parts }: ServiceWorkerParts): BatchHandler {
  const count = measureEvents(
    parts.metrics,
    forges.map(({ kind }) => ({ source, forge: kind })),
  );
  const store = async (events: readonly LoggedEvent[]) => {
    const areNew = await storeEvents(database, events, rules);
    count(events, areNew);
    return areNew;
  };
  return createBatchWorker({ worker: 'service', queue: 'forge', read: readEvent, store }, parts);
}

const source = 'forge';

async function readEvent(delivery: Delivery, maxValues: number): Promise<LoggedEvent> {
  const read = await readDelivery(delivery, maxValues);
  return {
    ...read,
    id: uuidv7({ msecs: read.receivedAt.getTime() }),
    source,
    number: subjectNumber(read.payload),
    headers: Object.fromEntries(Object.entries(delivery.headers).map(([name, value]) => [name, storable(value)])),
    body: delivery.body,
    isGzip: delivery.contentEncoding === 'gzip',
    notice: noticeOf(read, read.payload),
  };
}

const maxInt = 2 ** 31 - 1;

/** The number of the issue or pull request that the event is about. */
function subjectNumber(payload: unknown): number | null {
  const number = integerAt(payload, 'pull_request', 'number') ?? integerAt(payload, 'issue', 'number');
  return number !== undefined && number > 0 && number <= maxInt ? number : null;
}

/** The objects that an event may be about, by their place in the payload; what says the most first. */
const subjects = [
  'comment',
  'review',
  'pull_request',
  'issue',
  'sub_issue',
  'parent_issue',
  'blocked_issue',
  'blocking_issue',
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
  'merge_group.head_commit',
  'package',
  'registry_package',
  'label',
  'key',
  'rule',
  'repository_ruleset',
  'repository_advisory',
  'exemption_request',
  'projects_v2',
  'projects_v2_status_update',
  'personal_access_token_request',
  'definition',
  'build.error',
  'forkee',
  'team',
  'member',
  'membership.user',
  'invitation',
  'blocked_user',
  'sponsorship.sponsor',
  'marketplace_purchase.account',
  'account',
].map((place) => place.split('.'));
/** Members that name an object, in the order of preference. */
const titles = [
  'title',
  'display_title',
  'full_name',
  'name',
  'tag_name',
  'summary',
  'message',
  'environment',
  'login',
  'secret_type_display_name',
  'secret_type',
  'affected_package_name',
  'token_name',
  'property_name',
  'head_branch',
];
/** The account of an event without a repository. */
const accounts = [['organization'], ['installation', 'account'], ['enterprise'], ['package', 'owner']];
/** Where a package has its version. */
const versions = [
  ['package', 'version'],
  ['package', 'package_version', 'version'],
  ['registry_package', 'package_version', 'version'],
];
/** Where an event that renames or transfers has the name from before. */
const formerNames = [
  ['repository', 'name', 'from'],
  ['owner', 'from', 'organization', 'login'],
  ['owner', 'from', 'user', 'login'],
  ['login', 'from'],
];

type Told = Pick<LoggedEvent, 'event' | 'action' | 'repository' | 'sender'>;

/** Total: members of another kind than expected count as absent. The texts are the payload's own; channels cut and escape them. */
export function noticeOf({ event, action, repository, sender }: Told, payload: unknown): Notice {
  const objects = [...subjects.flatMap((place) => objectAt(payload, ...place) ?? []), ...advisoryOf(payload), ...wikiPageOf(payload)];
  const first = (members: readonly string[]) => firstOf(members.flatMap((member) => objects.map((object) => textAt(object, member))));
  const number = integerAt(payload, 'pull_request', 'number') ?? integerAt(payload, 'issue', 'number');
  const called = (first(titles) ?? textAt(payload, 'context') ?? textAt(payload, 'environment') ?? textAt(payload, 'ref'))?.split('\n')[0];
  const what = [event, action, number !== undefined && `#${number}`].filter(Boolean).join(' ');
  const place = repository ?? firstOf(accounts.map((account) => textAt(payload, ...account, 'login') ?? textAt(payload, ...account, 'slug')));
  return {
    title: `${place === undefined ? '' : `[${place}] `}${what}${called === undefined ? '' : `: ${called}`}`,
    text: linesOf(payload, { sender, called, first }),
    url:
      firstOf([
        first(['html_url']),
        textAt(payload, 'compare'),
        textAt(payload, 'target_url'),
        textAt(payload, 'repository_ruleset', '_links', 'html', 'href'),
        textAt(payload, 'alert', 'external_reference'),
        textAt(firstIn(memberAt(payload, 'security_advisory', 'references')), 'url'),
        textAt(payload, 'repository', 'html_url'),
        textAt(payload, 'installation', 'html_url'),
      ]) ?? null,
  };
}

type Titled = Pick<Told, 'sender'> & { readonly called: string | undefined; readonly first: (members: readonly string[]) => string | undefined };

function linesOf(payload: unknown, { sender, called, first }: Titled): string {
  const result = first(['conclusion', 'state']) ?? textAt(payload, 'state') ?? textAt(payload, 'build', 'status');
  const member = textAt(payload, 'member', 'login');
  const version = firstOf(versions.map((place) => textAt(payload, ...place)));
  const former = firstOf(formerNames.map((place) => textAt(payload, 'changes', ...place)));
  return [
    sender !== null && `By ${sender}`,
    member !== undefined && member !== called && `Member: ${member}`,
    version !== undefined && `Version: ${version}`,
    former !== undefined && `Formerly: ${former}`,
    result !== undefined && `State: ${result}`,
    first(['body', 'description', 'message']),
  ]
    .filter(Boolean)
    .join('\n');
}

/** The name of what an alert of Dependabot or of code scanning found. */
function advisoryOf(payload: unknown): JsonObject[] {
  const title = textAt(payload, 'alert', 'security_advisory', 'summary') ?? textAt(payload, 'alert', 'rule', 'description');
  return title === undefined ? [] : [{ title }];
}

/** The first page of an edited wiki. */
function wikiPageOf(payload: unknown): JsonObject[] {
  const page = firstIn(memberAt(payload, 'pages'));
  return isObject(page) ? [{ title: page['title'] ?? page['page_name'], body: page['summary'], html_url: page['html_url'] }] : [];
}

const firstIn = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);
const firstOf = (texts: readonly (string | undefined)[]): string | undefined => texts.find((text) => text !== undefined);
