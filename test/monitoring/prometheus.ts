// A real Prometheus that scrapes the processes of a test every two seconds, with the alert rules of the chart.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../support/guard.ts';
import { eventually, freePort } from '../support/wait.ts';
import { ruleFiles } from './shipped.ts';
import type { Targets } from './scraped.ts';

const Result = z.object({
  data: z.object({ result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })) }),
});
const RuleState = z.object({ name: z.string(), health: z.string(), lastError: z.string().optional(), state: z.string() });
const RuleStates = z.object({ data: z.object({ groups: z.array(z.object({ rules: z.array(RuleState) })) }) });

export type Prometheus = {
  /** Labels of each series of the result now. */
  query(expression: string): Promise<readonly Readonly<Record<string, string>>[]>;
  /** Values of each series of the result now. */
  values(expression: string): Promise<readonly number[]>;
  rules(): Promise<readonly z.output<typeof RuleState>[]>;
  close(): Promise<void>;
};

/** The Prometheus operator adds a target label `service`: none of our metrics has one of that name, which would be renamed or hide it. */
const scrapeConfig = (targets: Targets) => ({
  global: { scrape_interval: '2s', evaluation_interval: '1s' },
  rule_files: ruleFiles,
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

export async function startPrometheus(targets: Targets): Promise<Prometheus> {
  const folder = temporaryDirectory('prometheus');
  const config = join(folder, 'prometheus.json');
  writeFileSync(config, JSON.stringify(scrapeConfig(targets)));
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
    async close() {
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGTERM');
      await ended;
    },
  };
}
