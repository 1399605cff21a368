// Who is notified of which events: the rules of the YAML file that `Notifications__RulesFile` names.
import picomatch from 'picomatch';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { ConfigError } from '../../platform/config/config.ts';
import { describeError } from '../../platform/errors.ts';
import { type Faults, parseInto } from '../../platform/faults.ts';

export const channels = ['smtp', 'push'] as const;
export type Channel = (typeof channels)[number];

/** A mail address, or a topic of the push server. */
export type Recipient = { readonly channel: Channel; readonly recipient: string };
/** A rule that an event matches, and who is told by it. */
export type Match = { readonly rule: string; readonly recipients: readonly Recipient[] };

/** What rules ask about. */
export type Matchable = {
  readonly source: string;
  readonly event: string;
  readonly action: string | null;
  readonly repository: string | null;
  readonly score: number;
  readonly senderClass: string | null;
};

export type Rules = {
  readonly channels: ReadonlySet<Channel>;
  /** One for each rule that the event matches, in the order of the file. */
  match(event: Matchable): Match[];
};

const glob = 'must be a name or a pattern of at most 200 characters';
const Glob = z.string({ error: glob }).min(1, glob).max(200, glob);
/** One or several, of which one must match. */
const Globs = z.union([Glob.transform((one) => [one]), z.array(Glob).min(1)], { error: 'must be a name or pattern, or a list of them that is not empty' });
const classes = ['owner', 'person', 'bot', 'own-bot'] as const;
const SenderClass = z.enum(classes, { error: `must be one of ${classes.join(', ')}` });
const score = 'must be a whole number from 0 to 10';
const list = { error: 'must be a list' };
const map: z.core.TypeParams<z.ZodObject> = {
  error: (issue) => (issue.code === 'unrecognized_keys' ? `has members that are not known: ${issue.keys.join(', ')}` : 'must be a map'),
};
const Topic = z.string({ error: 'must be a topic' }).regex(/^[-_A-Za-z0-9]{1,64}$/, 'must be a topic: 1 to 64 letters, digits, - and _');
const Address = z.string({ error: 'must be a mail address' }).max(254, 'must be a mail address').pipe(z.email('must be a mail address'));

export const isEmail = (text: string | undefined): text is string => Address.safeParse(text).success;

const Condition = z.strictObject(
  {
    source: Globs.optional(),
    event: Globs.optional(),
    action: Globs.optional(),
    repository: Globs.optional(),
    minimumScore: z.int({ error: score }).min(0, score).max(10, score).default(0),
    senderClass: z
      .union([SenderClass.transform((one) => [one]), z.array(SenderClass).min(1)], { error: `must be one or several of ${classes.join(', ')}` })
      .optional(),
  },
  map,
);

const Rule = z
  .strictObject(
    {
      name: z.string({ error: 'must be a name' }).regex(/^[-\w .]{1,64}$/, 'must be a name of 1 to 64 letters, digits, spaces, -, _ and .'),
      when: Condition.default({ minimumScore: 0 }),
      smtp: z.array(Address, list).max(100, 'must have at most 100 addresses').default([]),
      push: z.array(Topic, list).max(100, 'must have at most 100 topics').default([]),
    },
    map,
  )
  .refine(({ smtp, push }) => smtp.length + push.length > 0, 'must name somebody in smtp or push');
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
  const file = parseInto(RulesFile, parseYaml(text), { root: 'the file', faults });
  if (file) return createRules(file.rules);
  throw new ConfigError([...faults].flatMap(([place, reasons]) => reasons.map((reason) => `${rulesSetting}: ${place} ${reason}`)));
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    // The parser's message quotes lines of the file, of which a mistaken path could make anything.
    if (error instanceof YAMLParseError) throw new ConfigError([`${rulesSetting}: is not YAML at line ${error.linePos?.[0].line ?? '?'} (${error.code})`]);
    throw new ConfigError([`${rulesSetting}: is not YAML (${describeError(error)})`]);
  }
}

function createRules(rules: readonly Rule[]): Rules {
  const compiled = rules.map((rule) => ({ match: { rule: rule.name, recipients: recipientsOf(rule) }, matches: createCondition(rule.when) }));
  return {
    channels: new Set(compiled.flatMap(({ match }) => match.recipients.map(({ channel }) => channel))),
    match: (event) => compiled.filter(({ matches }) => matches(event)).map(({ match }) => match),
  };
}

/** Nobody twice: addresses are one in any letter case, as mail servers take them. */
function recipientsOf({ smtp, push }: Rule): Recipient[] {
  const addresses = new Set(smtp.map((address) => address.toLowerCase()));
  return [
    ...[...addresses].map((recipient) => ({ channel: 'smtp', recipient }) as const),
    ...[...new Set(push)].map((recipient) => ({ channel: 'push', recipient }) as const),
  ];
}

/** What a condition does not name may be anything; what it names must be there. */
function createCondition(when: Rule['when']): (event: Matchable) => boolean {
  const members = (['source', 'event', 'action', 'repository'] as const).flatMap((member) => {
    const globs = when[member];
    return globs ? [{ member, matches: picomatch(globs, { nocase: true, dot: true }) }] : [];
  });
  return (event) =>
    event.score >= when.minimumScore &&
    (!when.senderClass || when.senderClass.some((one) => one === event.senderClass)) &&
    members.every(({ member, matches }) => {
      const value = event[member];
      return value !== null && value !== '' && matches(value);
    });
}
