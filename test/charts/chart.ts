// The chart as Helm renders it, for the tests beside this file.
import { cp, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, parseDocument } from 'yaml';
import { temporaryDirectory } from '../support/guard.ts';
import { type Answer, runTool, tools } from '../support/tools.ts';
import { merged, type Values } from '../support/values.ts';
import type { Manifest } from './manifests.ts';

export const chart = join(import.meta.dirname, '../../charts/signalbox');
export const operatorChart = join(import.meta.dirname, '../../charts/signalbox-operator');
export const helm = tools('helm', 'helm3');

/** The version of the API server in CI; the default of a Helm without a server depends on its build. */
const kubernetesVersion = '1.34.4';

export type Rendering = {
  readonly release?: string;
  readonly namespace?: string;
  readonly program?: 'helm' | 'helm3';
  /** Another folder than the chart's own, as for another version. */
  readonly folder?: string;
};

/** Without an image the charts are refused. */
export const someImage: Values = { image: { registry: 'docker.io', repository: 'library/signalbox' } };

/** Runs `helm template`. @returns its answer, also when it fails */
export const template = (
  values: Values = {},
  { release = 'signalbox', namespace = 'signalbox', program = 'helm', folder = chart }: Rendering = {},
): Promise<Answer> =>
  runTool(program, ['template', release, folder, '--namespace', namespace, '--kube-version', kubernetesVersion, '--values', '-'], {
    input: JSON.stringify(merged(someImage, values)),
  });

/** Remembers results, since Helm takes a third of a second. */
function once<T>(make: (values?: Values, rendering?: Rendering) => Promise<T>) {
  const made = new Map<string, Promise<T>>();
  return (values?: Values, rendering?: Rendering): Promise<T> => {
    const key = JSON.stringify([values, rendering]);
    const known = made.get(key) ?? make(values, rendering);
    made.set(key, known);
    return known;
  };
}

/** The rendered text; throws what Helm says when it refuses. */
export const renderText = once(async (values, rendering): Promise<string> => {
  const { code, stdout, stderr } = await template(values, rendering);
  if (code !== 0) throw new Error(`helm refuses ${JSON.stringify(values)}: ${stderr}`);
  return stdout;
});

/** The rendered objects, which are not to be changed. */
export const render = once(async (values, rendering): Promise<readonly Manifest[]> => manifestsOf(await renderText(values, rendering)));

/** Most documents of a rendering are those of another one, and are parsed once. */
const parsed = new Map<string, Manifest | null>();

export const manifestsOf = (text: string): Manifest[] => text.split(/^---\n/m).flatMap((document) => manifestOf(document) ?? []);

function manifestOf(text: string): Manifest | null {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const document = parseDocument(text);
  // Helm and Kubernetes read on where a key stands twice, and take the last: no rendering needs that.
  if (document.errors.length > 0) throw new Error(`${document.errors.join('; ')} in\n${text}`);
  const manifest: Manifest | null = document.toJS();
  parsed.set(text, manifest);
  return manifest;
}

/**
 * The renderings of each of the values, all by one Helm, which takes a third of a second to begin: as dependencies of one chart, under names of their own,
 * which stand in their places in every call.
 */
export async function renderEach(all: readonly Values[], folder = chart): Promise<readonly string[]> {
  const { name, version }: { readonly name: string; readonly version: string } = parse(await readFile(join(folder, 'Chart.yaml'), 'utf8'));
  const parent = temporaryDirectory('each');
  const alias = (index: number) => `each-${index}`;
  const dependencies = all.map((_, index) => ({ name, version, repository: '', alias: alias(index) }));
  await writeFile(join(parent, 'Chart.yaml'), JSON.stringify({ apiVersion: 'v2', name: 'parent', version: '0.0.0', dependencies }));
  await mkdir(join(parent, 'charts'));
  await symlink(folder, join(parent, 'charts', name));
  const text = await renderText(Object.fromEntries(all.map((values, index) => [alias(index), merged(someImage, values)])), { folder: parent });
  const documents = Map.groupBy(text.split(/^---\n/m), (document) => /^# Source: parent\/charts\/(each-\d+)\//.exec(document)?.[1]);
  return all.map((_, index) => (documents.get(alias(index)) ?? []).join('---\n'));
}

/** The defaults. */
export const readValues = async (folder = chart): Promise<Values> => parse(await readFile(join(folder, 'values.yaml'), 'utf8'));

/** A copy of the chart with other versions in its Chart.yaml: the next release. */
export async function chartOfVersion(version: string, appVersion: string, into: string): Promise<string> {
  const folder = join(await mkdtemp(join(into, 'chart-')), 'signalbox');
  // With the library itself, which is a link there.
  await cp(chart, folder, { recursive: true, dereference: true });
  const file = join(folder, 'Chart.yaml');
  const described: Record<string, unknown> = parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...described, version, appVersion }));
  return folder;
}
