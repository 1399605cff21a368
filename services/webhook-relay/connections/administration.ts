// Administration of connections: the list, the active one, a reload of the configuration.
import { z } from 'zod';
import { ConfigError } from '../../platform/config/config.ts';
import { route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log.ts';
import { ConnectionList, Problems, ReloadResult, SwitchResult } from '../contract.ts';
import { answerInTime } from '../database.ts';
import { isNearLimit } from '../usage/near-limit.ts';
import type { Usage } from '../usage/usage.ts';
import type { UsageStore } from '../usage/store.ts';
import type { Connections } from './connections.ts';

export type Administration = ReturnType<typeof createAdministration>;

type Using = { readonly usage: Usage; readonly store: Pick<UsageStore, 'activate'>; readonly nearLimitPercent: number; readonly log: Log };

export function createAdministration(connections: Connections, { usage, store, nearLimitPercent, log }: Using) {
  return {
    async list(): Promise<ConnectionList> {
      const { active, brokers } = await usage.overview();
      return {
        active,
        connections: connections.all.flatMap(({ target, isUsable, lastPublishedAt, lastError }) => {
          const used = brokers.find(({ broker }) => broker === target.name);
          if (!used) return []; // removed by a reload while the database was asked
          const { index, name, scheme, host, port, virtualHost } = target;
          const { limitReached, monthlyLimit, messageCount, remaining } = used;
          const state = {
            isActive: name === active,
            isConnected: isUsable,
            limitReached,
            isNearLimit: isNearLimit(used, nearLimitPercent),
            monthlyLimit,
            messageCount,
            remaining,
          };
          return [{ index, name, scheme, host, port, virtualHost, ...state, lastPublishedAt, lastError }];
        }),
      };
    },

    /** @param index its 1-based position @param by the id of the credential that asks for it @throws Problem 404 */
    async switchTo(index: string, by: string | null): Promise<SwitchResult> {
      const chosen = connections.all.find(({ target }) => String(target.index) === index);
      if (!chosen) throw Problems.connectionMissing({ detail: `Connections are numbered 1 to ${connections.all.length}.` });
      const { name, index: position } = chosen.target;
      const stored = await store.activate(name, by);
      usage.changed();
      // The stored name may be configured no more; then the first connection was active.
      const previous = (connections.all.find(({ target }) => target.name === stored) ?? connections.all[0] ?? chosen).target.name;
      log.info({ previous, active: name }, 'active connection switched');
      return { previous, active: name, index: position };
    },

    /** @throws Problem 409 when what it finds is not usable; then nothing has changed */
    async reload(): Promise<ReloadResult> {
      const changes = await connections.reload().catch((error: unknown) => {
        log.error({ error }, 'reloading broker connections failed');
        throw Problems.connectionsUnusable({ detail: reasonOf(error) });
      });
      const { active } = await usage.recent();
      return { ...changes, active };
    },
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof ConfigError) return `broker settings: ${error.faults.join('; ')}`;
  return error instanceof Error ? error.message : 'unreadable';
}

export const connectionRoutes = (administration: Administration) => [
  route({
    method: 'get',
    path: '/Broker/connections',
    operationId: 'listConnections',
    summary: 'Lists the configured connections',
    description: 'The answer has the active connection, and of each one its state, limit and usage of the current month. It never has a user or a password.',
    answers: { 200: ConnectionList },
    handle: () => answerInTime(administration.list()),
  }),
  route({
    method: 'post',
    path: '/Broker/switch/{index}',
    operationId: 'switchConnection',
    summary: 'Makes a connection active',
    description: 'Messages go to the active connection first, on every replica, until it reaches its limit or another one is made active.',
    params: z.object({ index: z.string().meta({ description: 'The `index` of the connection in the list of connections' }) }),
    answers: { 200: SwitchResult },
    problems: [Problems.connectionMissing],
    handle: ({ params, principal }) => administration.switchTo(params.index, principal.id),
  }),
  route({
    method: 'post',
    path: '/Broker/reload',
    operationId: 'reloadConnections',
    summary: 'Reads the connections again',
    description:
      'The relay reads the connections and limits of the environment file at once; it also follows the file by itself. Faulty settings are answered 409 and change nothing.',
    answers: { 200: ReloadResult },
    problems: [Problems.connectionsUnusable],
    handle: () => administration.reload(),
  }),
];
