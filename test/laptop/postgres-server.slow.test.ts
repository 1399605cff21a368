import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { startPostgresServer } from '../../services/laptop/postgres-server.ts';

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined);

describe('startPostgresServer', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-postgres-'));
    await chmod(folder, 0o755); // started by root, the server is another user
  });
  afterEach(() => rm(folder, { recursive: true }));

  const start = () => startPostgresServer({ directory: join(folder, 'postgres'), password: "it's a pass word" });
  async function ask<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<T>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  it('keeps its data over a stop and a start', async () => {
    const first = await start();
    await ask(first.url, 'create table kept as select 7 as seven');
    await first.close();
    const second = await start();
    expect(await ask(second.url, 'select seven from kept')).to.deep.equal([{ seven: 7 }]);
    await second.close();
  });

  it('ends a server that a crash left behind, and starts again on the same data', async () => {
    const left = await start();
    const pidOf = () => readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0];
    const pid = pidOf();
    await ask(left.url, 'create table kept as select 7 as seven');
    const again = await start();
    expect(await ask(again.url, 'select seven from kept')).to.deep.equal([{ seven: 7 }]);
    // Only one server can hold a data folder.
    expect(pidOf()).to.not.equal(pid);
    await again.close();
  });

  it('is where it was after a stop, and elsewhere when that port is taken', async () => {
    const first = await start();
    await first.close();
    const second = await start();
    expect(second.url).to.equal(first.url);
    await second.close();
    const other = createServer().listen(first.port, '127.0.0.1');
    await once(other, 'listening');
    try {
      const third = await start();
      expect(third.port).to.not.equal(first.port);
      await third.close();
    } finally {
      other.close();
    }
  });

  it('listens on loopback only, and asks for the password', async () => {
    const server = await start();
    expect(await ask(server.url, 'show listen_addresses')).to.deep.equal([{ listen_addresses: '127.0.0.1' }]);
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    expect(await ask(wrong.href, 'select 1').then(() => 'answered', codeOf)).to.equal('28P01');
    await server.close();
  });

  it('starts in a folder that only its owner may enter; as root it refuses, and says what to do', async () => {
    await chmod(folder, 0o700);
    if (userInfo().uid === 0) {
      const refusal = await start().then(() => 'started', String);
      expect(refusal).to.contain(join(folder, 'postgres')).and.contain('start as an ordinary user').and.contain('chmod o+x');
      return;
    }
    const server = await start();
    expect(await ask(server.url, 'select 7 as seven')).to.deep.equal([{ seven: 7 }]);
    await server.close();
  });
});
