// The charts' alert rules and dashboards, and the runbooks, as tests read them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Need } from '../support/need.ts';
import { findProgram } from '../support/programs.ts';

const root = join(import.meta.dirname, '../..');
/** The alerts of both charts. */
const shipped = (folder: string, ending: string) =>
  ['signalbox', 'signalbox-operator'].flatMap((chart) => filesIn(join(root, 'charts', chart, 'files', folder), ending));
const filesIn = (folder: string, ending: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

const Rule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['info', 'warning', 'critical']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
});
export type Rule = z.output<typeof Rule>;
const RuleFile = z.strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(Rule) })) });

export const ruleFiles = shipped('alerts', '.yaml');
export const ruleGroups = ruleFiles.flatMap((path) => RuleFile.parse(parse(readFileSync(path, 'utf8'))).groups);
export const rules = ruleGroups.flatMap((group) => group.rules);

export const runbookFolder = join(root, 'k8s/runbooks');
export const runbooks = filesIn(runbookFolder, '.md');

const Target = z.looseObject({ expr: z.string(), legendFormat: z.string().optional(), refId: z.string(), instant: z.boolean(), range: z.boolean() });
const Panel = z.looseObject({
  id: z.int(),
  title: z.string(),
  type: z.string(),
  description: z.string().optional(),
  gridPos: z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  datasource: z.strictObject({ type: z.literal('prometheus'), uid: z.string() }).optional(),
  fieldConfig: z.looseObject({ defaults: z.looseObject({ unit: z.string().optional(), noValue: z.string().optional() }) }).optional(),
  targets: z.array(Target).default([]),
});
export type Panel = z.output<typeof Panel>;
const Variable = z.looseObject({ name: z.string(), type: z.string(), query: z.union([z.string(), z.looseObject({ query: z.string() })]) });
const Dashboard = z.looseObject({
  title: z.string(),
  uid: z.string(),
  schemaVersion: z.int(),
  tags: z.array(z.string()),
  links: z.array(z.looseObject({ tags: z.array(z.string()) })),
  annotations: z.strictObject({ list: z.array(z.looseObject({ expr: z.string().optional() })) }),
  templating: z.strictObject({ list: z.array(Variable) }),
  panels: z.array(Panel),
});
export type Dashboard = z.output<typeof Dashboard>;

export const dashboards: readonly { readonly path: string; readonly text: string; readonly dashboard: Dashboard }[] = shipped('dashboards', '.json').map(
  (path) => {
    const text = readFileSync(path, 'utf8');
    return { path, text, dashboard: Dashboard.parse(JSON.parse(text)) };
  },
);

const programNeed = (name: string): Need => ({
  name,
  missing: findProgram(name) === undefined ? `no ${name} on PATH; Debian's package prometheus has it` : undefined,
});

export const promtool = programNeed('promtool');
export const prometheus = programNeed('prometheus');
