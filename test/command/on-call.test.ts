// The commands of a person on call, against a real relay on RabbitMQ and on the broker inside Postgres.
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { fullOn, listBrokers, resetUsage, switchTo } from '../../services/command/brokers.ts';
import { ageText, numberText, wrap } from '../../services/command/figures.ts';
import { type Installation, readInstallation } from '../../services/command/installation.ts';
import { queues } from '../../services/command/queues.ts';
import { dropSpooled, listSpooled, retrySpooled } from '../../services/command/spool.ts';
import { replay } from '../../services/command/replay.ts';
import { sql } from '../../services/command/sql.ts';
import { requireAnswer } from '../../services/platform/http/wire.ts';
import { Timestamp } from '../../services/platform/schema.ts';
import { Expiring } from '../../services/secrets/overview/contract.ts';
import { silentLog } from '../../services/platform/log.ts';
import { connectBroker } from '../../services/platform/broker/connect.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { createFailedPayloads } from '../../services/webhook-relay/spool/failed-payloads.ts';
import { deliver, migrations, startRelay, type TestRelay } from '../services/webhook-relay/relay.ts';
import { createMessage } from '../services/webhook-relay/spool/fixtures.ts';
import { describeWith } from '../support/need.ts';
import { startOtherServer } from '../support/other-server.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../support/rabbitmq.ts';
import { startSilentServer } from '../support/silent-server.ts';
import { eventually, freePort } from '../support/wait.ts';

const Broker__AuthToken = 'a token of the administrator';

function printing() {
  let text = '';
  return { print: (some: string) => void (text += some), json: false, lines: () => text.trimEnd().split('\n') };
}
const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'no failure',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

describe('figures of commands', () => {
  it('part thousands, and show an age in its largest unit', () => {
    expect([0, 999, 1000, 1_234_567].map(numberText)).to.deep.equal(['0', '999', '1 000', '1 234 567']);
    expect([0, 119, 120, 7199, 7200, 200_000].map(ageText)).to.deep.equal(['0 s', '119 s', '2 min', '119 min', '2 h', '2 d']);
  });

  it('wrap between words, and leave a longer word whole', () => {
    expect(wrap('one two three', 7)).to.deep.equal(['one two', 'three']);
    expect(wrap('a-very-long-word b', 5)).to.deep.equal(['a-very-long-word', 'b']);
  });
});

