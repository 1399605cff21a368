// A hundred thousand bookmarks: imported by the command, read as one list and exported, by a process whose memory stays flat.
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import { temporaryDirectory } from '../../support/guard.ts';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningProcess, startProcess } from '../../support/processes.ts';
import { mebibyte, procfs, residentBytes } from '../../support/usage.ts';
import { eventually, freePort } from '../../support/wait.ts';
import { chartMemory } from '../../hostile/house.ts';
import { apiKey, migrations } from './service.ts';

const total = 100_000;
/** So many, and the process has what its work takes: what comes on top is what a longer file costs. */
const warm = 40_000;

function* fileOf(from: number, to: number): Generator<string> {
  yield '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n';
  for (let index = from; index < to; index++) {
    if (index % 500 === 0) yield `${index > from ? '</DL><p>\n' : ''}<DT><H3 ADD_DATE="1700000000">Folder ${index / 500}</H3>\n<DL><p>\n`;
    yield `<DT><A HREF="https://example.org/pages/${index}?from=import" ADD_DATE="${1_600_000_000 + index}" TAGS="tag ${index % 97},tag ${index % 89},tag ${index % 11}">Bookmark number ${index} of an import</A>\n`;
    yield `<DD>What there is to say of number ${index}, in a sentence of the usual length, so that it costs what others cost\n`;
  }
  yield '</DL><p>\n</DL><p>\n';
}

describeWith(procfs, 'a hundred thousand bookmarks', function () {
  this.timeout(600_000);
  const folder = temporaryDirectory('import');
  let database: TestDatabase;
  let service: RunningProcess;
  let url: string;
  before(async () => {
    database = await createTestDatabase({ schema: 'bookmarks', migrations });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const env = { DATABASE_URL: database.url, Bookmarks__ApiKeys: apiKey, PORT: String(port), METRICS_PORT: '0', APP_ENV: 'development', LOG_LEVEL: 'warn' };
    service = startProcess(['serve', 'bookmarks'], { env, memoryBytes: chartMemory().of('bookmarks') });
    await eventually(async () => (await fetch(`${url}/health/ready`)).ok);
  });
  after(async () => {
    await service.kill();
    await database.drop();
  });

  /** The growth of the process's memory at its peak. */
  async function growth(work: () => Promise<void>): Promise<number> {
    const before = residentBytes(service.pid);
    let most = before;
    const watching = setInterval(() => (most = Math.max(most, residentBytes(service.pid))), 20);
    await work().finally(() => clearInterval(watching));
    return (most - before) / mebibyte;
  }
  async function importOf(from: number, to: number): Promise<string> {
    const file = join(folder, `${from}.html`);
    await pipeline(Readable.from(fileOf(from, to)), createWriteStream(file));
    const command = startProcess(['bookmarks', 'import', file], { env: { SIGNALBOX_BOOKMARKS_URL: url, Bookmarks__ApiKeys: apiKey } });
    expect((await command.exited).code).to.equal(0);
    return command.lines.join('\n');
  }
  /** @returns how many bytes, and how many times `what` is in them */
  async function read(path: string, what: string): Promise<number> {
    const { body, ok } = await fetch(url + path);
    expect(ok).to.equal(true);
    let [found, rest] = [0, ''];
    if (!body) throw new TypeError('an answer has a body');
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const pieces = (rest + chunk).split(what);
      found += pieces.length - 1;
      rest = (pieces.at(-1) ?? '').slice(-what.length);
    }
    return found;
  }

  it('are imported by the command with flat memory, and skipped when it runs again', async () => {
    expect(await importOf(0, warm)).to.equal(`${warm} created, 0 skipped, 0 failed`);
    let said = '';
    const grown = await growth(async () => void (said = await importOf(0, total)));
    expect(said).to.equal(`${total - warm} created, ${warm} skipped, 0 failed`);
    expect(grown, 'MiB').to.be.at.most(64);
    expect(await importOf(total - 1000, total)).to.equal('0 created, 1000 skipped, 0 failed');
  });

  it('are answered as one list with flat memory', async () => {
    expect(await read('/api/bookmarks', '"url":')).to.equal(total);
    expect(await growth(async () => void expect(await read('/api/bookmarks', '"url":')).to.equal(total)), 'MiB').to.be.at.most(64);
  });

  it('are exported with flat memory', async () => {
    expect(await growth(async () => void expect(await read('/api/export', '<A HREF=')).to.equal(total)), 'MiB').to.be.at.most(64);
  });
});
