// An import of 100 000 listings: memory that does not grow with it, and a bar on a terminal.
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { spawnGuarded, temporaryDirectory } from '../../../support/guard.ts';
import { describeWith } from '../../../support/need.ts';
import { commandLine } from '../../../support/programs.ts';
import { listing, token, useService } from '../service.ts';

const program = join(import.meta.dirname, '../../../../services/main.ts');
const many = 100_000;

describeWith(commandLine('script'), 'signalbox listings import of 100 000 listings', function () {
  this.timeout(300_000);
  const running = useService();
  const folder = temporaryDirectory('listings');

  async function write(count: number): Promise<string> {
    const file = join(folder, `${count}.json`);
    const stream = createWriteStream(file);
    stream.write('[');
    for (let index = 0; index < count; index += 1) {
      const one = JSON.stringify(listing(`l-${index}`, { notes: 'n'.repeat(300), receivedAt: '2026-03-15T12:00:00Z' }));
      if (!stream.write(`${index > 0 ? ',\n' : ''}${one}`)) await once(stream, 'drain');
    }
    stream.end(']');
    await once(stream, 'finish');
    return file;
  }

  /** On a terminal of its own, as `script` makes one. @returns what was on it, and the most memory that it took in MiB */
  async function run(file: string) {
    const env = {
      PATH: process.env['PATH'] ?? '',
      SIGNALBOX_LISTINGS_URL: running.url,
      Listings__AccessTokens: token,
      // V8 else lets 48 MiB of garbage lie, or less, as it likes.
      NODE_OPTIONS: '--max-semi-space-size=1',
    };
    const command = `exec ${process.execPath} ${program} listings import ${file}`;
    const child = spawnGuarded('script', ['-qec', command, '/dev/null'], { env: { ...env, SHELL: '/bin/sh' }, stdio: ['ignore', 'pipe', 'pipe'] });
    if (!child.stdout) throw new TypeError('it has no output');
    let mostMiB = 0;
    const watch = setInterval(() => (mostMiB = Math.max(mostMiB, memoryOf(child.pid))), 20);
    const [[code], out] = await Promise.all([once(child, 'close'), text(child.stdout)]);
    clearInterval(watch);
    return { code: code as number | null, out, mostMiB };
  }

  /** The resident memory of the child of `script`. */
  function memoryOf(pid: number | undefined): number {
    try {
      const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
      return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${first}/status`, 'utf8'))?.[1] ?? 0) / 1024;
    } catch {
      return 0; // not there yet, or no longer
    }
  }

  it('takes no more memory than one of 1000, and tells how far it is', async () => {
    const few = await run(await write(1000));
    expect(few.out).to.include('1000 created');
    const all = await run(await write(many));
    expect(all.out).to.include(`${many - 1000} created, 0 updated, 1000 unchanged, 0 rejected`);
    expect(all.code).to.equal(0);
    expect(all.mostMiB).to.be.below(few.mostMiB + 64);
    const parts = [...all.out.matchAll(/\[=* *\] +(\d+) % {2}(\d+) listings, \d+ a second/g)].map(([, part]) => Number(part));
    expect(parts.length).to.be.above(5);
    expect(parts).to.deep.equal(parts.toSorted((one, other) => one - other));
    expect(parts.at(-1)).to.equal(100);
    process.stdout.write(`      ${Math.round(few.mostMiB)} MiB for 1000, ${Math.round(all.mostMiB)} MiB for ${many}\n`);
  });
});
