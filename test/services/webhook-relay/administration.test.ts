// The administration routes of connections, the health report and the redirect.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryDirectory } from '../../support/guard.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { freePort } from '../../support/wait.ts';
import { administer, deliver, migrations, payload, startRelay, type TestRelay } from './relay.ts';

const withSchema = (url: string, schema: string) => `${url}?schema=${schema}`;

describe('administration', () => {
  let database: TestDatabase;
  let relay: TestRelay;
  const file = join(temporaryDirectory('environment'), 'broker.env');
  const write = (...lines: readonly string[]) => writeFile(file, lines.join('\n'));
  const first = () => `BROKER_URL_1=${database.url}`;
  const third = () => `BROKER_URL_3=${withSchema(database.url, 'broker_three')}`;

  before(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    await write(third(), first(), 'BROKER_LIMIT_3=5');
    const environment = { Broker__EnvironmentFile: file, Broker__MonthlyMessageLimit: '70' };
    // A new connection is looked at right after a reload, also where it takes long to connect.
    relay = await startRelay({ databaseUrl: database.url, environment, handOverMs: 60_000 });
  });
  after(async () => {
    await relay.close();
    await database.drop();
  });

  describe('credentials', () => {
    for (const [method, path] of [
      ['GET', '/Broker/connections'],
      ['POST', '/Broker/switch/1'],
      ['POST', '/Broker/reload'],
      ['GET', '/broker/usage/current'],
      ['GET', '/broker/usage'],
      ['DELETE', '/broker/usage?olderThan=2020-01'],
      ['DELETE', '/broker/usage/2020-01'],
      ['DELETE', '/broker/usage/current/BROKER_URL_1'],
      ['GET', '/Broker/unknown'],
      ['PUT', '/BROKER/connections'],
    ] as const) {
      it(`answers 401 to ${method} ${path} without the token and with a wrong one, alike`, async () => {
        const missing = await fetch(`${relay.url}${path}`, { method });
        const wrong = await fetch(`${relay.url}${path}`, { method, headers: { Authorization: 'Bearer wrong' } });
        expect([missing.status, wrong.status]).to.deep.equal([401, 401]);
        expect(missing.headers.get('www-authenticate')).to.equal('Bearer');
        expect(await missing.text()).to.equal(await wrong.text());
      });
    }
  });

  it('refuses an unknown query parameter of what an operator reads', async () => {
    const lists = ['rejected', 'rejected/1', 'rejected/1/payload', 'spooled', 'spooled/1', 'published', 'queues', 'changes', 'counts', 'usage/daily'];
    for (const path of lists) {
      const { status, body } = await administer(relay.url, 'GET', `/Broker/${path}?limt=1`);
      expect([status, Object.keys(Object(body['errors']))], path).to.deep.equal([400, ['limt']]);
    }
    for (const path of ['connections', 'usage', 'usage/current']) expect(await administer(relay.url, 'GET', `/Broker/${path}?_=1`)).to.include({ status: 200 });
  });

  describe('GET /Broker/connections', () => {
    it('lists connections by ascending n, whatever their order in the file, with gaps in n', async () => {
      const { status, body } = await administer(relay.url, 'GET', '/Broker/connections');
      expect(status).to.equal(200);
      const { hostname, port, pathname } = new URL(database.url);
      const shared = { scheme: 'postgres', host: hostname, port: Number(port), virtualHost: pathname.slice(1), isConnected: true, limitReached: false };
      const quiet = { messageCount: 0, isNearLimit: false, lastPublishedAt: null, lastError: null };
      expect(body).to.deep.equal({
        active: 'BROKER_URL_1',
        connections: [
          { index: 1, name: 'BROKER_URL_1', ...shared, isActive: true, monthlyLimit: 70, remaining: 70, ...quiet },
          { index: 2, name: 'BROKER_URL_3', ...shared, isActive: false, monthlyLimit: 5, remaining: 5, ...quiet },
        ],
      });
    });

    it('says which are near their limit, by the percentage of the setting', async () => {
      const store = (count: number) =>
        relay.database.driver.query(
          `insert into broker_usage values ('BROKER_URL_3', to_char(now() at time zone 'UTC', 'YYYY-MM'), $1, 5, 'environment')
           on conflict (broker, period) do update set message_count = excluded.message_count`,
          [count],
        );
      const nearOf = async () => {
        const { body } = await administer(relay.url, 'GET', '/Broker/connections');
        return (body['connections'] as { isNearLimit: boolean }[]).map(({ isNearLimit }) => isNearLimit);
      };
      await store(3);
      expect(await nearOf()).to.deep.equal([false, false]);
      await store(4);
      expect(await nearOf()).to.deep.equal([false, true]);
      await relay.database.driver.query('delete from broker_usage');
    });

    it('never shows a user or a password', async () => {
      const text = JSON.stringify((await administer(relay.url, 'GET', '/Broker/connections')).body);
      const { username, password } = new URL(database.url);
      expect(text)
        .to.not.include(`${username}:`)
        .and.not.include(password === 'test' ? ':test' : password);
    });

    it('tells when a connection last published', async () => {
      const { body } = await deliver(relay.url);
      const list = await administer(relay.url, 'GET', '/broker/CONNECTIONS');
      expect(body['broker']).to.equal('BROKER_URL_1');
      expect(list.body).to.have.nested.property('connections[0].messageCount', 1);
      expect(Date.parse(String((list.body['connections'] as { lastPublishedAt: string }[])[0]?.lastPublishedAt))).to.be.closeTo(Date.now(), 10_000);
    });
  });

  describe('POST /Broker/switch/{index}', () => {
    it('makes the connection at the 1-based position active, and the next message goes there', async () => {
      const { status, body } = await administer(relay.url, 'POST', '/Broker/switch/2');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ previous: 'BROKER_URL_1', active: 'BROKER_URL_3', index: 2 });
      expect((await deliver(relay.url)).body['broker']).to.equal('BROKER_URL_3');
      expect((await administer(relay.url, 'GET', '/Broker/connections')).body['active']).to.equal('BROKER_URL_3');
    });

    it('is what a delivery without a signature, the health report and a reload tell next', async () => {
      const told = async () => {
        const refused = await deliver(relay.url, payload, { 'X-Hub-Signature-256': 'sha256=00' });
        const { body: report } = await administer(relay.url, 'GET', '/api/health');
        const { body: reloaded } = await administer(relay.url, 'POST', '/Broker/reload');
        const active = (report['brokers'] as { broker: string; isActive: boolean }[]).filter(({ isActive }) => isActive);
        return [refused.body['broker'], ...active.map(({ broker }) => broker), reloaded['active']];
      };
      for (const [index, name] of [
        [1, 'BROKER_URL_1'],
        [2, 'BROKER_URL_3'],
      ] as const) {
        await administer(relay.url, 'POST', `/Broker/switch/${index}`);
        expect(await told()).to.deep.equal([name, name, name]);
      }
    });

    it('tells what was active before, also of switches at the same time', async () => {
      for (let round = 0; round < 5; round++) {
        await administer(relay.url, 'POST', '/Broker/switch/1');
        const both = await Promise.all([2, 2].map((index) => administer(relay.url, 'POST', `/Broker/switch/${index}`)));
        expect(both.map(({ body }) => body['previous'])).to.have.members(['BROKER_URL_1', 'BROKER_URL_3']);
      }
    });

    for (const index of ['0', '3', '-1', '1.0', 'x', '999999999999999999999']) {
      it(`answers 404 to ${index}, which names none`, async () => {
        const { status, body } = await administer(relay.url, 'POST', `/Broker/switch/${index}`);
        expect(status).to.equal(404);
        expect(body['type']).to.equal('urn:signalbox:problem:connection-missing');
      });
    }

    it('rotates away from a connection that is at its limit with the next message', async () => {
      for (let left = 4; left > 0; left--) expect((await deliver(relay.url)).body['broker']).to.equal('BROKER_URL_3');
      expect((await deliver(relay.url)).body['broker']).to.equal('BROKER_URL_1');
      await administer(relay.url, 'POST', '/Broker/switch/2');
      expect((await deliver(relay.url)).body['broker']).to.equal('BROKER_URL_1');
      expect((await administer(relay.url, 'GET', '/Broker/connections')).body['active']).to.equal('BROKER_URL_1');
    });
  });

  describe('POST /Broker/reload', () => {
    after(async () => {
      await write(first(), third());
      await administer(relay.url, 'POST', '/Broker/reload');
      await Promise.all(relay.connections.all.map((connection) => connection.ready(30_000)));
    });

    it('tells what was added, removed and changed, limits included', async () => {
      await write(`BROKER_URL_2=${withSchema(database.url, 'broker_two')}`, first(), 'BROKER_LIMIT_1=71');
      const { status, body } = await administer(relay.url, 'POST', '/Broker/reload');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ added: ['BROKER_URL_2'], removed: ['BROKER_URL_3'], changed: ['BROKER_URL_1'], active: 'BROKER_URL_1' });
    });

    it('keeps the usage of each broker under its name, whatever its position', async () => {
      const before = await administer(relay.url, 'GET', '/broker/usage/current');
      await write(third(), first());
      await administer(relay.url, 'POST', '/Broker/reload');
      const after = await administer(relay.url, 'GET', '/broker/usage/current');
      const count = ({ body }: { body: Readonly<Record<string, unknown>> }, name: string) =>
        (body['brokers'] as { broker: string; messageCount: number }[]).find(({ broker }) => broker === name)?.messageCount;
      for (const name of ['BROKER_URL_1', 'BROKER_URL_3']) expect(count(after, name), name).to.equal(count(before, name)).and.be.above(0);
    });

    it('raises a limit without a restart', async () => {
      await write(first(), 'BROKER_LIMIT_1=0');
      await administer(relay.url, 'POST', '/Broker/reload');
      expect((await deliver(relay.url)).status).to.equal(503);
      await write(first(), 'BROKER_LIMIT_1=1000');
      await administer(relay.url, 'POST', '/Broker/reload');
      expect((await deliver(relay.url)).status).to.equal(202);
    });

    it('answers 409 with every fault and no value to a file that is not usable, and goes on with what it has', async () => {
      await write('BROKER_URL_1=http://user:hush@host', 'BROKER_LIMIT_2=many', `BROKER_URL_2=${database.url}`);
      const { status, body } = await administer(relay.url, 'POST', '/Broker/reload');
      expect(status).to.equal(409);
      expect(body['detail']).to.include('BROKER_URL_1').and.include('BROKER_LIMIT_2').and.not.include('hush');
      expect((await deliver(relay.url)).status).to.equal(202);
    });

    describe('to a file that is missing or garbled', () => {
      const intact = async () => {
        const { body } = await administer(relay.url, 'GET', '/Broker/connections');
        return (body['connections'] as { name: string; isConnected: boolean; monthlyLimit: number }[]).map(({ name, isConnected, monthlyLimit }) => [
          name,
          isConnected,
          monthlyLimit,
        ]);
      };
      beforeEach(async () => {
        await write(first(), third(), 'BROKER_LIMIT_3=9');
        expect((await administer(relay.url, 'POST', '/Broker/reload')).status).to.equal(200);
      });
      for (const [what, spoil, reason] of [
        ['missing', () => rm(file), 'is missing (ENOENT)'],
        ['empty', () => write(''), 'is empty'],
        ['without a connection', () => write('# all gone', 'BROKER_LIMIT_1=5'), 'no BROKER_URL_n is set'],
        ['garbled', () => write(first(), '\u0000\u0001 hush'), 'line 2'],
      ] as const)
        it(`answers 409 with the reason when it is ${what}, and keeps every connection`, async () => {
          await spoil();
          const { status, body } = await administer(relay.url, 'POST', '/Broker/reload');
          expect(status).to.equal(409);
          expect(body['type']).to.equal('urn:signalbox:problem:connections-unusable');
          expect(body['detail']).to.include(reason).and.not.include('hush');
          expect(await intact()).to.deep.equal([
            ['BROKER_URL_1', true, 70],
            ['BROKER_URL_3', true, 9],
          ]);
          expect((await deliver(relay.url)).status).to.equal(202);
        });
    });

    it('publishes without a gap while a connection is exchanged for another', async () => {
      const roomy = 'BROKER_LIMIT_7=1000000';
      await write(`BROKER_URL_7=${database.url}`, roomy);
      await administer(relay.url, 'POST', '/Broker/reload');
      let isOver = false;
      const statuses = new Set<number>();
      const sender = async () => {
        while (!isOver) statuses.add((await deliver(relay.url)).status);
      };
      const senders = [sender(), sender()];
      for (const schema of ['swap_one', 'swap_two']) {
        await write(`BROKER_URL_7=${withSchema(database.url, schema)}`, roomy);
        expect((await administer(relay.url, 'POST', '/Broker/reload')).body['changed']).to.deep.equal(['BROKER_URL_7']);
      }
      await write(`BROKER_URL_9=${withSchema(database.url, 'swap_three')}`);
      await administer(relay.url, 'POST', '/Broker/reload');
      isOver = true;
      await Promise.all(senders);
      expect([...statuses]).to.deep.equal([202]);
      expect((await deliver(relay.url)).body['broker']).to.equal('BROKER_URL_9');
    });
  });

  describe('GET /api/health', () => {
    it('answers Healthy as JSON, without a credential', async () => {
      const response = await fetch(`${relay.url}/API/Health`);
      expect(response.status).to.equal(200);
      expect(await response.json()).to.deep.include({
        status: 'Healthy',
        isDatabaseReachable: true,
        brokers: [
          { broker: 'BROKER_URL_1', isActive: true, isConnected: true, limitReached: false },
          { broker: 'BROKER_URL_3', isActive: false, isConnected: true, limitReached: false },
        ],
      });
    });

    it('answers the word alone for Accept: text/plain', async () => {
      const response = await fetch(`${relay.url}/api/health`, { headers: { Accept: 'text/plain' } });
      expect(response.headers.get('content-type')).to.match(/^text\/plain/);
      expect(await response.text()).to.equal('Healthy');
    });

    for (const [accept, type] of [
      ['text/plain;q=0', 'application/json'],
      ['text/plain;q=0.4, application/json;q=0.5', 'application/json'],
      ['application/json;q=0.4, text/plain;q=0.5', 'text/plain'],
      ['text/*', 'text/plain'],
      ['*/*', 'application/json'],
      ['application/json, text/plain, */*', 'application/json'],
      ['image/png', 'application/json'],
    ] as const)
      it(`answers ${type} for Accept: ${accept}, and says that it varies by it`, async () => {
        const { headers } = await fetch(`${relay.url}/api/health`, { headers: { Accept: accept } });
        expect(headers.get('content-type')).to.match(new RegExp(`^${type}`));
        expect(headers.get('vary')).to.equal('Accept');
      });

    it('answers Degraded while one of several connections cannot be reached, and Unhealthy with 503 when none can', async () => {
      const dead = `amqp://user:hush@127.0.0.1:${await freePort()}`;
      const other = await startRelay({ databaseUrl: database.url, environment: { Broker__EnvironmentFile: file }, handOverMs: 100 });
      try {
        await write(first(), `BROKER_URL_2=${dead}`);
        await administer(other.url, 'POST', '/Broker/reload');
        const degraded = await fetch(`${other.url}/api/health`);
        expect([degraded.status, ((await degraded.json()) as { status: string }).status]).to.deep.equal([200, 'Degraded']);
        await write(`BROKER_URL_2=${dead}`);
        await administer(other.url, 'POST', '/Broker/reload');
        const unhealthy = await fetch(`${other.url}/api/health`);
        const text = await unhealthy.text();
        expect([unhealthy.status, (JSON.parse(text) as { status: string }).status]).to.deep.equal([503, 'Unhealthy']);
        expect(text).to.not.include('hush');
      } finally {
        await other.close();
      }
    });
  });

  it('redirects / for good to the API description', async () => {
    const response = await fetch(relay.url, { redirect: 'manual' });
    expect(response.status).to.equal(301);
    expect(response.headers.get('location')).to.equal('/swagger/index.html');
  });
});
