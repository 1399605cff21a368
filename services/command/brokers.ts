// `signalbox brokers`: the state of each broker connection, how much of its month is used, and when it will be full; and two ways to act on it.
import type { AnswerOf } from '../platform/http/wire.ts';
import { tableOf } from '../platform/process/table.ts';
import { DailyUsageList } from '../webhook-relay/administration-contract.ts';
import { type Forecast, forecasts } from '../webhook-relay/client.ts';
import { ConnectionList, Deleted, SwitchResult } from '../webhook-relay/contract.ts';
import { numberText } from './figures.ts';
import type { Installation } from './installation.ts';

type Connection = AnswerOf<typeof ConnectionList>['connections'][number];
type Output = { readonly print: (text: string) => void; readonly json: boolean; readonly now?: Date };

export const askConnections = (installation: Installation) => installation.ask('webhook-relay', { path: '/Broker/connections' }, ConnectionList);

/** @throws Error in words when the relay cannot be asked */
export async function listBrokers(installation: Installation, { print, json, now = new Date() }: Output): Promise<void> {
  const [{ connections }, { days }] = await Promise.all([
    askConnections(installation),
    installation.ask('webhook-relay', { path: '/broker/usage/daily' }, DailyUsageList),
  ]);
  const found = forecasts(connections, days, now);
  const all = connections.map((connection) => ({ ...connection, full: fullOn(connection, found.get(connection.name)) }));
  if (json) return print(`${JSON.stringify({ connections: all })}\n`);
  if (all.length === 0) return print('no broker connection is configured\n');
  print(tableOf(['CONNECTION', 'STATE', 'USED', 'LIMIT', 'SHARE', 'FULL'], all.map(rowOf)));
  const faults = all.filter(({ isConnected, lastError }) => !isConnected && lastError !== null);
  if (faults.length > 0) print(`\n${faults.map(({ name, host, port, lastError }) => `${name} at ${host}:${port}: ${lastError ?? ''}\n`).join('')}`);
}

function rowOf({ name, isActive, isConnected, messageCount, monthlyLimit, full }: Connection & { readonly full: string | null }): readonly string[] {
  const state = `${isConnected ? 'connected' : 'disconnected'}${isActive ? ', active' : ''}`;
  const share = monthlyLimit === 0 ? '-' : `${Math.floor((messageCount / monthlyLimit) * 100)} %`;
  return [name, state, numberText(messageCount), numberText(monthlyLimit), share, monthlyLimit === 0 ? '-' : (full ?? 'not this month')];
}

/** The day on which the limit is reached; null when the month ends before, where nothing is published, and for a limit of 0, which is to publish nothing. */
export function fullOn({ monthlyLimit, limitReached }: Pick<Connection, 'monthlyLimit' | 'limitReached'>, forecast: Forecast | undefined): string | null {
  if (monthlyLimit === 0) return null;
  return limitReached ? 'now' : (forecast?.fullAt?.toISOString().slice(0, 10) ?? null);
}

/** Makes a connection active. @param name `BROKER_URL_n` */
export async function switchTo(installation: Installation, name: string, print: Output['print']): Promise<void> {
  const { connections } = await askConnections(installation);
  const wanted = connections.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (!wanted) throw new Error(`there is no connection '${name}'; there are: ${connections.map((one) => one.name).join(', ')}`);
  const { previous, active } = await installation.ask('webhook-relay', { method: 'POST', path: `/Broker/switch/${wanted.index}` }, SwitchResult);
  print(`${active} is active, before it was ${previous}\n`);
}

/** Sets the count of the month to 0. */
export async function resetUsage(installation: Installation, name: string, print: Output['print']): Promise<void> {
  await installation.ask('webhook-relay', { method: 'DELETE', path: `/broker/usage/current/${encodeURIComponent(name)}` }, Deleted);
  print(`the usage of ${name} counts from 0 again\n`);
}
