// The alert rules: what promtool says of them, each with a case that makes it fire and one that does not, each with a runbook.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { type AlertCase, alertCases } from './alert-cases.ts';
import { readExpression } from './promql.ts';
import { promtool, ruleFiles, rules, runbooks } from './shipped.ts';

const run = promisify(execFile);

/** @returns promtool's output @throws with its output when it finds a fault */
async function runPromtool(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run('promtool', args).catch((error: unknown) => {
    const said = error instanceof Error && 'stdout' in error && 'stderr' in error ? `${error.stdout}${error.stderr}` : '';
    throw new Error(`promtool ${args.join(' ')}:\n${said}`, { cause: error });
  });
  return stdout + stderr;
}

const quoted = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(', ');

/** A file with the rules of one alert: promtool evaluates every rule of its files for each minute of each case. */
function rulesOf(alert: string, folder: string): string {
  const path = join(folder, `${alert}.json`);
  if (!existsSync(path)) writeFileSync(path, JSON.stringify({ groups: [{ name: alert, rules: rules.filter((rule) => rule.alert === alert) }] }));
  return path;
}

/** By the series ALERTS and not by promtool's own alert test, which would repeat every annotation here. */
function testFile({ alert, given, at, firing }: AlertCase, folder: string): string {
  const own = firing[0]?.['severity'] === undefined ? '' : `, severity="${firing[0]['severity']}"`;
  return JSON.stringify({
    rule_files: [rulesOf(alert, folder)],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(given).map(([series, values]) => ({ series, values })),
        promql_expr_test: [
          {
            expr: `ALERTS{alertname="${alert}", alertstate="firing"${own}}`,
            eval_time: at,
            exp_samples: firing.map((labels) => ({ labels: `ALERTS{${quoted({ alertname: alert, alertstate: 'firing', ...labels })}}`, value: 1 })),
          },
        ],
      },
    ],
  });
}

describeWith(promtool, 'alert rules', () => {
  const folder = temporaryDirectory('alerts');

  it('are rules to Prometheus', async () => {
    expect(await runPromtool('check', 'rules', ...ruleFiles)).to.not.match(/FAILED|error/i);
  });

  alertCases.forEach((one, index) => {
    it(`${one.alert} ${one.firing.length > 0 ? 'fires' : 'is silent'} ${one.when}`, async () => {
      const path = join(folder, `${index}.yaml`);
      writeFileSync(path, testFile(one, folder));
      expect(await runPromtool('test', 'rules', path)).to.include('SUCCESS');
    });
  });
});

describe('alerts', () => {
  const names = [...new Set(rules.map(({ alert }) => alert))];

  it('have cases in which they fire, each severity of them, and cases in which they do not', () => {
    const firing = (alert: string, severity: string) =>
      alertCases.some((one) => one.alert === alert && one.firing.some((labels) => labels['severity'] === severity));
    const silent = (alert: string) => alertCases.some((one) => one.alert === alert && one.firing.length === 0);
    expect(rules.filter(({ alert, labels: { severity } }) => !firing(alert, severity) || !silent(alert))).to.deep.equal([]);
    expect(alertCases.filter(({ alert }) => !names.includes(alert))).to.deep.equal([]);
  });

  it('name only labels that they have', () => {
    for (const { alert, annotations, labels } of rules) {
      const fired = alertCases.flatMap((one) => (one.alert === alert ? one.firing : [])).find(({ severity }) => severity === labels.severity);
      const named = [
        ...Object.values(annotations)
          .join(' ')
          .matchAll(/\$labels\.(\w+)/g),
      ].map(([, name = '']) => name);
      expect(Object.keys(fired ?? {}), alert).to.include.members(named);
    }
  });

  it('ask of a namespace in every selector, which the charts put in', () => {
    for (const { alert, expr } of rules)
      for (const { metric, matchers } of readExpression(expr).selectors)
        expect(matchers, `${alert}: ${metric}`).to.deep.include({ label: 'namespace', operator: '=~', value: '.+' });
  });

  it('have a runbook each', () => {
    expect(runbooks.map((path) => basename(path, '.md')).sort()).to.deep.equal([...names].sort());
    for (const { alert, annotations } of rules) expect(annotations.runbook_url).to.equal(`k8s/runbooks/${alert}.md`);
  });

  it('are listed in docs/metrics.md with their severity and how long they wait', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
    const listed = [...page.matchAll(/^\| \[`(\w+)`\]\(\.\.\/k8s\/runbooks\/\1\.md\) \| (\w+) \| ([\w ]+) \| .+ \|$/gm)].map(([, ...columns]) => columns);
    expect(listed).to.have.deep.members(rules.map((rule) => [rule.alert, rule.labels.severity, rule.for ?? 'at once']));
  });

  it('have runbooks that look for log lines which the services write', () => {
    const services = join(import.meta.dirname, '../../services');
    const sources = readdirSync(services, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
    const source = sources.map((path) => readFileSync(join(services, path), 'utf8')).join('\n');
    for (const path of runbooks)
      for (const [, phrase = ''] of readFileSync(path, 'utf8').matchAll(/grep '([^'"]+)'/g)) expect(source, `${path}: ${phrase}`).to.include(phrase);
  });
});
