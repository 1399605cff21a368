// The connections that were published to, without user and password: messages may wait there after a connection has left the settings.
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import { route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log.ts';
import { forScrape, type Metrics } from '../../platform/metrics.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { PublishedConnectionList } from '../contract.ts';
import { answerInTime } from '../database.ts';
import type { Connections } from './connections.ts';

type Address = [scheme: string, host: string, port: number, virtualHost: string];
const addressOf = ({ scheme, host, port, virtualHost }: BrokerConnection): Address => [scheme, host, port, virtualHost];

const store = statement<unknown, [name: string, ...Address, at: Date]>(
  'connections.published',
  `
  insert into published_connections as p (name, scheme, host, port, virtual_host, first_published_at, last_published_at)
  values ($1, $2, $3, $4, $5, $6, $6)
  on conflict (scheme, host, port, virtual_host) do update set
    name = excluded.name,
    last_published_at = greatest(p.last_published_at, excluded.last_published_at)`,
);

type Row = Omit<PublishedConnectionList['connections'][number], 'isConfigured' | 'firstPublishedAt' | 'lastPublishedAt'> & {
  readonly firstPublishedAt: Date;
  readonly lastPublishedAt: Date;
};
const all = statement<Row>(
  'connections.allPublished',
  `
  select name, scheme, host, port, virtual_host as "virtualHost", first_published_at as "firstPublishedAt", last_published_at as "lastPublishedAt"
  from published_connections order by last_published_at desc, scheme, host, port, virtual_host`,
);

const deleteBefore = statement<unknown, [limit: Date]>('connections.deletePublished', 'delete from published_connections where last_published_at < $1');

/** @returns how many were deleted */
export const deletePublishedBefore = (database: Database, limit: Date) => database.run(deleteBefore, limit);

export type PublishedConnections = ReturnType<typeof createPublishedConnections>;

export function createPublishedConnections({ database, log, clock }: { readonly database: Database; readonly log: Log; readonly clock: () => Date }) {
  return {
    /** @returns whether it is recorded; never rejects */
    async record(target: BrokerConnection): Promise<boolean> {
      try {
        await database.run(store, target.name, ...addressOf(target), clock());
        return true;
      } catch (error) {
        log.warn({ error, broker: target.name }, 'recording the connection that is published to failed, retrying with the next delivery');
        return false;
      }
    },
    /** The newest first. @param configured the connections of the settings */
    async list(configured: Connections['all']): Promise<PublishedConnectionList> {
      const known = new Set(configured.map(({ target }) => addressOf(target).join(' ')));
      const rows = await database.all(all);
      const isConfigured = ({ scheme, host, port, virtualHost }: Row) => known.has([scheme, host, port, virtualHost].join(' '));
      return { connections: rows.map((row) => ({ ...row, isConfigured: isConfigured(row) })) };
    },
  };
}

/** Whether the workers emptied such a broker is in their own metrics. */
export function measureLeft(metrics: Metrics, published: Pick<PublishedConnections, 'list'>, configured: Pick<Connections, 'all'>): void {
  const list = forScrape(() => published.list(configured.all));
  metrics.gauge({
    name: 'signalbox_broker_left_timestamp_seconds',
    help: 'When a broker that is not configured any more was last published to, in Unix time, to a minute.',
    labels: ['scheme', 'host', 'port', 'virtual_host'],
    async collect(gauge) {
      const left = ((await list())?.connections ?? []).filter(({ isConfigured }) => !isConfigured);
      for (const { scheme, host, port, virtualHost, lastPublishedAt } of left)
        gauge.set({ scheme, host, port: String(port), virtual_host: virtualHost }, lastPublishedAt.getTime() / 1000);
    },
  });
}

export const publishedRoute = (published: PublishedConnections, connections: Connections) =>
  route({
    method: 'get',
    path: '/Broker/published',
    operationId: 'listPublishedConnections',
    summary: 'Lists the brokers that were published to',
    description: 'Messages may wait on a broker after its connection has left the settings. The answer never has a user or a password.',
    isQueryClosed: true,
    answers: { 200: PublishedConnectionList },
    handle: () => answerInTime(published.list(connections.all)),
  });
