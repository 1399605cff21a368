import { connect } from 'amqplib';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { temporaryDirectory } from './guard.ts';
import { describeWith } from './need.ts';
import { createTestDatabase, startPostgres } from './postgres.ts';
import { ownRabbitmq, rabbitmq, sharedRabbitmq, startRabbitmq } from './rabbitmq.ts';
import { redis, sharedRedis, startRedis } from './redis.ts';

async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(sql).finally(() => client.end());
}

describe('createTestDatabase', () => {
  it('gives each caller a database of its own', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await query(first.url, 'create table things (id int)');
    const { rows } = await query(second.url, `select to_regclass('things') as found`);
    expect(rows).to.deep.equal([{ found: null }]);
    await Promise.all([first.drop(), second.drop()]);
  });

  it('clones a schema that is migrated once', async () => {
    const directory = temporaryDirectory('migrations');
    writeFileSync(join(directory, '0001_things.sql'), 'create table things as select gen_random_uuid() as id');
    const options = { schema: 'notes', migrations: pathToFileURL(`${directory}/`) };
    const databases = [await createTestDatabase(options), await createTestDatabase(options)];
    const ids = await Promise.all(databases.map(async ({ url }) => (await query(url, 'select id from notes.things')).rows));
    expect(ids[0]).to.have.length(1);
    expect(ids[0]).to.deep.equal(ids[1]);
    await Promise.all(databases.map(({ drop }) => drop()));
  });
});

describe('startPostgres', () => {
  it('keeps committed rows over a stop and over a kill', async () => {
    const server = await startPostgres();
    await query(server.url, 'create table things as select 1 as id');
    await server.stop();
    await server.start();
    await query(server.url, 'insert into things values (2)');
    await server.kill();
    await server.start();
    const { rows } = await query(server.url, 'select id from things order by id');
    expect(rows).to.deep.equal([{ id: 1 }, { id: 2 }]);
    await server.close();
  });
});

describeWith(rabbitmq, 'sharedRabbitmq', () => {
  it('gives each caller an empty virtual host', async () => {
    const server = await sharedRabbitmq();
    const vhosts = [await server.createVhost(), await server.createVhost()];
    for (const { url } of vhosts) {
      const connection = await connect(url);
      const channel = await connection.createChannel();
      expect(await channel.assertQueue('things')).to.deep.include({ messageCount: 0 });
      channel.sendToQueue('things', Buffer.from('one'));
      await connection.close();
    }
    for (const { drop } of vhosts) await drop();
  });
});

describeWith(ownRabbitmq, 'startRabbitmq', () => {
  it('keeps durable messages over a stop and over a kill', async function () {
    // Three starts, each of which has a minute and a half.
    this.timeout(600_000);
    const server = await startRabbitmq();
    const connection = await connect(server.url);
    connection.on('error', () => undefined);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('things', { durable: true });
    channel.sendToQueue('things', Buffer.from('one'), { persistent: true });
    await channel.waitForConfirms();
    await server.stop();
    await server.start();
    await server.kill();
    await server.start();
    expect(await server.control('list_queues', 'name', 'messages', '--no-table-headers')).to.equal('things\t1\n');
    await server.close();
  });
});

describeWith(redis, 'Redis for tests', () => {
  it('answers, on the shared server and on one of its own', async () => {
    const own = await startRedis();
    for (const url of [await sharedRedis(), own.url]) {
      const client = new Redis(url);
      expect(await client.ping()).to.equal('PONG');
      client.disconnect();
    }
    await own.close();
  });
});
