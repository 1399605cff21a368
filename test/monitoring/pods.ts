// Processes of Signalbox in place of the pods of an installation, and the blocks of runbooks, which run on them as they stand.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '../support/guard.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { freePort } from '../support/wait.ts';
import { runbookFolder } from './shipped.ts';

type Settings = Readonly<Record<string, string>>;
const program = join(import.meta.dirname, '../../services/main.ts');

/**
 * As much of kubectl as runbooks need for processes: `exec` runs in the environment of the pod, `get pods -o name` names it, `logs` prints what it
 * has printed, and the Secret of broker connections is the file that the relay reads. All else does nothing: what starts or replaces pods is done by tests.
 */
const kubectl = `#!/usr/bin/env bash
set -euo pipefail
[ "$1 $2" = '-n signalbox' ]; shift 2
action=$1; shift
case $action in
  exec)
    [ "$1" != -i ] || shift
    pod=\${1##*/}
    set -a; . "$PODS/\${pod#signalbox-}.env"; set +a
    shift 2
    exec "\${@//127.0.0.1:8080/127.0.0.1:$PORT}" ;;
  logs)
    for word in $*; do
      word=\${word##*component=}; word=\${word##*/}; word=\${word//[(),]/}
      if [ -f "$PODS/$word.log" ]; then cat "$PODS/$word.log"; fi
    done ;;
  get)
    case "$*" in
      pods*component=*'-o name') words="$*"; words=\${words##*component=}; echo "pod/\${words%% *}" ;;
      secret*signalbox-brokers*) cat "$PODS/brokers.env" ;;
    esac ;;
  create) for word; do if [[ $word == --from-file=* ]]; then cat "\${word#--from-file=}"; fi; done ;;
  apply) if [ "\${*: -2}" = '-f -' ]; then cat >"$PODS/brokers.env.next"; mv "$PODS/brokers.env.next" "$PODS/brokers.env"; fi ;;
esac
`;

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

type Pods = ReturnType<typeof createPods>;
export type Pod = Awaited<ReturnType<Pods['add']>>;

export function createPods() {
  const folder = temporaryDirectory('pods');
  /** Where a person runs the blocks, which write files of the same names. */
  const checkout = temporaryDirectory('checkout');
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const [name, text] of Object.entries({ kubectl, signalbox: `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n` })) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  const all = new Map<string, { output(): readonly string[]; kill(): Promise<void> }>();

  /** @param component as in the label `app.kubernetes.io/component` @param words as in `signalbox <words>` */
  async function add(component: string, words: readonly string[], settings: Settings) {
    const [port, metricsPort] = [String(await freePort()), String(await freePort())];
    const env = { APP_ENV: 'development', ...settings, PORT: port, METRICS_PORT: metricsPort };
    writeFileSync(
      join(folder, `${component}.env`),
      Object.entries(env)
        .map(([name, value]) => `${name}=${quoted(value)}\n`)
        .join(''),
    );
    let running: RunningProcess | undefined;
    const launch = (changed: Settings = {}) => (running = startProcess(words, { env: { ...env, ...changed } }));
    const pod = {
      url: `http://127.0.0.1:${port}`,
      metricsUrl: `http://127.0.0.1:${metricsPort}`,
      /** For settings with which it is not ready. */
      launch,
      async start(changed: Settings = {}): Promise<void> {
        await launch(changed).waitForLine(/"msg":"ready"/, 180_000);
      },
      output: () => running?.lines ?? [],
      async kill(): Promise<void> {
        await running?.kill();
      },
    };
    all.set(component, pod);
    return pod;
  }

  /** Runs a script in the checkout. @returns what it printed, whether it failed or not */
  function run(script: string): Promise<string> {
    for (const [component, { output }] of all) writeFileSync(join(folder, `${component}.log`), `${output().join('\n')}\n`);
    const env = { ...process.env, PODS: folder, PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
    return new Promise((resolve) => {
      execFile('bash', ['-uc', `exec 2>&1\n${script}`], { cwd: checkout, env, timeout: 120_000 }, (_, stdout) => resolve(stdout));
    });
  }

  return {
    add,
    run,
    /** The file of broker connections, which the page of the Secret calls brokers.env. */
    brokersFile: join(folder, 'brokers.env'),
    pathOf: (name: string) => join(checkout, name),
    /** Runs the block of a runbook that has this text. @returns what it printed */
    follow: (alert: string, text: string) => run(blockWith(alert, text)),
    async close(): Promise<void> {
      await Promise.all([...all.values()].map((pod) => pod.kill()));
    },
  };
}

const pageOf = (alert: string) => readFileSync(join(runbookFolder, `${alert}.md`), 'utf8');

/** @throws when the page has no such block any more: then the test does not follow it */
function blockWith(alert: string, text: string): string {
  const blocks = [...pageOf(alert).matchAll(/^( *)```sh\n(.*?)^\1```$/gms)].map(([, indent = '', block = '']) =>
    block.replaceAll(RegExp(`^${indent}`, 'gm'), ''),
  );
  const found = blocks.find((block) => block.includes(text));
  if (found === undefined) throw new Error(`the page of ${alert} has no block with ${text}`);
  return found;
}

/** For a step that needs a cluster, which the test does in its own way. @throws when the page does not say it */
export function expectStep(alert: string, text: string): void {
  const page = pageOf(alert);
  if (!page.slice(page.indexOf('\n## What to do\n')).includes(text)) throw new Error(`the page of ${alert} does not say what to do: ${text}`);
}
