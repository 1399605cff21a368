// The findings of the doctor, and its words.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import pg from 'pg';
import { type Connection, connectionFindings, queueFindings } from '../../services/command/doctor/brokers.ts';
import { certificateFinding, judge } from '../../services/command/doctor/certificates.ts';
import { fetchFrom, Refused } from '../../services/command/installation.ts';
import { doctor, findingsOf, textOf } from '../../services/command/doctor/doctor.ts';
import { clockFinding, type Finding, withoutRightClocks } from '../../services/command/doctor/finding.ts';
import { notificationFindings } from '../../services/command/doctor/notifications.ts';
import { connectionsFinding, diskFinding } from '../../services/command/doctor/servers.ts';
import { differenceOf } from '../../services/command/doctor/services.ts';
import type { HealthReport } from '../../services/webhook-relay/contract.ts';
import { adminToken, newApplication, putSecret, secretValue, useService } from '../services/secrets/service.ts';
import { deliver, migrations, startRelay, type TestRelay } from '../services/webhook-relay/relay.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { describeWith } from '../support/need.ts';
import { commandLine } from '../support/programs.ts';
import { eventually, freePort } from '../support/wait.ts';

const now = new Date('2026-03-15T12:00:00Z');

describe('the doctor', () => {
  it('says each thing in lines of at most 100 characters, what is wrong last, with the remedy below', () => {
    const long = 'a reason of many words '.repeat(8).trim();
    const text = textOf([
      { subject: 'database', state: 'wrong', detail: long, toDo: 'start it' },
      { subject: 'spool', state: 'ok', detail: 'empty' },
      { subject: 'a', state: 'warning', detail: 'late' },
      { subject: 'b', state: 'warning', detail: 'late' },
    ]);
    const lines = text.split('\n');
    for (const line of lines) expect(line.length).to.be.at.most(100);
    expect(lines[0]).to.equal('ok       spool     empty');
    expect(lines[3]).to.match(/^wrong {4}database {2}a reason/);
    expect(text)
      .to.contain('\n                   to do: start it\n')
      .and.to.match(/\n\n1 wrong, 2 warnings, 1 ok\n$/);
  });

  it('keeps its lines within 100 characters where it knows no service and cannot read settings', async () => {
    let text = '';
    const isWell = await doctor({ BROKER_URL_2: 'localhost', Console__RelayUrl: 'no address' }, { print: (some) => void (text += some), json: false });
    expect(isWell).to.equal(false);
    for (const line of text.split('\n')) expect(line.length, line).to.be.at.most(100);
    expect(text).to.match(/^unknown {2}services {2}no address is known here of webhook-relay, /m);
    expect(text)
      .to.match(/^wrong {4}settings {2}Console__RelayUrl /m)
      .and.match(/^wrong {4}settings {2}BROKER_URL_2 must /m);
  });

  it('says of no queue that it is well while one is unknown', () => {
    const queue = { queue: 'forge', messages: 3, inWork: 0, consumers: 1, oldestAt: null, oldestSeconds: null };
    const silent = { ...queue, messages: null, inWork: null, consumers: null };
    const others = [
      { ...silent, broker: 'BROKER_URL_2' },
      { ...silent, broker: 'BROKER_URL_2', queue: 'forge.dead' },
    ];
    const unknown = { subject: 'queues', state: 'unknown', detail: 'BROKER_URL_2 did not say within 1 s what waits in forge, forge.dead' };
    const known = { ...queue, broker: 'BROKER_URL_1' };
    expect(queueFindings([known])).to.deep.equal([{ subject: 'queues', state: 'ok', detail: '3 messages wait' }]);
    expect(queueFindings([known, ...others])).to.deep.equal([unknown]);
  });

  it('takes a queue without a consumer for wrong once a worker on a schedule should have taken from it', () => {
    const stateAt = (oldestSeconds: number | null) =>
      queueFindings([{ broker: 'BROKER_URL_1', queue: 'forge', messages: 1, inWork: 0, consumers: 0, oldestAt: null, oldestSeconds }]).map(
        ({ state }) => state,
      );
    expect([null, 1, 600, 601].flatMap(stateAt)).to.deep.equal(['warning', 'warning', 'warning', 'wrong']);
    const [dead] = queueFindings([{ broker: 'BROKER_URL_1', queue: 'forge.dead', messages: 1, inWork: 0, consumers: 0, oldestAt: null, oldestSeconds: 900 }]);
    expect(dead).to.include({ state: 'warning' }).and.to.have.property('detail').that.contains('a pod of the intake');
  });

  it('says of each channel why notifications are not sent, and nothing of those that were not tried yet', () => {
    const message = { channel: 'push', recipient: 'alerts', status: 'pending', lastError: 'the push server answered 403' } as const;
    expect(notificationFindings([{ ...message, lastError: null }])).to.deep.equal([{ subject: 'notifications', state: 'ok', detail: 'none failed' }]);
    const found = notificationFindings([message, { ...message, recipient: 'builds' }, { ...message, status: 'failed' }, { ...message, lastError: null }]);
    expect(found.map(({ state, detail }) => [state, detail])).to.deep.equal([
      ['warning', 'push, tried again: 2; to alerts: the push server answered 403'],
      ['warning', 'push, given up: 1; to alerts: the push server answered 403'],
    ]);
  });

  it('takes a limit of 0 for well while another connection takes messages', () => {
    const drained: Connection = {
      name: 'BROKER_URL_1',
      index: 1,
      scheme: 'amqp',
      host: 'broker',
      port: 5672,
      virtualHost: '/',
      isActive: false,
      isConnected: true,
      limitReached: true,
      isNearLimit: true,
      monthlyLimit: 0,
      messageCount: 7,
      remaining: 0,
      lastPublishedAt: null,
      lastError: null,
    };
    const taking = { ...drained, name: 'BROKER_URL_2', limitReached: false, isNearLimit: false, monthlyLimit: 10, messageCount: 0, remaining: 10 };
    expect(connectionFindings([drained, taking])[0]).to.include({ state: 'ok', detail: 'connected; takes no more messages (its limit is 0)' });
    expect(connectionFindings([drained])[0]).to.include({ state: 'wrong' });
    const blocked = { ...taking, isConnected: false, lastError: 'blocked by the server: low on memory' };
    expect(connectionFindings([blocked])[0])
      .to.have.property('toDo')
      .that.contains('alarms');
  });

  it('takes a question that fails or gets no answer for wrong, and nothing else with it', async () => {
    const failing = await findingsOf({ subject: 'one', run: () => Promise.reject(new Error('refused')) });
    const [away] = await findingsOf({ subject: 'three', run: () => Promise.reject(new Refused('webhook-relay', 503, '{}')) });
    expect(away).to.include({ state: 'wrong' }).and.to.have.property('toDo').that.contains('Postgres');
    const hanging = await findingsOf({ subject: 'two', run: () => new Promise(() => undefined) }, 20);
    expect([...failing, ...hanging]).to.deep.equal([
      { subject: 'one', state: 'wrong', detail: 'refused' },
      { subject: 'two', state: 'wrong', detail: 'no answer within 0.02 s' },
    ]);
  });

  it('sends the reader of a refusal to the log of a service that fails, and to Postgres where that is away', async () => {
    const toDoOf = async (status: number) =>
      (await findingsOf({ subject: 'spool', run: () => Promise.reject(new Refused('webhook-relay', status, '')) }))[0]?.toDo;
    expect(await toDoOf(500)).to.contain('log of that service');
    expect(await toDoOf(503)).to.contain('Postgres');
    expect(await toDoOf(404)).to.equal(undefined);
  });

  it('judges clocks: seconds are a warning, a minute is wrong', () => {
    expect([0, 5000, -5000].map((ms) => clockFinding('secrets', ms).state)).to.deep.equal(['ok', 'ok', 'ok']);
    expect(clockFinding('secrets', -30_000)).to.include({ state: 'warning', detail: 'its clock is 30 s behind this one' });
    expect(clockFinding('secrets', 61_000)).to.include({ state: 'wrong', detail: 'its clock is 61 s ahead of this one' });
  });

  it('suspects its own clock, once, where all others differ from it by the same', () => {
    const clocks = (...ahead: readonly number[]) => withoutRightClocks(ahead.map((ms, index) => clockFinding(`service-${index + 1}`, ms)));
    expect(clocks(0, 1000)).to.deep.equal([]);
    const [own, ...rest] = clocks(-400_000, -399_001);
    expect(rest).to.deep.equal([]);
    expect(own).to.include({ subject: 'this machine', state: 'wrong' });
    expect(own?.detail).to.equal('its clock is 400 s ahead of those of service-1, service-2, which agree');
    expect(clocks(400_000, 0).map(({ subject }) => subject)).to.deep.equal(['service-1']);
    expect(clocks(400_000, -400_000).map(({ subject }) => subject)).to.deep.equal(['service-1', 'service-2']);
    expect(clocks(400_000).map(({ subject }) => subject)).to.deep.equal(['service-1']);
  });

  it('reads a clock that shows whole seconds, whatever the answer took', () => {
    expect(differenceOf(10_000, 10_100, 10_900)).to.equal(0);
    expect(differenceOf(10_000, 10_900, 14_900)).to.equal(0);
    expect(differenceOf(20_000, 10_000, 11_000)).to.equal(9000);
    expect(differenceOf(10_000, 20_000, 21_000)).to.equal(-9001);
  });

  it('judges certificates by the days that are left', () => {
    const inDays = (days: number) => judge('amqps', new Date(now.getTime() + days * 86_400_000), now);
    expect(inDays(90)).to.deep.equal({ subject: 'amqps', state: 'ok', detail: 'its certificate ends in 90 days' });
    expect(inDays(5).state).to.equal('warning');
    expect(inDays(-2)).to.include({ state: 'wrong', detail: 'its certificate ended on 2026-03-13' });
  });

  it('judges disks by the share that is free, and connections by those of the server and of the role', () => {
    expect([0.5, 0.1, 0.01].map((share) => diskFinding(share, 1_048_576).state)).to.deep.equal(['ok', 'warning', 'wrong']);
    expect(diskFinding(0.5, 1_048_576, 'shared').detail).to.equal('50 % is free, 1 MiB, of the disk of the machine: the spool has no volume of its own');
    const server = { version: 180_001, now, used: 20, most: 100, own: 5, ownMost: -1 };
    expect(connectionsFinding(server)).to.include({ state: 'ok', detail: 'Postgres 18 answers; 20 of 100 connections are in use' });
    expect(connectionsFinding({ ...server, used: 95 }).state).to.equal('warning');
    expect(connectionsFinding({ ...server, own: 10, ownMost: 10 }))
      .to.include({ state: 'warning' })
      .and.to.have.property('detail')
      .that.contains('10 of 10 of this role');
  });
});

