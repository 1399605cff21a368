// Rejected deliveries on a real database: what is kept of them, and what a flood of them cannot do.
import { expect } from 'chai';
import { v7 as newId } from 'uuid';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool, type Pool, statement } from '../../../../services/platform/postgres/pool.ts';
import { identify } from '../../../../services/webhook-relay/deliveries.ts';
import { createRejected, type RejectedParts, shownHeaders } from '../../../../services/webhook-relay/rejected/rejected.ts';
import { createRejectedStore, type RejectedRow } from '../../../../services/webhook-relay/rejected/store.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';

const migrations = new URL('../../../../services/webhook-relay/migrations/', import.meta.url);
const receivedAt = new Date('2026-01-02T03:04:05.678Z');

const logged = statement<RejectedRow>(
  'test.rejected',
  `
  select id, received_at as "receivedAt", event, delivery_id as "deliveryId", hook_id as "hookId", target_id as "targetId",
    headers, payload, payload_bytes as "payloadBytes"
  from rejected_deliveries order by received_at, id`,
);

describe('rejected deliveries', () => {
  let testDatabase: TestDatabase;
  let database: Pool;

  beforeEach(async () => {
    testDatabase = await createTestDatabase({ schema: 'relay', migrations });
    database = createPool(testDatabase.url, { schema: 'relay', log: silentLog });
  });
  afterEach(async () => {
    await database.close();
    await testDatabase.drop();
  });

  const create = (parts: Partial<RejectedParts> = {}) =>
    createRejected({ store: createRejectedStore(database), maxRows: 10_000, log: silentLog, metrics: createMetrics(), ...parts });
  const delivery = (text = '{}', headers: Record<string, string> = {}) => {
    const id = newId();
    return { id, identity: identify(headers, id), receivedAt, status: 401, reason: 'no signature', headers, payload: Buffer.from(text) };
  };

  it('are logged by themselves, with what the forge said of them', async () => {
    const rejected = create();
    const headers = {
      'x-github-event': 'push',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-github-hook-id': '292430182',
      'x-github-hook-installation-target-id': '79929171',
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    };
    const sent = delivery('{"ref":"refs/heads/main"}', headers);
    rejected.record(sent);
    const [row] = await eventually(async () => {
      const rows = await database.all(logged);
      return rows.length === 1 && rows;
    });
    expect(row).to.deep.equal({
      id: sent.id,
      receivedAt,
      event: 'push',
      deliveryId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      hookId: '292430182',
      targetId: '79929171',
      headers: { ...headers, 'x-hub-signature-256': '[hidden]' },
      payload: sent.payload,
      payloadBytes: 25,
    });
    await rejected.close();
  });

  it('without any header take their own id and zeros', async () => {
    const rejected = create();
    const sent = delivery();
    rejected.record(sent);
    await rejected.close();
    expect((await database.all(logged))[0]).to.deep.include({ event: '', deliveryId: sent.id, hookId: '0', targetId: '0', headers: {} });
  });

  it('keep the first 64 KiB of a payload, whatever its bytes are, and its full length', async () => {
    const rejected = create();
    const payload = Buffer.alloc(200_000, Buffer.from([0, 255, 128, 92, 39]));
    rejected.record({ ...delivery(), payload });
    payload.fill(7); // what waits is a copy, not a view of the request's body
    await rejected.close();
    const [row] = await database.all(logged);
    expect(row?.payload.equals(Buffer.alloc(65_536, Buffer.from([0, 255, 128, 92, 39])))).to.equal(true);
    expect(row?.payloadBytes).to.equal(200_000);
  });

  it('with text that Postgres cannot hold do not keep others from being logged', async () => {
    const rejected = create();
    rejected.record(delivery('{}', { 'x-note': 'a\0b\ud800', 'x-github-event': 'push' }));
    rejected.record(delivery('{}', { 'x-github-event': 'pu\'sh\\ {",' }));
    await rejected.close();
    expect((await database.all(logged)).map(({ event }) => event)).to.have.members(['push', 'pu\'sh\\ {",']);
  });

  it('are all written on close, the batches in order', async () => {
    const rejected = create();
    for (let n = 0; n < 195; n++) rejected.record(delivery(String(n)));
    await rejected.close();
    expect(await database.all(logged)).to.have.length(195);
  });

  it('are dropped and counted when they come faster than they are written', async () => {
    const metrics = createMetrics();
    const rejected = create({ metrics });
    for (let n = 0; n < 1000; n++) rejected.record(delivery(String(n)));
    await rejected.close();
    expect((await database.all(logged)).map(({ payload }) => payload.toString()).toSorted()).to.deep.equal(
      Array.from({ length: 256 }, (_, n) => String(n)).toSorted(),
    );
    expect(await metrics.text()).to.include('signalbox_relay_rejected_dropped_total 744');
  });

  it('never fill the table beyond its cap: the oldest go first', async () => {
    const rejected = create({ maxRows: 30 });
    for (let n = 0; n < 100; n++) rejected.record({ ...delivery(String(n)), receivedAt: new Date(receivedAt.getTime() + n) });
    await rejected.close();
    const payloads = (await database.all(logged)).map(({ payload }) => Number(payload.toString()));
    expect(payloads).to.deep.equal(Array.from({ length: 30 }, (_, n) => 70 + n));
  });

  it('of two replicas at once stay within the cap too', async () => {
    const replicas = [create({ maxRows: 100 }), create({ maxRows: 100 })];
    for (const rejected of replicas) for (let n = 0; n < 250; n++) rejected.record(delivery(String(n)));
    await Promise.all(replicas.map((rejected) => rejected.close()));
    expect((await database.all(logged)).length).to.be.within(100, 150); // each counts before it sees the other's last batch
  });

  it('wait for a database that is down, and are written when it is back', async () => {
    const real = createRejectedStore(database);
    let tries = 0;
    const refuse = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
    const rejected = create({ store: { ...real, add: (...rows) => (++tries < 3 ? refuse() : real.add(...rows)) } });
    rejected.record(delivery());
    await eventually(async () => (await database.all(logged)).length === 1);
    expect(tries).to.equal(3);
    await rejected.close();
  });

  it('are given up on close when the database is down, without an error', async () => {
    const refuse = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
    const rejected = create({ store: { ...createRejectedStore(database), add: refuse } });
    rejected.record(delivery());
    await rejected.close();
    expect(await database.all(logged)).to.deep.equal([]);
  });

  it('that cannot be stored at all are dropped and counted, and the others of their batch are logged', async () => {
    const metrics = createMetrics();
    const rejected = create({ metrics });
    rejected.record(delivery());
    rejected.record({ ...delivery(), id: 'not a UUID' });
    rejected.record(delivery());
    await rejected.close();
    expect(await database.all(logged)).to.have.length(2);
    expect(await metrics.text()).to.include('signalbox_relay_rejected_dropped_total 1');
  });
});

