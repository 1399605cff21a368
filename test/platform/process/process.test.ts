import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';

const file = (name: string) => new URL(`../../../services/platform/${name}`, import.meta.url).href;

/** A process of its own that runs `start` under runProcess and prints what happens, line by line. */
function run(start: string, options = '', before = ''): ChildProcess {
  const program = `
    import { writeSync } from 'node:fs';
    import { ConfigError } from '${file('config/config.ts')}';
    import { silentLog } from '${file('log.ts')}';
    import { runProcess } from '${file('process/process.ts')}';
    const say = (text) => writeSync(1, text + '\\n');
    ${before}
    await runProcess({ log: silentLog, drainMs: 10, writeError: say, ${options} }, async (lifecycle) => {
      lifecycle.draining.addEventListener('abort', () => say('unready'));
      ${start}
    });
    say('stopped');`;
  return spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function end(child: ChildProcess): Promise<{ code: number | null; output: string[] }> {
  if (!child.stdout) throw new TypeError('its output is a pipe');
  const [output, [code]] = await Promise.all([textOf(child.stdout), once(child, 'exit')]);
  return { code, output: output.trim().split('\n') };
}

/** Sends the signals as soon as the process has said each line. */
async function signalled(child: ChildProcess, signals: Readonly<Record<string, NodeJS.Signals>>): Promise<{ code: number | null; output: string[] }> {
  if (!child.stdout) throw new TypeError('its output is a pipe');
  const output: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    output.push(line);
    const signal = signals[line];
    if (signal) child.kill(signal);
  });
  const [code] = await once(child, 'close');
  return { code, output };
}

const open = `const alive = setInterval(() => undefined, 1000); lifecycle.onStop('database', () => { clearInterval(alive); say('database closed'); }); lifecycle.onStop('port', () => say('port closed'));`;

describe('runProcess', () => {
  it('turns unready, then closes in reverse on SIGTERM, SIGINT or SIGHUP, and ends with 0 by itself', async () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const { code, output } = await signalled(run(`${open} say('started');`), { started: signal });
      expect({ code, output }).to.deep.equal({ code: 0, output: ['started', 'unready', 'port closed', 'database closed', 'stopped'] });
    }
  });

  it('serves on for the time that load balancers need, and closes then', async () => {
    const noting =
      "lifecycle.draining.addEventListener('abort', () => { unreadyMs = performance.now(); }); lifecycle.onStop('first', () => say(performance.now() - unreadyMs >= 295 ? 'drained' : 'too early'));";
    const { code, output } = await signalled(run(`${open} ${noting} say('started');`, 'drainMs: 300', 'let unreadyMs = 0;'), { started: 'SIGTERM' });
    expect({ code, output }).to.deep.equal({ code: 0, output: ['started', 'unready', 'drained', 'port closed', 'database closed', 'stopped'] });
  });

  it('does not take an echo of the first signal for a second one', async () => {
    const start = `${open} say('started'); lifecycle.onStop('first', () => { say('closing'); return new Promise((resolve) => process.once('SIGINT', () => setTimeout(resolve, 10))); });`;
    const isEcho = (options: string) => signalled(run(start, options), { started: 'SIGINT', closing: 'SIGINT' });
    expect((await isEcho('isEcho: (signal, ms) => signal === "SIGINT" && ms < 60_000,')).code).to.equal(0);
    expect((await isEcho('isEcho: () => false,')).code).to.equal(1);
  });

  it('ends with 0 when the work is done', async () => {
    expect(await end(run(`${open} return 'done';`))).to.deep.equal({ code: 0, output: ['unready', 'port closed', 'database closed', 'stopped'] });
  });

  it('complains, closes what was opened and ends with 1 when it cannot start', async () => {
    const { code, output } = await end(run(`${open} throw new ConfigError(['PORT is required and not set']);`));
    expect(code).to.equal(1);
    expect(output).to.deep.equal([
      'The configuration is not usable:',
      '  PORT is required and not set',
      'unready',
      'port closed',
      'database closed',
      'stopped',
    ]);
  });

  it('hears a signal during a long start, and closes what that opened later', async () => {
    const { code, output } = await signalled(run(`say('starting'); await new Promise((resolve) => setTimeout(resolve, 300)); ${open}`), {
      starting: 'SIGTERM',
    });
    expect({ code, output }).to.deep.equal({ code: 0, output: ['starting', 'unready', 'port closed', 'database closed', 'stopped'] });
  });

  it('reports no error of a start that fails because of a stop', async () => {
    const start = `${open} say('starting'); await new Promise((resolve) => lifecycle.onStop('link', resolve)); throw new Error('the link was closed');`;
    const { code, output } = await signalled(run(start), { starting: 'SIGTERM' });
    expect({ code, output }).to.deep.equal({ code: 0, output: ['starting', 'unready', 'port closed', 'database closed', 'stopped'] });
  });

  it('ends with 1 at once on a second signal', async () => {
    const { code, output } = await signalled(
      run(`${open} lifecycle.onStop('stuck', () => { say('stuck'); return new Promise(() => undefined); }); say('started');`),
      { started: 'SIGTERM', stuck: 'SIGTERM' },
    );
    expect({ code, output }).to.deep.equal({ code: 1, output: ['started', 'unready', 'stuck'] });
  });

  it('ends with 1 when it is not stopped by the deadline', async () => {
    const { code, output } = await signalled(run(`${open} lifecycle.onStop('stuck', () => new Promise(() => undefined)); say('started');`, 'deadlineMs: 100'), {
      started: 'SIGTERM',
    });
    expect({ code, output }).to.deep.equal({ code: 1, output: ['started', 'unready'] });
  });
});