describeWith(commandLine('openssl'), 'the doctor and certificates', () => {
  let server: Server;
  let port: number;
  before(async () => {
    const folder = temporaryDirectory('certificate');
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '10', '-subj', '/CN=localhost'], {
      stdio: 'ignore',
    });
    server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  after(() => void server.close());

  it('reads the end of a certificate off a real server, with any signer', async () => {
    const found = await certificateFinding('BROKER_URL_1', `amqps://me:secret@127.0.0.1:${port}/`);
    expect(found).to.include({ subject: 'BROKER_URL_1', state: 'warning' });
    expect(found.detail).to.match(/^its certificate ends in (9|10) days$/);
  });

  it('takes a service whose certificate nothing trusts for one that runs', async () => {
    const askedOf = (url: string) => findingsOf({ subject: 'secrets', run: () => fetchFrom('secrets', url).then(() => []) });
    const [untrusted] = await askedOf(`https://127.0.0.1:${port}`);
    expect(untrusted?.detail).to.match(/ cannot be asked: DEPTH_ZERO_SELF_SIGNED_CERT$/);
    expect(untrusted).not.to.have.property('toDo');
    const [stopped] = await askedOf(`https://127.0.0.1:${await freePort()}`);
    expect(stopped).to.have.property('toDo').that.contains('see whether it runs');
  });
});

