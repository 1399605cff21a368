// Generates docs/metrics.md: metrics as the code declares them, and alerts as the charts' rules have them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { parse } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');

const preface = `# Metrics and alerts

[Documentation](README.md) › Metrics and alerts · how to switch them on: [Monitoring](monitoring.md)

This page is generated from the code and the charts' rules (\`npm run generate\`); tests compare it with what processes serve.

## Metrics
`;

type Metric = { readonly name: string; readonly labels: readonly string[]; readonly help: string };

const textIn = (node: ts.Node | undefined): string | undefined => (node && ts.isStringLiteralLike(node) ? node.text : undefined);

/** @returns the value of a member of an object literal; it may come from a constant of the file that is spread into the object */
function memberOf(object: ts.ObjectLiteralExpression, name: string, file: ts.SourceFile): ts.Expression | undefined {
  for (const property of object.properties) {
    if (ts.isPropertyAssignment(property) && property.name.getText(file) === name) return property.initializer;
    if (!ts.isSpreadAssignment(property)) continue;
    const spread = findIn(file, (node) => (ts.isVariableDeclaration(node) && node.name.getText(file) === property.expression.getText(file) ? node : undefined));
    if (spread?.initializer && ts.isObjectLiteralExpression(spread.initializer)) return memberOf(spread.initializer, name, file);
  }
  return undefined;
}

/** @returns the first result of `choose` that is not undefined, in the order of the text */
function findIn<T>(node: ts.Node, choose: (node: ts.Node) => T | undefined): T | undefined {
  return choose(node) ?? ts.forEachChild(node, (child) => findIn(child, choose));
}

function labelsIn(expression: ts.Expression | undefined): readonly string[] | undefined {
  const list = expression && ts.isAsExpression(expression) ? expression.expression : expression;
  return list && ts.isArrayLiteralExpression(list) ? list.elements.flatMap((element) => textIn(element) ?? []) : undefined;
}

/** A metric is an object with `name`, `help` and `labels`, or a call of a local function with name and help that makes such an object. */
function metricAt(literal: ts.StringLiteralLike, file: ts.SourceFile): Metric | undefined {
  const { parent, text: name } = literal;
  if (ts.isPropertyAssignment(parent) && ts.isObjectLiteralExpression(parent.parent)) {
    const help = textIn(memberOf(parent.parent, 'help', file));
    const labels = labelsIn(memberOf(parent.parent, 'labels', file));
    return help !== undefined && labels ? { name, help, labels } : undefined;
  }
  if (!ts.isCallExpression(parent) || parent.arguments[0] !== literal) return undefined;
  const called = parent.expression.getText(file);
  const helper = findIn(file, (node) => (ts.isVariableDeclaration(node) && node.name.getText(file) === called ? node : undefined));
  const labels = helper && findIn(helper, (node) => (ts.isObjectLiteralExpression(node) ? labelsIn(memberOf(node, 'labels', file)) : undefined));
  const help = textIn(parent.arguments[1]);
  return help !== undefined && labels ? { name, help, labels } : undefined;
}

function metricsOf(path: string): readonly Metric[] {
  const file = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Metric[] = [];
  const visit = (node: ts.Node): void => {
    const metric = ts.isStringLiteralLike(node) && /^signalbox(_[a-z]+)+$/.test(node.text) ? metricAt(node, file) : undefined;
    if (metric) found.push(metric);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** By the folder that declares them. */
function metricTables(): string {
  const paths = globSync('services/**/*.ts', { cwd: root }).filter((path) => !path.startsWith('services/console/client/'));
  const groups = Map.groupBy(
    paths.sort().flatMap((path) => metricsOf(path).map((metric) => ({ folder: path.split('/')[1] ?? '', metric }))),
    ({ folder }) => folder,
  );
  const sections = [...groups]
    .toSorted(([one], [other]) => Number(other === 'platform') - Number(one === 'platform'))
    .map(([folder, metrics]) => {
      const rows = metrics.map(({ metric: { name, labels, help } }) => `| \`${name}\` | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`);
      return [`### ${folder === 'platform' ? 'Every service' : folder}`, '', '| metric | labels | what it says |', '|---|---|---|', ...rows, ''].join('\n');
    });
  return sections.join('\n');
}

const Rule = z.object({
  alert: z.string(),
  for: z.string().optional(),
  labels: z.object({ severity: z.string() }),
  annotations: z.object({ summary: z.string() }),
});
const Rules = z.object({ groups: z.array(z.object({ rules: z.array(Rule) })) });

function alertTable(): string {
  const files = globSync('charts/*/files/alerts/*.yaml', { cwd: root }).sort();
  const rules = files.flatMap((path) => Rules.parse(parse(readFileSync(join(root, path), 'utf8'))).groups.flatMap((group) => group.rules));
  const rows = rules.map(({ alert, for: after = 'at once', labels, annotations }) => {
    const summary = annotations.summary.replaceAll(/\{\{ *\$(?:labels\.)?(\w+)[^}]*\}\}/g, '*$1*');
    return `| [\`${alert}\`](../k8s/runbooks/${alert}.md) | ${labels.severity} | ${after} | ${summary} |`;
  });
  return [
    '## Alerts',
    '',
    '[What the severities mean](monitoring.md#alerts).',
    '',
    '| alert | severity | after | means |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** @returns path in the repository → content */
export const metricsFile = (): Record<string, string> => ({ 'docs/metrics.md': `${preface}\n${metricTables()}\n${alertTable()}` });