describe('where commands find the services', () => {
  it('is the setting of the console, or this pod where it is the service', () => {
    expect(readInstallation({ Console__RelayUrl: 'http://relay/' }).urlOf('webhook-relay')).to.equal('http://relay');
    const inPod = readInstallation({ DATABASE_URL: 'postgres://db/signalbox', Broker__AuthToken, PORT: '8090' });
    expect(inPod.urlOf('webhook-relay')).to.equal('http://127.0.0.1:8090');
    expect(inPod.urlOf('webhook-intake')).to.equal(undefined);
    for (const login of ['Console__AdminPassword', 'Console__AdminPasswordHash', 'Console__Oidc__Issuer', 'Console__ForwardAuth__Proxies'])
      expect(readInstallation({ DATABASE_URL: 'postgres://db/signalbox', [login]: 'x' }).urlOf('console'), login).to.equal('http://127.0.0.1:8080');
    // The worker of mails has a token of listings, and serves nothing.
    expect(readInstallation({ Listings__AccessTokens: 'a token of the listings' }).urlOf('listings')).to.equal(undefined);
  });

  it('asks again where a service is busy, once', async () => {
    const answers = [503, 200, 503, 503];
    const server = createServer((_, response) => {
      const status = answers.shift() ?? 500;
      response
        .writeHead(status, { 'Content-Type': 'application/json' })
        .end(JSON.stringify(status === 200 ? { queues: [] } : { title: 'Busy', status, type: 'about:blank' }));
    });
    const port = await new Promise<number>((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
    const busy = readInstallation({ Console__RelayUrl: `http://127.0.0.1:${port}`, Broker__AuthToken });
    try {
      const output = printing();
      await queues(busy, output);
      expect(output.lines()).to.deep.equal(['CONNECTION  QUEUE  WAITING  IN WORK  OLDEST  CONSUMERS']);
      expect(await failure(queues(busy, output))).to.contain('503');
      expect(answers).to.deep.equal([]);
    } finally {
      server.close();
    }
  });

  it('says which settings are missing', async () => {
    expect(await failure(queues(readInstallation({}), printing()))).to.match(/Console__RelayUrl .*Broker__AuthToken/);
  });

  it('says that nothing listens, and that the answer does not come', async () => {
    const nowhere = readInstallation({ Console__RelayUrl: `http://127.0.0.1:${await freePort()}`, Broker__AuthToken });
    expect(await failure(queues(nowhere, printing()))).to.match(/^webhook-relay at http:\/\/127\.0\.0\.1:\d+ does not answer: ECONNREFUSED$/);
    const silent = await startSilentServer();
    const mute = readInstallation({ Console__RelayUrl: `http://127.0.0.1:${silent.port}`, Broker__AuthToken }, 100);
    expect(await failure(queues(mute, printing()))).to.match(/ does not answer within 0\.1 s$/);
    silent.close();
  });
});

describe('commands and a server that is not the one they ask', () => {
  let other: Awaited<ReturnType<typeof startOtherServer>>;
  before(async () => (other = await startOtherServer()));
  after(() => other.close());

  it('say so, with the setting of its address', async () => {
    const asked = readInstallation({ Console__RelayUrl: other.url, Console__IntakeUrl: other.url, Broker__AuthToken, Intake__AccessTokens: Broker__AuthToken });
    const { print, json } = printing();
    const one = { ids: ['one'], isGivenUp: false };
    const failures = await Promise.all(
      [
        queues(asked, { print, json }),
        listBrokers(asked, { print, json }),
        switchTo(asked, 'BROKER_URL_1', print),
        resetUsage(asked, 'BROKER_URL_1', print),
        listSpooled(asked, { print, json, limit: 20 }),
        retrySpooled(asked, one, print),
        dropSpooled(asked, { ids: [], isGivenUp: true }, print),
        replay(asked, { notify: true, dryRun: false, event: 'issues' }, print),
      ].map(failure),
    );
    for (const text of failures)
      expect(text).to.match(/^the answer of http:\S+ is not one of webhook-(relay|intake) \(.+\): see whether Console__(Relay|Intake)Url is right$/);
  });

  it('take what a later release says as well, and times', () => {
    const item = { application: 'shop', environment: 'production', secret: 'key', version: 1, expiresAt: '2026-03-15T12:00:00.000Z', more: true };
    const asked = { address: 'http://secrets', service: 'secrets', setting: 'Console__SecretsUrl' };
    expect(requireAnswer(Expiring, JSON.stringify({ items: [item], next: null, more: 1 }), asked).items[0]?.version).to.equal(1);
    expect(requireAnswer(z.object({ at: Timestamp }), '{"at":"2026-03-15T12:00:00.000Z"}', asked).at).to.contain('2026');
    expect(() => requireAnswer(Expiring, '<html>', asked)).to.throw(/\(no JSON\): see whether Console__SecretsUrl/);
  });
});

describe('when a connection is full', () => {
  const at = (time: string | null) => ({ fullAt: time === null ? null : new Date(time), usedAt: () => 0 });

  it('is the day of the forecast, now, or none', () => {
    const quota = { monthlyLimit: 20_000, limitReached: false };
    expect(fullOn(quota, at('2026-03-25T08:00:00Z'))).to.equal('2026-03-25');
    expect(fullOn(quota, at(null)), 'the month ends before').to.equal(null);
    expect(fullOn(quota, undefined), 'nothing is published').to.equal(null);
    expect(fullOn({ ...quota, limitReached: true }, undefined)).to.equal('now');
    expect(fullOn({ monthlyLimit: 0, limitReached: true }, at('2026-03-25T08:00:00Z')), 'nothing is to be published there').to.equal(null);
  });
});

describe('commands of a person on call', () => {
  let database: TestDatabase;
  let relay: TestRelay;
  const installation = () => readInstallation({ Console__RelayUrl: relay.url, Broker__AuthToken });
  before(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    const environment = { Broker__AuthToken, BROKER_URL_1: database.url, BROKER_URL_2: `amqp://127.0.0.1:${await freePort()}`, BROKER_LIMIT_1: '1234567' };
    relay = await startRelay({ databaseUrl: database.url, environment, awaitBrokers: false });
    await relay.connections.all[0]?.ready(30_000);
    await deliver(relay.url);
  });
  after(async () => {
    await relay.close();
    await database.drop();
  });

  it('say that the credential is refused, by its setting', async () => {
    const refused = readInstallation({ Console__RelayUrl: relay.url, Console__RelayToken: 'a token that is not known' });
    expect(await failure(queues(refused, printing()))).to.match(/^webhook-relay refuses the credential of Console__RelayToken: /);
  });

  it('queues: shows what waits, its age, and that nothing consumes it', async () => {
    const output = printing();
    await queues(installation(), output);
    const [head, forge, ...others] = output.lines();
    expect(head?.split(/ {2,}/)).to.deep.equal(['CONNECTION', 'QUEUE', 'WAITING', 'IN WORK', 'OLDEST', 'CONSUMERS']);
    expect(forge).to.match(/^BROKER_URL_1 +forge +1 +0 +\d+ s +0$/);
    expect(others.join('\n'))
      .to.match(/BROKER_URL_1 +forge\.dead +0 +0 +- +0\n/)
      .and.match(/BROKER_URL_2 +forge +\? +\? +\? +\?\n/)
      .and.contain('forge of BROKER_URL_1 has no consumer')
      .and.contain('BROKER_URL_2 does not answer: signalbox brokers says why');
  });

  it('queues: counts consumers and what they hold on the broker inside Postgres, until they stop', async () => {
    const broker = connectBroker(database.url, forgeTopology, { log: silentLog, name: 'test' });
    await broker.ready(30_000);
    const finish = Promise.withResolvers<undefined>();
    const consumer = broker.consume('forge', { batchSize: 1, prefetch: 1 }, async (batch) => {
      await finish.promise;
      return batch.map(() => 'requeue' as const);
    });
    const line = async () => {
      const output = printing();
      await queues(installation(), output);
      return output.lines()[1];
    };
    await eventually(async () => expect(await line()).to.match(/^BROKER_URL_1 +forge +0 +1 +- +1$/), { withinMs: 20_000 });
    finish.resolve(undefined);
    await consumer.stop();
    await eventually(async () => expect(await line()).to.match(/^BROKER_URL_1 +forge +1 +0 +\d+ s +0$/), { withinMs: 20_000 });
    await broker.close();
  });

  it('queues: prints the answer of the relay as JSON', async () => {
    const output = { ...printing(), json: true };
    await queues(installation(), output);
    expect(JSON.parse(output.lines().join('\n'))).to.have.nested.property('queues[0].consumers', 0);
  });

  it('brokers: shows state, usage and limit within 100 columns, and why one is away', async () => {
    const output = printing();
    await listBrokers(installation(), output);
    const lines = output.lines();
    expect(lines[1]).to.match(/^BROKER_URL_1 +connected, active +1 +1 234 567 +0 % +not this month$/);
    expect(lines[2]).to.match(/^BROKER_URL_2 +disconnected +0 +2 000 000 /);
    expect(lines.join('\n')).to.match(/BROKER_URL_2 at 127\.0\.0\.1:\d+: .*ECONNREFUSED/);
    for (const line of lines.slice(0, 3)) expect(line.length).to.be.at.most(100);
  });

  it('brokers: makes one active, counts its usage from 0, and names those that there are', async () => {
    const output = printing();
    await switchTo(installation(), 'broker_url_2', output.print);
    await switchTo(installation(), 'BROKER_URL_1', output.print);
    await resetUsage(installation(), 'BROKER_URL_1', output.print);
    expect(output.lines()).to.deep.equal([
      'BROKER_URL_2 is active, before it was BROKER_URL_1',
      'BROKER_URL_1 is active, before it was BROKER_URL_2',
      'the usage of BROKER_URL_1 counts from 0 again',
    ]);
    expect(await failure(switchTo(installation(), 'BROKER_URL_9', output.print))).to.contain('there are: BROKER_URL_1, BROKER_URL_2');
    expect(await failure(resetUsage(installation(), 'BROKER_URL_9', output.print)))
      .to.contain('404')
      .and.contain('BROKER_URL_1');
  });

  it('spool: lists what is kept with its reasons, tries again what was given up, and drops by id', async () => {
    const rows = createFailedPayloads(relay.database);
    const [one, other] = [createMessage(), createMessage()];
    for (const message of [one, other]) await rows.insert({ message, reason: 'no broker is connected', spooledAt: new Date('2026-01-02T03:04:05Z') }, 3);
    await relay.database.driver.query('update failed_payloads set refused_at = now()');
    const listed = printing();
    await listSpooled(installation(), { ...listed, limit: 1 });
    const lines = listed.lines();
    expect(lines[0]?.split(/ {2,}/)).to.deep.equal(['ID', 'STATE', 'AGE', 'TRIES', 'EVENT']);
    expect(lines[1]).to.match(/^[0-9a-f-]{36} +given up, database +\d+ d +3 +\w+$/);
    expect(lines.slice(2)).to.deep.equal([
      'and 1 more',
      '',
      '2 because of: refused by every connection in 3 tries, mostly for its size; when it came: no broker',
      'is connected',
    ]);
    for (const line of lines) expect(line.length).to.be.at.most(100);

    const acted = printing();
    await dropSpooled(installation(), { ids: [one.id], isGivenUp: false }, acted.print);
    await retrySpooled(installation(), { ids: [], isGivenUp: true }, acted.print);
    expect(acted.lines()).to.deep.equal(['1 dropped', '1 tried again: 1 left the spool']);
    expect(await failure(dropSpooled(installation(), { ids: [one.id], isGivenUp: false }, acted.print))).to.contain('404');
    await eventually(async () => {
      const empty = printing();
      await listSpooled(installation(), { ...empty, limit: 20 });
      expect(empty.lines()).to.deep.equal(['no delivery is spooled here']);
    });
  });

  it('spool: says of one that is given up again that it was', async () => {
    await mkdir(join(relay.spoolDirectory, 'refused'), { recursive: true });
    await writeFile(join(relay.spoolDirectory, 'refused', '2026-01-02T030405.678Z_damaged-one.0.payload'), 'not a spool file');
    const acted = printing();
    await retrySpooled(installation(), { ids: ['damaged-one'], isGivenUp: false }, acted.print);
    await dropSpooled(installation(), { ids: ['damaged-one'], isGivenUp: false }, acted.print);
    expect(acted.lines()).to.deep.equal(['1 tried again: 1 given up again', '1 dropped']);
  });

  it('spool: goes on where one that was given up is gone meanwhile', async () => {
    const rows = createFailedPayloads(relay.database);
    for (const message of [createMessage(), createMessage()]) await rows.insert({ message, reason: 'too large', spooledAt: new Date() }, 3);
    await relay.database.driver.query('update failed_payloads set refused_at = now()');
    const real = installation();
    let isFirst = true;
    const ask: Installation['ask'] = async (service, call, contract) => {
      const isOvertaken = isFirst && call.method === 'DELETE';
      if (isOvertaken) isFirst = false;
      if (isOvertaken) await real.ask(service, call, contract);
      return real.ask(service, call, contract);
    };
    const acted = printing();
    await dropSpooled({ ...real, ask }, { ids: [], isGivenUp: true }, acted.print);
    expect(acted.lines()).to.deep.equal(['1 dropped, 1 no longer there']);
  });

  it('sql: prints rows as a table, changes none unless told to, and is one statement', async () => {
    const run = async (text: string, options: { json?: boolean; isWrite?: boolean } = {}) => {
      const output = printing();
      await sql(text, { environment: { DATABASE_URL: database.url }, ...output, isWrite: false, ...options });
      return output.lines();
    };
    expect(await run('select 1 as one, null as nothing, now() is not null as told')).to.deep.equal(['one  nothing  told', '1             true']);
    expect(await run("select repeat('x', 100) as long")).to.have.nested.property('[1].length', 60);
    expect(await run("select repeat('x', 100) as long", { json: true })).to.deep.equal([JSON.stringify({ long: 'x'.repeat(100) })]);
    expect(await run(String.raw`select e'\n  select 1\n\tfrom x' as query`)).to.deep.equal(['query', 'select 1 from x']);
    expect(await run("select 'hi'::bytea as bytes")).to.deep.equal(['bytes', String.raw`\x6869`]);
    expect(await run('select 1 where false')).to.deep.equal(['no rows']);
    expect(await run('select')).to.deep.equal(['rows: 1']);
    for (const empty of ['', ' -- nothing']) expect(await failure(run(empty))).to.contain('the statement is empty');
    expect(await run(`select interval '1 day 65 seconds' as since`)).to.deep.equal(['since', '1 day 00:01:05']);
    expect(await failure(run('delete from relay.senders')))
      .to.contain('read-only')
      .and.contain('--write');
    expect(await failure(run('commit; delete from relay.senders'))).to.contain('multiple commands');
    expect(await failure(run('select 1 from senders'))).to.contain('name its schema, too');
    expect(await run('delete from relay.senders', { isWrite: true })).to.deep.equal(['rows changed: 1']);
    expect(await run('create table relay.counted as select generate_series(1, 4) as n', { isWrite: true })).to.deep.equal(['rows changed: 4']);
    expect(await run('delete from relay.counted where n > 2', { isWrite: true })).to.deep.equal(['rows changed: 2']);
    expect(await run('delete from relay.counted where n = 1 returning n', { isWrite: true })).to.deep.equal(['n', '1']);
    expect(await run('drop table relay.counted', { isWrite: true })).to.deep.equal(['done']);
    const many = 'select generate_series(1, 1500) as n';
    expect((await run(many)).slice(-2)).to.deep.equal(['1000', 'and 500 more']);
    expect(await run(many, { json: true })).to.have.lengthOf(1500);
    expect(await failure(run('select 1 / (1000 - n) from generate_series(1, 2000) as n'))).to.contain('division by zero');
    expect(
      await failure(sql('select 1', { environment: { DATABASE_URL: `postgres://me:secret@127.0.0.1:${await freePort()}/db` }, ...printing(), isWrite: false })),
    )
      .to.contain('nothing listens there')
      .and.not.contain('secret');
  });
});

describeWith(rabbitmq, 'queues of RabbitMQ', () => {
  it('have consumers, and neither an age nor what is in work', async () => {
    const database = await createTestDatabase({ schema: 'relay', migrations });
    const { url } = await (await sharedRabbitmq()).createVhost();
    const relay = await startRelay({ databaseUrl: database.url, environment: { Broker__AuthToken, BROKER_URL_1: url } });
    const consuming = connectBroker(url, forgeTopology, { log: silentLog, name: 'test' });
    try {
      await deliver(relay.url);
      const lines = async () => {
        const output = printing();
        await queues(readInstallation({ Console__RelayUrl: relay.url, Broker__AuthToken }), output);
        return output.lines();
      };
      expect((await lines())[1]).to.match(/^BROKER_URL_1 +forge +1 +- +- +0$/);
      const consumer = consuming.consume('forge', { batchSize: 1, prefetch: 1 }, (batch) => Promise.resolve(batch.map(() => 'ack' as const)));
      await eventually(async () => expect((await lines())[1]).to.match(/^BROKER_URL_1 +forge +0 +- +- +1$/), { withinMs: 20_000 });
      await consumer.stop();
    } finally {
      await consuming.close();
      await relay.close();
      await database.drop();
    }
  });
});
