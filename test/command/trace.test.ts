import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { deployables } from '../../services/command/deployables.ts';
import type { Broker } from '../../services/platform/broker/broker.ts';
import { connectBroker } from '../../services/platform/broker/connect.ts';
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { createPool, type Pool, statement } from '../../services/platform/postgres/pool.ts';
import { trace } from '../../services/command/trace.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { createFailedPayloads } from '../../services/webhook-relay/spool/failed-payloads.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { eventually } from '../support/wait.ts';
import { message } from '../services/webhook-intake/deliveries.ts';
import { migrations as intakeMigrations } from '../services/webhook-intake/intake-database.ts';
import { createMessage, fill, newDirectory, openSpool } from '../services/webhook-relay/spool/fixtures.ts';

const relayMigrations = new URL('../../services/webhook-relay/migrations/', import.meta.url);
const at = new Date('2026-01-02T03:04:05.678Z');

describe('signalbox trace', () => {
  let testDatabase: TestDatabase;
  let database: Pool;
  let broker: Broker;
  let tracers: Awaited<ReturnType<typeof deployables.loadTracers>>;
  const spoolDirectory = newDirectory();
  const { spool } = openSpool(spoolDirectory);

  before(async () => {
    testDatabase = await createTestDatabase({ schema: 'relay', migrations: relayMigrations });
    await migrate(testDatabase.url, { schema: 'intake', directory: intakeMigrations }, silentLog);
    database = createPool(testDatabase.url, { schema: 'relay', log: silentLog });
    broker = connectBroker(testDatabase.url, forgeTopology, { log: silentLog, name: 'test' });
    await broker.ready(60_000);
    tracers = await deployables.loadTracers();
  });
  after(async () => {
    await broker.close();
    await database.close();
    await testDatabase.drop();
  });

  async function traced(id: string, url = testDatabase.url) {
    const printed: string[] = [];
    const environment = { DATABASE_URL: url, BROKER_URL_1: testDatabase.url, FailedPayloads__Directory: spoolDirectory };
    const isFound = await trace(id, { environment, print: (text) => void printed.push(text) }, tracers);
    return { isFound, lines: printed.join('').trimEnd().split('\n') };
  }

  const run = (name: string, sql: string, ...values: readonly unknown[]) => database.run(statement<unknown, unknown[]>(`test.trace.${name}`, sql), ...values);

  it('says that no place has it', async () => {
    const id = randomUUID();
    expect(await traced(id)).to.deep.equal({
      isFound: false,
      lines: [`no delivery ${id} found: it did not arrive, or its retention is over`],
    });
  });

  it('finds one that was refused, and says by which answer and why', async () => {
    const insert = (name: string, id: string, status: number, reason: string) =>
      run(
        name,
        `insert into rejected_deliveries (id, received_at, status, reason, event, delivery_id, hook_id, target_id, headers, payload, payload_bytes)
        values ($1, $2, $3, $4, 'push', 'refused-1', '0', '0', '{}', '', 0)`,
        id,
        at,
        status,
        reason,
      );
    const answered = randomUUID();
    await insert('limit', randomUUID(), 503, 'No connection has room left.');
    await insert('unsigned', answered, 401, 'The header X-Hub-Signature-256 is missing.');
    const { isFound, lines } = await traced('refused-1');
    expect(isFound).to.equal(true);
    expect(lines.slice(1).sort()).to.deep.equal([
      'relay, rejected  2026-01-02T03:04:05.678Z  401 for event push: The header X-Hub-Signature-256 is missing.',
      'relay, rejected  2026-01-02T03:04:05.678Z  503 for event push: No connection has room left.',
    ]);
    expect((await traced(answered)).lines, 'by the id of the answer').to.have.length(2);
  });

  it("finds one in the relay's spool, by the id of the forge and of the relay, and one that was given up", async () => {
    const [spooled, refused] = await fill(spool, 2);
    const [, file] = await spool.pending();
    if (!spooled || !refused || !file) throw new Error('the spool is empty');
    await spool.setTries(file, 2);
    const [, tried = file] = await spool.pending();
    await spool.refuse(tried, { reason: 'too large', toDo: 'look' });
    for (const id of [spooled.id, spooled.headers['x-delivery-id'] ?? '']) {
      const [head, line, ...more] = (await traced(id)).lines;
      expect([head?.split(/ +/), more]).to.deep.equal([['PLACE', 'SINCE', 'DETAIL'], []]);
      expect(line)
        .to.match(/^relay's disk {2}\d{4}-\S+Z {2}spooled: published once a broker is back; refused 0 times; unreachable; /)
        .and.contain(spooled.id);
    }
    expect((await traced(refused.id)).lines[1])
      .to.contain('given up: refused by every connection in 3 tries')
      .and.to.contain(join(spoolDirectory, 'refused'));
    await writeFile(join(spoolDirectory, 'refused', tried.name), 'damaged');
    expect((await traced(refused.id)).lines[1]).to.contain('cannot be published: corrupt: the first line does not end');
    const { isFound, lines } = await traced(refused.headers['x-delivery-id'] ?? '');
    expect([isFound, lines.at(-1)]).to.deep.equal([false, `no delivery ${refused.headers['x-delivery-id']} found in the places that could be asked`]);
    expect(lines[1]).to.contain('perhaps this one, its delivery id cannot be read').and.to.contain(tried.name);
    await rm(join(spoolDirectory, 'refused', tried.name));
  });

  it('finds one that was handed to the database, and says what became of it', async () => {
    const kept = createMessage();
    await createFailedPayloads(database).insert({ message: kept, reason: 'no broker connected', spooledAt: at }, 2);
    const id = kept.headers['x-delivery-id'] ?? '';
    const state = async () => (await traced(id)).lines[1];
    expect(await state()).to.equal(
      "relay's database  2026-01-02T03:04:05.678Z  spooled: published once a broker is back; refused 2 times; no broker connected",
    );
    await run('refused', 'update failed_payloads set refused_at = $1, tries = 3', at);
    expect(await state()).to.match(
      /given up 2026-01-02T03:04:05.678Z: refused by every connection in 3 tries, mostly for its size; when it came: no broker connected$/,
    );
    await run('corrupt', 'update failed_payloads set refused_at = $1, tries = 1', at);
    expect(await state()).to.match(/given up 2026-01-02T03:04:05.678Z: corrupt: the header is not one of a message$/);
    await run('replayed', 'update failed_payloads set replayed_at = $1, payload = null', at);
    expect(await state()).to.contain('published 2026-01-02T03:04:05.678Z');
  });

  it('finds one in the event log, and says when its retention is over', async () => {
    const event = randomUUID();
    const key = `insert into intake.delivery_keys (source, delivery_id, hook_id, target_id, event_id, stored_at) values ('forge', 'stored-1', '1', '2', $1, $2)`;
    await run('key', key, event, at);
    expect((await traced('stored-1')).lines[1]).to.contain('stored, and deleted since by its retention');
    await run(
      'event',
      `insert into intake.events (id, source, event, action, repository, delivery_id, hook_id, target_id, score, is_core_function, bytes, received_at, stored_at, headers, relay_id)
      values ($1, 'forge', 'issues', 'opened', 'me/mine', 'stored-1', '1', '2', 5, true, 2, $2, $2, '{}', 'relay-1')`,
      event,
      at,
    );
    await run('tracked', `insert into intake.tracked_deliveries (delivery_id, hook_id, target_id, tracked_at) values ('stored-1', '1', '2', $1)`, at);
    // The relay's id is the one that its answer has.
    for (const id of ['stored-1', 'relay-1'])
      expect((await traced(id)).lines.slice(1)).to.deep.equal([
        `intake, event log     2026-01-02T03:04:05.678Z  forge issues opened me/mine: /api/v1/events/${event}`,
        'intake, typed tables  2026-01-02T03:04:05.678Z  taken up by database-service',
      ]);
  });

  it('says how many messages wait before it is taken, then why it is dead', async () => {
    const sent = message({ event: 'issues', payload: {}, deliveryId: 'dead-1' });
    await broker.publish(sent, 10_000);
    const waiting = await traced('dead-1');
    expect(waiting.isFound).to.equal(false);
    expect(waiting.lines).to.include('BROKER_URL_1, queue forge                  1 messages wait, it may be one of them: a queue cannot be searched');
    expect(waiting.lines.at(-1)).to.equal('no delivery dead-1 found in the places that could be asked');

    const consumer = broker.consume('forge', { batchSize: 1, prefetch: 1 }, () => Promise.resolve([{ deadLetter: 'no row for it' }]));
    await eventually(async () => expect(await broker.depth('forge.dead')).to.equal(1), { withinMs: 30_000 });
    await consumer.stop();
    const { isFound, lines } = await traced('dead-1');
    expect(isFound).to.equal(true);
    expect(lines[1])
      .to.match(/^BROKER_URL_1, dead letter +\S/)
      .and.contain(`message ${sent.id} of queue forge: no row for it`);
  });

  it('answers for what it may read, and says what it may not', async () => {
    const role = `trace_${randomUUID().replaceAll('-', '')}`;
    await run('role', `create role ${role} login password 'only-the-relay'`);
    await run('grant', `grant usage on schema relay to ${role}`);
    await run('select', `grant select on all tables in schema relay to ${role}`);
    try {
      const url = new URL(testDatabase.url);
      [url.username, url.password] = [role, 'only-the-relay'];
      const { isFound, lines } = await traced('refused-1', url.href);
      expect(isFound).to.equal(true);
      expect(lines.filter((line) => line.startsWith('relay, rejected'))).to.have.length(2);
      expect(lines.at(-1)).to.match(/^webhook-intake .* not asked: the user of DATABASE_URL may not read the schema intake$/);
    } finally {
      await run('drop', `drop owned by ${role}`);
      await run('dropRole', `drop role ${role}`);
    }
  });
});
