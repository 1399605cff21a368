// Broker usage for Prometheus, asked at every scrape.
import type { Metrics } from '../platform/metrics.ts';
import type { Connections } from './connections/connections.ts';
import type { BrokerUsage } from './contract.ts';
import type { Overviews } from './usage/usage.ts';

export function measureUsage(metrics: Metrics, { connections, overviews }: { connections: Connections; overviews: Overviews }): void {
  const ofUsage = (name: string, help: string, value: (usage: BrokerUsage) => number) =>
    metrics.gauge({
      name,
      help,
      labels: ['broker', 'period'],
      async collect(gauge) {
        const { period, brokers } = await overviews.recent();
        for (const usage of brokers) gauge.set({ broker: usage.broker, period }, value(usage));
      },
    });
  ofUsage('signalbox_broker_messages_used', 'Messages reserved on the connection in the current month.', ({ messageCount }) => messageCount);
  ofUsage('signalbox_broker_messages_limit', 'Messages that the connection may publish in the current month.', ({ monthlyLimit }) => monthlyLimit);
  ofUsage('signalbox_broker_messages_remaining', 'Messages that the connection may still publish in the current month.', ({ remaining }) => remaining);
  metrics.gauge({
    name: 'signalbox_broker_active',
    help: '1 for the active connection.',
    labels: ['broker'],
    async collect(gauge) {
      const { active } = await overviews.recent();
      for (const { target } of connections.all) gauge.set({ broker: target.name }, target.name === active ? 1 : 0);
    },
  });
  metrics.gauge({
    name: 'signalbox_broker_connected',
    help: '1 while the connection stands and takes messages.',
    labels: ['broker'],
    collect(gauge) {
      for (const { target, isConnected } of connections.all) gauge.set({ broker: target.name }, isConnected ? 1 : 0);
    },
  });
}
