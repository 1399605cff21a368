import { expect } from 'chai';
import { planFile, type Present, quietPositions, reportOf, stillEmpty, type Wish } from '../../../services/operator/broker-connections/reconcile.ts';
import { readBrokerConnections } from '../../../services/platform/broker/environment.ts';
import { temporaryDirectory } from '../../support/guard.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const now = new Date('2026-11-23T12:00:00Z');
const wish = (name: string, position: number, more: Partial<Wish> = {}): Wish => ({
  name,
  uid: name,
  createdAt: '2026-11-01T00:00:00Z',
  position,
  limit: undefined,
  url: `amqp://u:p@${name}`,
  source: { name, key: 'url' },
  ...more,
});
const nothing: Present = { text: undefined, draining: {}, empty: new Set(), given: new Set(), held: new Set() };
const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('queues that are to be empty', () => {
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1000);

  it('are so once each look for as long as retries take has found none of a message', () => {
    const first = stillEmpty(new Set([1, 2]), undefined, now);
    const second = stillEmpty(new Set([2]), first, after(10));
    const third = stillEmpty(new Set([1, 2]), second, after(20));
    expect([...quietPositions(third, after(20))]).to.deep.equal([]);
    expect([...quietPositions(third, after(30))]).to.deep.equal([2]);
    expect([...quietPositions(third, after(60))]).to.have.members([1, 2]);
  });
});

