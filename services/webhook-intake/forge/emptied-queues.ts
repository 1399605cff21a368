// When each queue of each broker was last seen to be empty: a connection that has left the settings may still hold messages.
import type { Log } from '../../platform/log.ts';
import { forScrape, type Metrics } from '../../platform/metrics.ts';
import { parseBrokerUrl } from '../../platform/broker/environment.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { forgeTopology } from '../../webhook-relay/contract.ts';
import type { Connection } from './connections.ts';

type Address = [scheme: string, host: string, port: number, virtualHost: string];

const store = statement<unknown, [queue: string, ...Address]>(
  'intake.emptiedQueues.store',
  `
  insert into emptied_queues (queue, scheme, host, port, virtual_host, emptied_at) values ($1, $2, $3, $4, $5, now())
  on conflict (scheme, host, port, virtual_host, queue) do update set emptied_at = excluded.emptied_at`,
);

type Row = { readonly scheme: string; readonly host: string; readonly port: number; readonly virtualHost: string; readonly emptiedAt: number };

/** Brokers all of whose queues were seen to be empty, with the earliest of the times. */
const emptied = statement<Row, [queues: number]>(
  'intake.emptiedQueues.all',
  `
  select scheme, host, port, virtual_host as "virtualHost", extract(epoch from min(emptied_at))::float8 as "emptiedAt"
  from emptied_queues group by scheme, host, port, virtual_host having count(*) = $1`,
);

/** Never rejects: the next look records it. */
export const recordEmptied = ({ database, queue, log }: { readonly database: Database; readonly queue: string; readonly log: Log }) =>
  async function ({ name, url }: Connection): Promise<void> {
    const { scheme, host, port, virtualHost } = parseBrokerUrl(url);
    await database
      .run(store, queue, scheme, host, port, virtualHost)
      .catch((error: unknown) => log.warn({ error, queue, connection: name }, 'recording that a queue is empty failed, retrying'));
  };

export function measureEmptied(metrics: Metrics, database: Database): void {
  const all = forScrape(() => database.all(emptied, forgeTopology.queues.length));
  metrics.gauge({
    name: 'signalbox_worker_queues_emptied_timestamp_seconds',
    help: 'When the queues of a broker were last seen to be empty by the workers, in Unix time: the earlier of the two.',
    labels: ['scheme', 'host', 'port', 'virtual_host'],
    collect: async (gauge) =>
      (await all())?.forEach(({ scheme, host, port, virtualHost, emptiedAt }) =>
        gauge.set({ scheme, host, port: String(port), virtual_host: virtualHost }, emptiedAt),
      ),
  });
}