describe('the doctor and a service that answers some questions only', () => {
  const ready = { status: 'ready', checks: {} };
  const health: HealthReport = {
    status: 'Unhealthy',
    version: '0.1.0',
    brokers: [
      { broker: 'BROKER_URL_1', isActive: true, isConnected: true, limitReached: false },
      { broker: 'BROKER_URL_2', isActive: false, isConnected: false, limitReached: false },
    ],
    isDatabaseReachable: false,
  };
  const answers: Readonly<Record<string, readonly [status: number, body: unknown]>> = { '/health/ready': [200, ready], '/api/health': [503, health] };
  const server = createHttpServer((request, response) => {
    if (request.url === '/swagger/v1/swagger.json') return void request.socket.destroy();
    const [status, body] = answers[request.url ?? ''] ?? [503, { type: 'about:blank', title: 'The database does not answer', status: 503 }];
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  before(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
  after(() => void server.close());

  it('says that it is ready beside what fails, and which brokers are connected without the database', async () => {
    let text = '';
    const Console__RelayUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await doctor({ Console__RelayUrl, Broker__AuthToken: 'a token of the administrator' }, { print: (some) => void (text += some), json: true });
    const { findings } = JSON.parse(text) as { findings: readonly Finding[] };
    const [readiness, version] = findings.filter(({ subject }) => subject === 'webhook-relay');
    expect(readiness).to.include({ state: 'ok' });
    expect(version).to.include({ state: 'unknown' }).and.to.have.property('detail').that.contains('its version could not be asked');
    const find = (wanted: string) => findings.find(({ subject }) => subject === wanted);
    expect(find('brokers')).to.include({ state: 'unknown' }).and.to.have.property('detail').that.contains('503');
    expect(find('BROKER_URL_1')).to.include({ state: 'ok', detail: 'connected' });
    expect(find('BROKER_URL_2')).to.include({ state: 'wrong', detail: 'not connected' });
  });
});

describe('signalbox doctor', () => {
  let database: TestDatabase;
  let relay: TestRelay;
  const Broker__AuthToken = 'a token of the administrator';
  before(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    const environment = { Broker__AuthToken, BROKER_URL_1: database.url, BROKER_LIMIT_1: '2' };
    relay = await startRelay({ databaseUrl: database.url, environment });
    // A busy machine: the first answer may take the broker more than its second.
    await eventually(async () => expect((await diagnosed()).find('queues')).to.include({ state: 'ok' }), { withinMs: 20_000 });
  });
  after(async () => {
    await relay.close();
    await database.drop();
  });

  async function diagnosed(more: Readonly<Record<string, string>> = {}) {
    let text = '';
    const environment = {
      Console__RelayUrl: relay.url,
      Broker__AuthToken,
      DATABASE_URL: database.url,
      FailedPayloads__Directory: relay.spoolDirectory,
      ...more,
    };
    const isWell = await doctor(environment, { print: (some) => void (text += some), json: true });
    const { ok, findings } = JSON.parse(text) as { ok: boolean; findings: readonly Finding[] };
    expect(ok).to.equal(isWell);
    return { isWell, findings, find: (subject: string) => findings.find((one) => one.subject === subject) };
  }

  it('finds nothing wrong where nothing is, and says what it could not ask', async () => {
    const { isWell, find } = await diagnosed();
    expect(isWell).to.equal(true);
    for (const subject of ['webhook-relay', 'BROKER_URL_1', 'queues', 'spool', 'database', 'spool disk'])
      expect(find(subject), subject).to.include({ state: 'ok' });
    expect(find('services')).to.include({
      state: 'unknown',
      detail: 'no address is known here of webhook-intake, link-digest, secrets, bookmarks, listings, console',
    });
  });

  it('asks everything else where settings cannot be read, and says which', async () => {
    const { isWell, find } = await diagnosed({ BROKER_URL_2: 'localhost', DATABASE_URL: 'no address' });
    expect(isWell).to.equal(false);
    expect(find('settings'))
      .to.include({ state: 'wrong' })
      .and.to.have.property('detail')
      .that.matches(/^DATABASE_URL /);
    for (const subject of ['webhook-relay', 'BROKER_URL_1', 'queues', 'spool', 'spool disk']) expect(find(subject), subject).to.include({ state: 'ok' });
    expect((await diagnosed({ BROKER_URL_2: 'localhost' })).find('settings'))
      .to.have.property('detail')
      .that.matches(/^BROKER_URL_2 /);
  });

  it('says that the spool is on the disk of the machine where it has no volume, and how much of its limit is left', async () => {
    expect((await diagnosed({ FailedPayloads__Directory: '/' })).find('spool disk')?.detail).to.contain('of the disk of the machine');
    const limited = (await diagnosed({ FailedPayloads__MaxBytes: '2097152' })).find('spool disk');
    expect(limited?.detail).to.match(/^\d+ % is free, [12] MiB of what it may hold \(FailedPayloads__MaxBytes\)$/);
  });

  it('says what is wrong beside what is not: a service that is away, a database that refuses, a connection at its limit', async () => {
    await deliver(relay.url);
    await deliver(relay.url);
    const { isWell, find } = await diagnosed({
      Console__BookmarksUrl: `http://127.0.0.1:${await freePort()}`,
      DATABASE_URL: database.url.replace(/:\d+\//, `:${await freePort()}/`),
    });
    expect(isWell).to.equal(false);
    expect(find('bookmarks')).to.include({ state: 'wrong' }).and.to.have.property('detail').that.contains('ECONNREFUSED');
    expect(find('database')).to.include({ state: 'wrong' }).and.to.have.property('detail').that.contains('nothing listens there');
    expect(find('BROKER_URL_1')).to.include({ state: 'wrong', detail: 'at its limit: 2 of 2 messages of this month are used' });
    expect(find('queues')).to.include({ state: 'warning' }).and.to.have.property('detail').that.contains('no consumer');
    expect(find('webhook-relay')).to.include({ state: 'ok' });
  });

  it('sends the reader of a refused password to the setting, not to the server', async () => {
    const refused = new URL(database.url);
    refused.username = 'nobody';
    refused.password = 'wrong';
    const { find } = await diagnosed({ DATABASE_URL: refused.href });
    expect(find('database')?.toDo).to.contain('password').and.not.contain('start it');
  });

  it('names the session that others wait for', async () => {
    const [holder, waiter] = [new pg.Client(database.url), new pg.Client(database.url)];
    await Promise.all([holder.connect(), waiter.connect()]);
    try {
      // A lock on a table would hold up what else the doctor asks.
      await holder.query('select pg_advisory_lock(1)');
      const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
      const waiting = waiter.query('select pg_advisory_lock(1)');
      await eventually(async () =>
        expect((await diagnosed()).findings.map(({ detail }) => detail)).to.include(`1 session waits for a lock that session ${rows[0]?.pid ?? 0} holds`),
      );
      await holder.query('select pg_advisory_unlock(1)');
      await waiting;
    } finally {
      await Promise.all([holder.end(), waiter.end()]);
    }
  });

  it('says which check of a service fails, and what to do', async () => {
    relay.health.addCheck('schema', () => ({ ok: false, detail: 'schema relay is at version 0' }));
    const { find } = await diagnosed();
    expect(find('webhook-relay')).to.include({ state: 'wrong', detail: 'not ready: schema: schema relay is at version 0' });
    expect(find('webhook-relay')?.toDo).to.contain('signalbox migrate');
  });

  it('says that an address is not that of a service', async () => {
    const { find } = await diagnosed({ Console__SecretsUrl: `${relay.url}/nowhere` });
    expect(find('secrets')).to.include({ state: 'wrong' }).and.to.have.property('detail').that.contains('and no readiness');
  });
});

describe('the doctor and secrets', () => {
  const service = useService();

  it('says how many expire within two weeks, and which is first', async () => {
    const { slug } = await newApplication(service.url);
    const environment = { Console__SecretsUrl: service.url, Console__SecretsToken: adminToken };
    const found = async () => {
      let text = '';
      await doctor(environment, { print: (some) => void (text += some), json: true });
      const { findings } = JSON.parse(text) as { findings: readonly Finding[] };
      return findings.find(({ subject }) => subject === 'expiring secrets');
    };
    expect(await found()).to.include({ state: 'ok', detail: 'none within 14 days' });
    const expiresAt = new Date(Date.now() + 10 * 86_400_000).toISOString();
    await putSecret(service.url, slug, 'api-token', { environmentSlug: 'local', value: secretValue('expiring'), expiresAt });
    expect(await found()).to.include({ state: 'warning', detail: `1 within 14 days, the first is api-token of ${slug} in local on ${expiresAt.slice(0, 10)}` });
  });
});
