// A broker of the tests that is connected, confirms everything and holds nothing; a test replaces what it is about.
import type { Broker } from '../../../services/platform/broker/broker.ts';

export const obedientBroker: Broker = {
  isConnected: true,
  lastError: null,
  ready: () => Promise.resolve(),
  publish: () => Promise.resolve({ outcome: 'confirmed' }),
  consume: () => ({ stop: () => Promise.resolve() }),
  depth: () => Promise.resolve(0),
  stateOf: () => Promise.resolve({ waiting: 0, inWork: 0, consumers: 0, oldestAt: null }),
  listDeadLetters: () => Promise.resolve([]),
  returnDeadLetters: () => Promise.resolve({ returned: 0, kept: 0 }),
  async *readDeadLetters() {
    // none
  },
  dropDeadLetters: () => Promise.resolve(0),
  close: () => Promise.resolve(),
};
