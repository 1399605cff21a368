// A real Prometheus that scrapes the processes of a test every two seconds, with the alert rules of the charts or those of a test.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../support/guard.ts';
import { eventually, freePort } from '../support/wait.ts';
import { type Rule, ruleFiles } from './shipped.ts';
import type { Targets } from './scraped.ts';

const Result = z.object({
  data: z.object({ result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })) }),
});
const RuleState = z.object({ name: z.string(), health: z.string(), lastError: z.string().optional(), state: z.string() });
const Alert = z.object({ state: z.string(), labels: z.record(z.string(), z.string()), annotations: z.record(z.string(), z.string()) });
const Alerts = z.object({ data: z.object({ alerts: z.array(Alert) }) });
const RuleStates = z.object({ data: z.object({ groups: z.array(z.object({ rules: z.array(RuleState) })) }) });

export type Prometheus = {
  /** Labels of each series of the result now. */
  query(expression: string): Promise<readonly Readonly<Record<string, string>>[]>;
  /** Values of each series of the result now. */
  values(expression: string): Promise<readonly number[]>;
  rules(): Promise<readonly z.output<typeof RuleState>[]>;
  /** Alerts that are pending or firing now. */
  alerts(): Promise<readonly z.output<typeof Alert>[]>;
  close(): Promise<void>;
};

/** The Prometheus operator adds a target label `service`: none of our metrics has one of that name, which would be renamed or hide it. */
const scrapeConfig = (targets: Targets, rules: readonly string[]) => ({
  global: { scrape_interval: '2s', evaluation_interval: '1s' },
  rule_files: rules,
  scrape_configs: [
    {
      job_name: 'signalbox',
      static_configs: Object.entries(targets).map(([pod, url]) => ({
        targets: [new URL(url).host],
        labels: { namespace: 'signalbox', pod, service: 'of-the-target' },
      })),
    },
  ],
});

/** @param rules paths of rule files */
export async function startPrometheus(targets: Targets, rules: readonly string[] = ruleFiles): Promise<Prometheus> {
  const folder = temporaryDirectory('prometheus');
  const config = join(folder, 'prometheus.json');
  writeFileSync(config, JSON.stringify(scrapeConfig(targets, rules)));
  const address = `127.0.0.1:${await freePort()}`;
  const options = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=${address}`, '--log.level=error'];
  const child = spawnGuarded('prometheus', options, { stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://${address}${path}`);
    if (!response.ok) throw new Error(`Prometheus answers ${response.status} to ${path}: ${await response.text()}`);
    return response.json();
  };
  await eventually(() => fetch(`http://${address}/-/ready`).then(({ ok }) => ok), { withinMs: 60_000 });
  const ask = async (expression: string) => Result.parse(await get(`/api/v1/query?query=${encodeURIComponent(expression)}`)).data.result;
  return {
    query: async (expression) => (await ask(expression)).map(({ metric }) => metric),
    values: async (expression) => (await ask(expression)).map(({ value: [, value] }) => Number(value)),
    rules: async () => RuleStates.parse(await get('/api/v1/rules')).data.groups.flatMap((group) => group.rules),
    alerts: async () => Alerts.parse(await get('/api/v1/alerts')).data.alerts,
    async close() {
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGTERM');
      await ended;
    },
  };
}

/** The shipped rules, which fire as soon as they hold, and look back for 20 seconds instead of minutes. */
export function impatientRules(): readonly string[] {
  const folder = temporaryDirectory('rules');
  return ruleFiles.map((path) => {
    const file: { groups: { rules: Partial<Rule>[] }[] } = parse(readFileSync(path, 'utf8'));
    for (const rule of file.groups.flatMap((group) => group.rules)) {
      delete rule.for;
      rule.expr = rule.expr?.replaceAll(/\[\d+[mh]\]/g, '[20s]') ?? '';
    }
    const changed = `${folder}/${basename(path)}`;
    writeFileSync(changed, stringify(file));
    return changed;
  });
}
