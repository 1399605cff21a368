// The client packages as users install them, each with a program that does what a test tells it by lines of JSON.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../support/guard.ts';
import type { Need } from '../support/need.ts';
import { toolPath } from '../support/tools.ts';
import { eventually } from '../support/wait.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** The folder has the packed npm package in its `node_modules`. */
export async function installNpmPackage(folder: string): Promise<void> {
  await run(join(root, 'scripts/clients.sh'), [folder, 'npm']);
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], { cwd: folder });
}

const generator = toolPath('openapi-python-client');
/** `.ci/run` gives it an environment with flit_core, which builds the wheel. */
const pythonTools = generator.includes('/') ? join(dirname(realpathSync(generator)), 'python3') : '';
export const pythonPackage: Need = {
  name: 'Python client',
  missing: existsSync(pythonTools) ? undefined : 'no Python environment with flit_core, which .ci/run makes',
};

/** Environment variables that make scripts/clients.sh build without PyPI. */
export const pythonBuild = pythonTools === '' ? {} : { PYTHON: pythonTools, PIP_NO_BUILD_ISOLATION: '0' };

/** @returns the Python of a new environment with the wheel */
export async function installWheel(folder: string): Promise<string> {
  await run(join(root, 'scripts/clients.sh'), [folder, 'python'], { env: { ...process.env, ...pythonBuild } });
  const [wheel = ''] = readdirSync(folder).filter((name) => name.endsWith('.whl'));
  await run('python3', ['-m', 'venv', '--without-pip', join(folder, 'environment')]);
  const python = join(folder, 'environment/bin/python3');
  await run(pythonTools, ['-m', 'pip', '--python', python, 'install', '--quiet', '--disable-pip-version-check', '--no-index', join(folder, wheel)]);
  return python;
}

/** A line of a program: the answer to an order, or news of the iteration over events. */
type Said = { readonly answer?: unknown; readonly news?: string; readonly value?: unknown };

export type Failure = { readonly failed: string; readonly status: number | null; readonly message: string };

/** Runs a program of test/clients/programs.ts. */
export function startProgram(command: string, args: readonly string[], options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> }) {
  const child = spawnGuarded(command, args, { cwd: options.cwd, env: { ...process.env, ...options.env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const news: { readonly news: string; readonly value: unknown }[] = [];
  const answers: ((answer: unknown) => void)[] = [];
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as Said;
      if (said.news === undefined) answers.shift()?.(said.answer);
      else news.push({ news: said.news, value: said.value });
    });
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.once('exit', () => {
    for (const answer of answers.splice(0)) answer({ failed: 'exit', status: null, message: errors });
  });
  return {
    /** Orders are done one after the other. */
    async ask(order: string, ...given: readonly unknown[]): Promise<unknown> {
      const answered = new Promise((resolve) => answers.push(resolve));
      child.stdin?.write(`${JSON.stringify([order, ...given])}\n`);
      return answered;
    },
    /** Values of the news of a kind so far. */
    newsOf: (kind: string): readonly unknown[] => news.filter((one) => one.news === kind).map(({ value }) => value),
    awaitNews: (kind: string, count = 1) => eventually(() => news.filter((one) => one.news === kind).length >= count),
    get errors() {
      return errors;
    },
    async kill(): Promise<void> {
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
      await closed;
    },
  };
}
export type Program = ReturnType<typeof startProgram>;

/** The oldest Node of this machine on which the package promises to run: 20.3 or newer. */
export const oldNode = findOldNode();

function findOldNode(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  const found = [...new Set(folders.map((folder) => join(folder, 'node')))].filter((path) => existsSync(path));
  const promised = found.flatMap((path) => {
    const [major = 0, minor = 0] = execFileSync(path, ['--version'], { encoding: 'utf8' }).slice(1).split('.').map(Number);
    return major > 20 || (major === 20 && minor >= 3) ? [{ path, age: major * 1000 + minor }] : [];
  });
  return promised.toSorted((a, b) => a.age - b.age)[0]?.path ?? process.execPath;
}

export type Client = {
  readonly name: string;
  readonly need: Need;
  /** Options in the client's own names and units. */
  optionsOf(options: Options): Readonly<Record<string, unknown>>;
  install(): Promise<(env?: Readonly<Record<string, string>>) => Program>;
};

/** As the npm package names them; times are in milliseconds. */
export type Options = Readonly<Record<string, unknown>>;

const inPython = (name: string) => name.replace(/Ms$|Seconds$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const clients = (programs: { readonly node: string; readonly python: string }): readonly Client[] => [
  {
    name: 'the npm package',
    need: { name: 'npm', missing: undefined },
    optionsOf: (options) => options,
    async install() {
      const folder = temporaryDirectory('npm-client');
      await installNpmPackage(folder);
      writeFileSync(join(folder, 'program.mjs'), programs.node);
      return (env = {}) => startProgram(oldNode, ['program.mjs'], { cwd: folder, env });
    },
  },
  {
    name: 'the Python package',
    need: pythonPackage,
    optionsOf: (options) =>
      Object.fromEntries(Object.entries(options).map(([name, value]) => [inPython(name), name.endsWith('Ms') ? Number(value) / 1000 : value])),
    async install() {
      const folder = temporaryDirectory('python-client');
      const python = await installWheel(folder);
      writeFileSync(join(folder, 'program.py'), programs.python);
      return (env = {}) => startProgram(python, ['program.py'], { cwd: folder, env });
    },
  },
];
