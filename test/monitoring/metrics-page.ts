// Metrics as docs/metrics.md lists them and as processes tell them, to be compared: name, labels and help in a line each.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seriesOf } from './scraped.ts';

export const targetLabels = ['namespace', 'pod', 'job', 'instance'];
export const isOfOperator = (text: string): boolean => /^signalbox[-_]operator|^SignalboxOperator/.test(text);

export function listedMetrics(): string[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
  return [...page.matchAll(/^\| `(signalbox_\w+)` \| (.*?) \| (.*?) \|$/gm)].map(([, name = '', labels = '', help = '']) => `${name} ${labels} ${help}`).sort();
}

export function shownMetrics(texts: Readonly<Record<string, string>>): string[] {
  const series = seriesOf(texts);
  const helps = new Map(
    Object.values(texts).flatMap((text) => [...text.matchAll(/^# HELP (signalbox_\w+) (.*)$/gm)].map(([, name = '', help = '']) => [name, help] as const)),
  );
  return [...helps]
    .map(([name, help]) => {
      const of = series.filter(({ metric }) => [name, `${name}_count`].includes(metric));
      const labels = new Set(of.flatMap((one) => Object.keys(one.labels)).filter((label) => !targetLabels.includes(label)));
      return `${name} ${[...labels].map((label) => `\`${label}\``).join(', ')} ${help}`;
    })
    .sort();
}