describe('the file of connections', () => {
  it('holds them by position, and is read by the relay as it is meant', async () => {
    const { text } = planFile([wish('b', 2, { limit: 0 }), wish('a', 1, { url: 'amqp://u:p%23$"`x@a:5673/v' })], nothing, now);
    const file = join(temporaryDirectory('brokers'), 'brokers.env');
    await writeFile(file, text);
    const read = await readBrokerConnections({}, file);
    expect(read.map(({ name, url, limit }) => [name, url, limit])).to.deep.equal([
      ['BROKER_URL_1', 'amqp://u:p%23$"`x@a:5673/v', undefined],
      ['BROKER_URL_2', 'amqp://u:p@b', 0],
    ]);
  });

  it('gives a position to the older of two, and by uid where they are of one age', () => {
    const { text, refused } = planFile([wish('young', 1, { createdAt: '2026-11-02T00:00:00Z' }), wish('b', 1), wish('a', 1)], nothing, now);
    expect(lines(text)).to.deep.equal([`BROKER_URL_1='amqp://u:p@a'`]);
    expect([...refused].map(([name, { reason }]) => [name, reason])).to.deep.equal([
      ['b', 'Conflict'],
      ['young', 'Conflict'],
    ]);
  });

  it('keeps the connection of an object that cannot be read as it is, limit and all, beside those that can', () => {
    const text = `BROKER_URL_1='amqp://old'\nBROKER_LIMIT_1=7\nBROKER_URL_2='amqp://old'\n`;
    const plan = planFile([wish('b', 2)], { ...nothing, text, held: new Set([1]) }, now);
    expect(lines(plan.text)).to.deep.equal([`BROKER_URL_1='amqp://old'`, 'BROKER_LIMIT_1=7', `BROKER_URL_2='amqp://u:p@b'`]);
    expect(plan.draining).to.deep.equal({});
  });

  it('publishes no more to the connection of a deleted object for a new one whose URL is missing', () => {
    const present = { ...nothing, text: `BROKER_URL_1='amqp://old'\nBROKER_LIMIT_1=0\n`, draining: { 1: now.toISOString() } };
    const plan = planFile([wish('new', 1, { url: undefined })], present, now);
    expect(lines(plan.text)).to.deep.equal([`BROKER_URL_1='amqp://old'`, 'BROKER_LIMIT_1=0']);
    expect([plan.draining, plan.refused.get('new')?.reason]).to.deep.equal([present.draining, 'SecretMissing']);
  });

  it('leaves a position to the installation that gives it itself', () => {
    const { text, refused } = planFile([wish('a', 1)], { ...nothing, given: new Set([1]) }, now);
    expect([lines(text), refused.get('a')?.reason]).to.deep.equal([[], 'Conflict']);
  });

  for (const [url, reason] of [
    [undefined, 'SecretMissing'],
    ['https://x', 'InvalidUrl'],
    ['amqp://', 'InvalidUrl'],
    ["amqp://u:'@x", 'InvalidUrl'],
    ['amqp://x\nBROKER_URL_7=amqp://y', 'InvalidUrl'],
  ] as const)
    it(`refuses the URL ${JSON.stringify(url)}, says nothing of it, and keeps the last good one`, () => {
      const present = { ...nothing, text: `BROKER_URL_1='amqp://u:p@good'` };
      const { text, refused } = planFile([wish('a', 1, { url })], present, now);
      expect(refused.get('a')).to.include({ reason });
      expect(refused.get('a')?.message).not.to.match(/@|:\/\/|'/);
      expect(refused.get('a')?.message).to.match(url === undefined ? /^there is no Secret a with a text at url$/ : /^the URL at url of the Secret a /);
      expect(lines(text)).to.deep.equal([`BROKER_URL_1='amqp://u:p@good'`]);
      expect(lines(planFile([wish('a', 1, { url })], nothing, now).text)).to.deep.equal([]);
    });

  describe('of a connection whose object is gone', () => {
    const text = `BROKER_URL_1='amqp://u:p@a'\nBROKER_LIMIT_1=5`;
    const begun = { 1: '2026-11-23T11:30:00.000Z' };
    const drained = [`BROKER_URL_1='amqp://u:p@a'`, 'BROKER_LIMIT_1=0'];

    it('has its limit 0 first, though its queues are empty', () => {
      const plan = planFile([], { ...nothing, text, empty: new Set([1]) }, now);
      expect([lines(plan.text), plan.draining]).to.deep.equal([drained, { 1: now.toISOString() }]);
    });
    it('keeps it until its queues are empty', () => {
      const plan = planFile([], { ...nothing, text, draining: begun }, now);
      expect([lines(plan.text), plan.draining]).to.deep.equal([drained, begun]);
    });
    it('loses it then', () => {
      const plan = planFile([], { ...nothing, text, draining: begun, empty: new Set([1]) }, now);
      expect([lines(plan.text), plan.draining]).to.deep.equal([[], {}]);
    });
    it('loses it after an hour', () => {
      const plan = planFile([], { ...nothing, text, draining: { 1: '2026-11-23T10:59:00.000Z' } }, now);
      expect([lines(plan.text), plan.draining]).to.deep.equal([[], {}]);
    });
    it('gives its place to another object at once', () => {
      const plan = planFile([wish('b', 1)], { ...nothing, text, draining: begun }, now);
      expect([lines(plan.text), plan.draining]).to.deep.equal([[`BROKER_URL_1='amqp://u:p@b'`], {}]);
    });
  });

  it('counts a text that is none as empty', () => expect(lines(planFile([wish('a', 1)], { ...nothing, text: 'not a file' }, now).text)).to.have.length(1));
});

describe('what is said of a connection', () => {
  const connection = {
    index: 1,
    name: 'BROKER_URL_1',
    scheme: 'amqp',
    host: 'a',
    port: 5672,
    virtualHost: '/',
    isActive: true,
    isConnected: true,
    limitReached: false,
    isNearLimit: false,
    monthlyLimit: 10,
    messageCount: 3,
    remaining: 7,
    lastPublishedAt: null,
    lastError: null,
  };
  const list = (more: object = {}) => ({ active: 'BROKER_URL_1', connections: [{ ...connection, ...more }] });
  type Lists = Parameters<typeof reportOf>[1]['lists'];
  const statusOf = (lists: Lists, { limit, faults = [] }: { readonly limit?: number; readonly faults?: readonly string[] } = {}) =>
    reportOf({ position: 1, limit }, { lists, faults, period: '2026-11' });
  const reasonOf = (...args: Parameters<typeof statusOf>) => statusOf(...args).readiness.reason;
  const counts = { broker: 'BROKER_URL_1', active: true, period: '2026-11', used: 3, limit: 10, remaining: 7 };

  it('is InUse when every relay has it, with its counts', () => {
    const lists = [list(), list({ isActive: false })];
    expect(statusOf(lists, { limit: 10 })).to.deep.include(counts);
    expect(reasonOf(lists, { limit: 10 })).to.equal('InUse');
  });
  it('is NotFollowed while a relay does not have it, or has another limit', () => {
    for (const other of [{ active: null, connections: [] }, list({ monthlyLimit: 9 })])
      expect(reasonOf([list(), other], { limit: 10 })).to.equal('NotFollowed');
  });
  it('is RelayUnreachable when a relay does not answer, says why, and has the counts of the others', () => {
    const status = statusOf([list()], { limit: 10, faults: ['http://10.0.0.2:8080 answers 401'] });
    expect(status.readiness).to.deep.equal({ isReady: false, reason: 'RelayUnreachable', message: '1 of 2 relays: http://10.0.0.2:8080 answers 401' });
    expect(status).to.deep.include(counts);
  });
  it('is NotConnected when one relay has no connection', () =>
    expect(reasonOf([list(), list({ isConnected: false, lastError: 'refused' })])).to.equal('NotConnected'));
  it('is RelayMissing without a ready relay', () => expect(reasonOf([])).to.equal('RelayMissing'));
});
