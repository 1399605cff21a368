// The rules of the YAML file that `Notifications__RulesFile` names: which events go to which recipients.
import picomatch from 'picomatch';
import { z } from 'zod';
import { ConfigError } from '../../platform/config/config.ts';
import { parseYaml } from '../../platform/config/yaml-file.ts';
import { type Faults, parseInto } from '../../platform/faults.ts';
import { pointerPath } from '../../platform/json.ts';
import { senderClasses } from '../contract.ts';
import { channels } from './channels.ts';

/** A mail address, a topic or a URL, by its channel. */
export type Recipient = { readonly channel: string; readonly recipient: string };
/** A rule that an event matches, and its recipients. */
export type Match = { readonly rule: string; readonly recipients: readonly Recipient[] };

/** The members of an event that conditions are about. */
export type Matchable = {
  readonly source: string;
  readonly forge: string | null;
  readonly event: string;
  readonly action: string | null;
  readonly repository: string | null;
  readonly score: number;
  readonly senderClass: string | null;
  /** A forge's payload is in GitHub's form. */
  readonly payload: unknown;
};

export type Rules = {
  /** The names of the channels that some rule has a recipient of. */
  readonly channels: ReadonlySet<string>;
  /** One for each rule that the event matches, in the order of the file. */
  match(event: Matchable): Match[];
};

const glob = 'must be a name or a pattern of at most 200 characters';
const Glob = z.string({ error: glob }).min(1, glob).max(200, glob);
/** One or several, of which one must match. */
const Globs = z.union([Glob.transform((one) => [one]), z.array(Glob).min(1)], { error: 'must be a name or pattern, or a list of them that is not empty' });
const SenderClass = z.enum(senderClasses, { error: `must be one of ${senderClasses.join(', ')}` });
const score = 'must be a whole number from 0 to 10';
const list = { error: 'must be a list' };
const map: z.core.TypeParams<z.ZodObject> = {
  error: (issue) => (issue.code === 'unrecognized_keys' ? `has members that are not known: ${issue.keys.join(', ')}` : 'must be a map'),
};
/** RFC 6901; `*` as a name means every element of a list or member of an object. */
const Pointer = z.string().regex(/^(\/[^/]*){1,10}$/);
const Expected = z.union([Globs, z.number().transform((one) => [one]), z.boolean().transform((one) => [one]), z.null().transform((one) => [one])], {
  error: 'must be a pattern, a list of patterns, a number, true, false or null',
});

const Condition = z.strictObject(
  {
    source: Globs.optional(),
    forge: Globs.optional(),
    event: Globs.optional(),
    action: Globs.optional(),
    repository: Globs.optional(),
    minimumScore: z.int({ error: score }).min(0, score).max(10, score).default(0),
    senderClass: z
      .union([SenderClass.transform((one) => [one]), z.array(SenderClass).min(1)], { error: `must be one or several of ${senderClasses.join(', ')}` })
      .optional(),
    payload: z
      .record(Pointer, Expected, {
        error: ({ code }) =>
          code === 'invalid_key' ? 'must be a JSON pointer of at most 10 names, such as /issue/labels/*/name' : 'must be a map of JSON pointers',
      })
      .default({}),
  },
  map,
);

const recipientsByChannel = Object.fromEntries(channels.map(({ name, recipients }) => [name, recipients]));
const names = channels.map(({ name }) => name);
const Lists = z.record(z.string(), z.array(z.string()));

const Rule = z
  .strictObject(
    {
      name: z.string({ error: 'must be a name' }).regex(/^[-\w .]{1,64}$/, 'must be a name of 1 to 64 letters, digits, spaces, -, _ and .'),
      when: Condition.default({ minimumScore: 0, payload: {} }),
      ...recipientsByChannel,
    },
    map,
  )
  .transform(({ name, when, ...recipients }) => ({
    name,
    when,
    // None twice.
    recipients: Object.entries(Lists.parse(recipients)).flatMap(([channel, list]) => [...new Set(list)].map((recipient) => ({ channel, recipient }))),
  }))
  .refine(({ recipients }) => recipients.length > 0, `must have a recipient in ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`);
type Rule = z.output<typeof Rule>;

const RulesFile = z.strictObject(
  {
    rules: z
      .array(Rule, list)
      .max(1000, 'must have at most 1000 rules')
      .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, 'must have a name of its own for each rule'),
  },
  map,
);

export const noRules: Rules = { channels: new Set(), match: () => [] };

export const rulesSetting = 'Notifications__RulesFile';

/** @throws ConfigError that names every place that cannot be used, and what was expected there */
export function parseRules(text: string): Rules {
  const faults: Faults = new Map();
  const file = parseInto(RulesFile, parseYaml(rulesSetting, text), { root: 'the file', faults });
  if (file) return createRules(file.rules);
  throw new ConfigError([...faults].flatMap(([place, reasons]) => reasons.map((reason) => `${rulesSetting}: ${place} ${reason}`)));
}

function createRules(rules: readonly Rule[]): Rules {
  const compiled = rules.map((rule) => ({ match: { rule: rule.name, recipients: rule.recipients }, matches: createCondition(rule.when) }));
  return {
    channels: new Set(compiled.flatMap(({ match }) => match.recipients.map(({ channel }) => channel))),
    match: (event) => compiled.filter(({ matches }) => matches(event)).map(({ match }) => match),
  };
}

/** A member that the condition does not name may be anything; one that it names must be there. */
function createCondition({ minimumScore, senderClass, payload, ...globs }: Rule['when']): (event: Matchable) => boolean {
  const members = (['source', 'forge', 'event', 'action', 'repository'] as const).flatMap((member) => {
    const patterns = globs[member];
    return patterns ? [{ member, matches: createMatcher(patterns) }] : [];
  });
  const inPayload = Object.entries(payload).map(([pointer, expected]) => ({ path: pointerPath(pointer), matches: createMatcher(expected) }));
  return (event) =>
    event.score >= minimumScore &&
    (!senderClass || senderClass.some((one) => one === event.senderClass)) &&
    members.every(({ member, matches }) => event[member] !== '' && event[member] !== null && matches(event[member])) &&
    inPayload.every(({ path, matches }) => valuesAt(event.payload, path).some(matches));
}

/** Matching a pattern takes time that grows with the cube of the text. */
const maxMatchedLength = 200;

/** A slash is a place where `*` stops in names and paths, and a letter as any other in sentences, which have spaces. */
const withoutSlashes = (text: string) => text.replaceAll('/', '\u2215');

function createMatcher(expected: readonly (string | number | boolean | null)[]): (value: unknown) => boolean {
  const patterns = expected.filter((one) => typeof one === 'string');
  const compile = (some: readonly string[]) => (some.length === 0 ? () => false : picomatch([...some], { nocase: true, dot: true }));
  const matchesName = compile(patterns);
  const matchesSentence = compile(patterns.map(withoutSlashes));
  return (value) => {
    if (typeof value !== 'string') return expected.some((one) => one === value);
    const text = value.slice(0, maxMatchedLength);
    return text !== '' && (/\s/.test(text) ? matchesSentence(withoutSlashes(text)) : matchesName(text));
  };
}

/** Elements of one list that are looked at. */
const mostElements = 1000;

function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return [value];
  if (typeof value !== 'object' || value === null) return [];
  const members: unknown[] =
    name === '*' ? Object.values(value).slice(0, mostElements) : Object.hasOwn(value, name) ? [Object.entries(value).find(([key]) => key === name)?.[1]] : [];
  return members.flatMap((member) => valuesAt(member, rest)).slice(0, mostElements);
}
