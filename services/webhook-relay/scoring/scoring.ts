// The priority of a forge delivery: points of its event and action, weighed by who sent it and how often. The numbers are in tables.yaml.
import { memberAt, storable } from '../../platform/json.ts';
import type { Priority } from '../contract.ts';
import type { Tables } from './tables.ts';

type SenderClass = keyof Tables['classes'];

/** A delivery without a sender counts as a person's. */
export type Score = Priority & { readonly senderClass: SenderClass };

type ScoreInput = {
  readonly event: string;
  /** Any parsed JSON: what is missing or of another type than expected counts as absent. */
  readonly payload: unknown;
  /** Events of this sender a minute, over the last ten minutes. */
  readonly eventsPerMinute: number;
};

export type Scoring = ReturnType<typeof createScoring>;

const isBot = (senderClass: SenderClass) => senderClass === 'bot' || senderClass === 'own-bot';

const clamp = (value: number, min: number, max: number) => Math.min(max, Math.max(min, value));

type ScoringOptions = { readonly tables: Tables; readonly ownerLogins: readonly string[]; readonly ownBotLogins: readonly string[] };

export function createScoring({ tables, ownerLogins, ownBotLogins }: ScoringOptions) {
  const baseOf = createPatternLookup(tables.base);
  const isSecurityAlert = createPatternLookup(Object.fromEntries(tables.securityAlerts.map((pattern) => [pattern, true])));
  const actions = new Map(Object.entries(tables.actions));
  const coreFunctions = new Set(tables.coreFunctions);
  const hintsOf = createHints(tables);
  const classOf = createClasses(ownerLogins, ownBotLogins);
  const coreMinimumOf = (senderClass: SenderClass) => (isBot(senderClass) ? tables.coreFloor.bots : tables.coreFloor.people);
  const frequencyFactor = (eventsPerMinute: number) => tables.frequency.findLast(({ from }) => eventsPerMinute >= from)?.factor ?? 1;

  // Integer hundredths: the product of a score has no rounding error, so that halves round up.
  function multiplierHundredths(event: string, senderClass: SenderClass, eventsPerMinute: number): number {
    const counted = isBot(senderClass) && isSecurityAlert(event) ? 'person' : senderClass;
    return clamp(Math.round(tables.classes[counted] * frequencyFactor(eventsPerMinute) * 100), 30, 120);
  }

  const actionPoints = (event: string, action: string) => (action === '' ? 0 : (actions.get(`${event}.${action}`) ?? actions.get(action) ?? 0));

  /** Pure; it never throws, whatever the payload. */
  function score({ event, payload, eventsPerMinute }: ScoreInput): Score {
    const eventType = storableName(event);
    const action = nameOf(memberAt(payload, 'action'));
    const sender = memberAt(payload, 'sender');
    const senderLogin = nameOf(memberAt(sender, 'login'));
    const senderClass = classOf(senderLogin, memberAt(sender, 'type'));
    const isCoreFunction = coreFunctions.has(eventType);

    const baseScore = baseOf(eventType) ?? tables.unknownBase;
    const actionModifier = actionPoints(eventType, action) + hintsOf(eventType, action, payload);
    const baseCalculatedScore = clamp(baseScore + actionModifier, 1, 10);
    const hundredths = senderLogin === '' ? 100 : multiplierHundredths(eventType, senderClass, eventsPerMinute);
    const ranked = clamp(Math.floor((baseCalculatedScore * hundredths + 50) / 100), 1, 10);
    const minimum = isCoreFunction ? coreMinimumOf(senderClass) : 1;
    const finalScore = Math.max(ranked, minimum);

    const senderMultiplier = hundredths / 100;
    const subject = `${eventType}${action && `.${action}`}${senderLogin && ` by ${senderLogin}`}`;
    const raised = ranked < minimum ? `, core at least ${minimum}` : '';
    const description = `${subject}: base ${baseScore} ${actionModifier < 0 ? '' : '+'}${actionModifier}, ${senderClass} ×${senderMultiplier}${raised}`;
    return {
      eventType,
      action,
      senderLogin,
      baseScore,
      actionModifier,
      baseCalculatedScore,
      senderMultiplier,
      finalScore,
      description,
      isCoreFunction,
      senderClass,
    };
  }

  return { score, frequencyFactor };
}

/** Logins are matched in any letter case, as the forge does. */
function createClasses(ownerLogins: readonly string[], ownBotLogins: readonly string[]) {
  const owners = new Set(ownerLogins.map((login) => login.toLowerCase()));
  const ownBots = new Set(ownBotLogins.map((login) => login.toLowerCase()));
  return (login: string, type: unknown): SenderClass => {
    if (login === '') return 'person';
    const lowerCase = login.toLowerCase();
    if (owners.has(lowerCase)) return 'owner';
    if (ownBots.has(lowerCase)) return 'own-bot';
    return lowerCase.endsWith('[bot]') || type === 'Bot' ? 'bot' : 'person';
  };
}

/** The points of a payload beyond its action, such as a push to the default branch. */
function createHints({ hints, failedConclusions, failedStates }: Tables) {
  const conclusions = new Set<unknown>(failedConclusions);
  const states = new Set<unknown>(failedStates);
  const forPush = (payload: unknown) => {
    const branch = memberAt(payload, 'repository', 'default_branch');
    const toDefault = typeof branch === 'string' && memberAt(payload, 'ref') === `refs/heads/${branch}`;
    return (toDefault ? hints.pushToDefaultBranch : 0) + (memberAt(payload, 'deleted') === true ? hints.pushDeletesRef : 0);
  };
  const ifFailed = (state: unknown) => (states.has(state) ? hints.stateFailed : 0);

  return (event: string, action: string, payload: unknown): number => {
    // The payload has the object of an event under the name of the event.
    const subject = memberAt(payload, event);
    if (event === 'push') return forPush(payload);
    if (event === 'status') return ifFailed(memberAt(payload, 'state'));
    if (event === 'deployment_status') return ifFailed(memberAt(subject, 'state'));
    if (event === 'pull_request') return action === 'closed' && memberAt(subject, 'merged') === true ? hints.pullRequestMerged : 0;
    return conclusions.has(memberAt(subject, 'conclusion')) ? hints.conclusionFailed : 0;
  };
}

/** Looks a name up in a table whose keys may end or begin with `*`: an exact key wins, then the pattern with the most letters. */
function createPatternLookup<T>(table: Readonly<Record<string, T>>): (name: string) => T | undefined {
  const patterns = Object.keys(table)
    .filter((key) => key.includes('*'))
    .toSorted((one, other) => other.length - one.length);
  const matches = (name: string, pattern: string) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name.endsWith(pattern.slice(1)));
  return (name) => {
    const key = Object.hasOwn(table, name) ? name : patterns.find((pattern) => matches(name, pattern));
    return key === undefined ? undefined : table[key];
  };
}

/** Names become headers of a message, which must fit a frame of 128 KiB together; the forge's own have at most 50 characters. */
const maxNameLength = 255;

/** A name of a payload as Postgres can store it: one that it refuses would fail the whole batch. */
export const storableName = (name: string): string => storable(name.length > maxNameLength ? name.slice(0, maxNameLength) : name);

/** Empty when the value is no string. */
export const nameOf = (value: unknown): string => (typeof value === 'string' ? storableName(value) : '');
