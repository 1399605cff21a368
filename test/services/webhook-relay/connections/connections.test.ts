// How the configured connections follow their configuration, with brokers that only count.
import { expect } from 'chai';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { readBrokerConnections } from '../../../../services/platform/broker/environment.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createConnections } from '../../../../services/webhook-relay/connections/connections.ts';

describe('connections', () => {
  it('open no other once they are closed, though the file changes meanwhile', async () => {
    const environment: Record<string, string> = { BROKER_URL_1: 'amqp://localhost' };
    const open = new Set<string>();
    const connect = (name: string): Broker => ({
      isConnected: true,
      lastError: null,
      ready: () => Promise.resolve(),
      publish: () => Promise.resolve({ outcome: 'confirmed' }),
      consume: () => ({ stop: () => Promise.resolve() }),
      depth: () => Promise.resolve(0),
      returnDeadLetters: () => Promise.resolve({ returned: 0, kept: 0 }),
      close: () => Promise.resolve(void open.delete(name)),
    });
    const connections = await createConnections({
      read: () => readBrokerConnections(environment),
      connect: ({ name }) => (open.add(name), connect(name)),
      defaultLimit: 10,
      clock: () => new Date(),
      log: silentLog,
    });
    await connections.close();
    environment['BROKER_URL_2'] = 'amqp://localhost/two';
    expect(await connections.reload()).to.deep.equal({ added: [], removed: [], changed: [] });
    expect([...open]).to.deep.equal([]);
  });
});