describe('the headers of a rejected delivery', () => {
  const shown = {
    host: 'relay.example',
    'user-agent': 'GitHub-Hookshot/044aadd',
    'content-type': 'application/json',
    'content-length': '7',
    'x-github-event': 'push',
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-github-hook-id': '292430182',
    'x-forwarded-for': '192.0.2.7, 10.0.0.1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  };
  for (const [name, value] of Object.entries(shown)) {
    it(`keep ${name}`, () => expect(shownHeaders({ [name]: value })).to.deep.equal({ [name]: value }));
  }

  const hidden = {
    'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    'x-hub-signature': 'sha1=7d38cdd689735b008b3c702edd92eea23791c5f6',
    'x-gitea-signature': '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    authorization: 'Bearer abc',
    'proxy-authorization': 'Basic YTpi',
    cookie: 'a=b',
    'x-gitlab-token': 'abc',
    'x-api-key': 'abc',
    'x-source-token': 'abc',
    'x-webhook-secret': 'abc',
    'content-digest': 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:',
    'x-amz-content-sha256': 'abc',
    'x-forwarded-client-cert': 'By=spiffe://a;Hash=468ed33be74eee6556d90c0149c1309e9ba61d6425303443c0748a02dd8de688',
    'x-custom': 'Bearer abc',
    'x-other': '757107EA0EB2509FC211221CCE984B8A37570B6D7586C22C46F4379C8B043E17',
    'x-third': 'eyJhbGciOiJIUzI1NiJ9.e30.abc',
  };
  for (const [name, value] of Object.entries(hidden)) {
    it(`say of ${name} only that it was there`, () => expect(shownHeaders({ [name]: value })).to.deep.equal({ [name]: '[hidden]' }));
  }

  it('are kept as one value where a name comes several times', () => {
    expect(shownHeaders({ 'x-note': ['one', 'two'], via: undefined })).to.deep.equal({ 'x-note': 'one, two', via: '' });
  });
});
