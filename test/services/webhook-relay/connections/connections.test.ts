// How the configured connections follow their configuration, with brokers that only count.
import { expect } from 'chai';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { readBrokerConnections } from '../../../../services/platform/broker/environment.ts';
import { type Log, silentLog } from '../../../../services/platform/log.ts';
import { createConnections } from '../../../../services/webhook-relay/connections/connections.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { obedientBroker } from '../broker.ts';

describe('connections', () => {
  async function setUp(
    environment: Readonly<Record<string, string>>,
    { log = silentLog, depth = () => Promise.resolve(0) }: { log?: Log; depth?: Broker['depth'] } = {},
  ) {
    const open = new Set<string>();
    const connect = (name: string): Broker => ({ ...obedientBroker, depth, close: () => Promise.resolve(void open.delete(name)) });
    const connections = await createConnections({
      read: () => readBrokerConnections(environment),
      connect: ({ name }) => (open.add(name), connect(name)),
      defaultLimit: 10,
      clock: () => new Date(),
      log,
    });
    return { connections, open };
  }

  it('open no other once they are closed, though the file changes meanwhile', async () => {
    const environment: Record<string, string> = { BROKER_URL_1: 'amqp://localhost' };
    const { connections, open } = await setUp(environment);
    await connections.close();
    environment['BROKER_URL_2'] = 'amqp://localhost/two';
    expect(await connections.reload()).to.deep.equal({ added: [], removed: [], changed: [] });
    expect([...open]).to.deep.equal([]);
  });

  for (const [what, limit, depth, warnings] of [
    ['warns of one that is removed while it may be published to', '', () => Promise.resolve(0), [{ broker: 'BROKER_URL_2', monthlyLimit: 10, messages: 0 }]],
    ['warns of one whose queues hold messages', '0', () => Promise.resolve(7), [{ broker: 'BROKER_URL_2', monthlyLimit: 0, messages: 7 }]],
    [
      'warns of one whose queues cannot be looked at',
      '0',
      () => Promise.reject(new Error('not connected')),
      [{ broker: 'BROKER_URL_2', monthlyLimit: 0, messages: 'unknown' }],
    ],
    ['say nothing of one that had the limit 0 and has empty queues', '0', () => Promise.resolve(0), []],
  ] as const)
    it(what, async () => {
      const environment: Record<string, string> = { BROKER_URL_1: 'amqp://localhost', BROKER_URL_2: 'amqp://localhost/two', BROKER_LIMIT_2: limit };
      const { log, lines } = captureLog('warn');
      const { connections } = await setUp(environment, { log, depth });
      delete environment['BROKER_URL_2'];
      await connections.reload();
      await connections.close();
      const told = lines().filter(({ level }) => level === 'warn');
      expect(told.map(({ broker, monthlyLimit, messages }) => ({ broker, monthlyLimit, messages }))).to.deep.equal(warnings);
    });
});
