// The tables of the score and their schema: the built-in file, and a mounted one that overrides single entries of it.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigError } from '../../platform/config/config.ts';
import { parseYaml, readFileOf } from '../../platform/config/yaml-file.ts';
import { isObject } from '../../platform/json.ts';

const map = { error: 'must be a map' };
const points = 'must be an integer from 1 to 10';
const Points = z.int({ error: points }).min(1, points).max(10, points);
const modifier = 'must be an integer from -9 to 9';
const Modifier = z.int({ error: modifier }).min(-9, modifier).max(9, modifier);
const factor = 'must be a number from 0 to 10';
const Factor = z.number({ error: factor }).min(0, factor).max(10, factor);
const rate = 'must be a number of events per minute, 0 or more';
const Rate = z.number({ error: rate }).min(0, rate);
const Name = z.string({ error: 'must be a name' }).min(1, 'must be a name');
const pattern = 'must be a name, with at most one * at its beginning or end';
const Pattern = z.string({ error: pattern }).regex(/^(\*?[^*]+|[^*]+\*)$/, pattern);
const list = { error: 'must be a list' };

const Frequency = z
  .array(z.strictObject({ from: Rate, factor: Factor }, { error: 'must be a map of from and factor' }), list)
  .refine((steps) => steps[0]?.from === 0, 'must begin with an entry from 0')
  .refine((steps) => steps.every(({ from }, n) => n === 0 || from > (steps[n - 1]?.from ?? from)), 'must be in ascending order of from');

/** The schema of `tables.yaml`, which explains each part. */
const Tables = z.strictObject(
  {
    base: z.record(Pattern, Points, map),
    unknownBase: Points,
    actions: z.record(Name, Modifier, map),
    hints: z.strictObject(
      {
        conclusionFailed: Modifier,
        stateFailed: Modifier,
        pushToDefaultBranch: Modifier,
        pushDeletesRef: Modifier,
        pullRequestMerged: Modifier,
      },
      map,
    ),
    failedConclusions: z.array(Name, list),
    failedStates: z.array(Name, list),
    classes: z.strictObject({ owner: Factor, person: Factor, bot: Factor, 'own-bot': Factor }, map),
    frequency: Frequency,
    securityAlerts: z.array(Pattern, list),
    coreFunctions: z.array(Name, list),
    coreFloor: z.strictObject({ people: Points, bots: Points }, map),
  },
  map,
);
export type Tables = z.output<typeof Tables>;

const builtIn = new URL('tables.yaml', import.meta.url);

/**
 * The built-in tables, with the entries of `file` over them: entries of maps are merged, a list or a single number takes the old one's place.
 * @throws ConfigError that names every place in the file that cannot be used, and what was expected there
 */
export function readTables(file?: string): Tables {
  const tables: unknown = parse(readFileSync(builtIn, 'utf8'));
  const result = Tables.safeParse(file === undefined ? tables : merge(tables, parseYaml('Scoring__File', readFileOf('Scoring__File', file))));
  if (result.success) return result.data;
  throw new ConfigError(result.error.issues.flatMap(faults).map((fault) => (file === undefined ? fault : `Scoring__File: ${fault}`)));
}

// An entry without a value (all below it commented out) overrides nothing.
function merge(tables: unknown, override: unknown): unknown {
  if (override === null || override === undefined) return tables;
  if (!isObject(tables) || !isObject(override)) return override;
  const merged: Record<string, unknown> = { ...tables };
  for (const [key, value] of Object.entries(override)) merged[key] = merge(merged[key], value);
  return merged;
}

function faults(issue: z.core.$ZodIssue): string[] {
  const place = (path: readonly PropertyKey[]) =>
    path
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
      .join('')
      .replace(/^\./, '') || 'the file';
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${place([...issue.path, key])} is not known here`);
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => `${place(issue.path)} ${message}`);
  return [`${place(issue.path)} ${issue.message}`];
}
