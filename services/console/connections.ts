// Connections to brokers, as the first page and the area of the system show them: state, use of the month, and when it will be full.
import { h, type VNode } from './view/elements.ts';
import type { AnswerOf } from '../platform/http/wire.ts';
import { DailyUsageList } from '../webhook-relay/administration-contract.ts';
import { type Forecast, forecasts, shareAtEnd } from '../webhook-relay/client.ts';
import { ConnectionList } from '../webhook-relay/contract.ts';
import type { Visit } from './pages.ts';
import { meter } from './view/details.ts';
import type { Locale } from './view/locale.ts';
import { badge, said, type Tone } from './view/texts.ts';

export type Connection = AnswerOf<typeof ConnectionList>['connections'][number];
export type DailyUsage = AnswerOf<typeof DailyUsageList>['days'];

export type Brokers = { readonly connections: readonly Connection[]; readonly days: DailyUsage; readonly forecasts: ReadonlyMap<string, Forecast> };

export async function readBrokers({ ask, locale: { now } }: Pick<Visit, 'ask' | 'locale'>): Promise<Brokers> {
  const relay = ask('relay');
  const [{ connections }, { days }] = await Promise.all([relay.get('/Broker/connections', ConnectionList), relay.get('/broker/usage/daily', DailyUsageList)]);
  return { connections, days, forecasts: forecasts(connections, days, now) };
}

/** How much of the quota is used, from 0 to 1. */
export const shareOf = ({ messageCount, monthlyLimit }: Connection) => (monthlyLimit === 0 ? 1 : messageCount / monthlyLimit);

/** A share that is tiny is not `0%`, as that reads as nothing. */
export const shareText = ({ format, t: { system } }: Locale, share: number): string =>
  share > 0 && share < 0.01 ? system.lessThan(format.percent(0.01)) : format.percent(share);

export function toneOf({ isConnected, limitReached, isNearLimit }: Connection): Tone {
  if (!isConnected || limitReached) return 'bad';
  return isNearLimit ? 'warn' : 'good';
}

type Card = {
  readonly connection: Connection;
  readonly forecasts: Brokers['forecasts'];
  /** Added by a page: addresses, buttons. */
  readonly more?: readonly (VNode | null)[];
};

export function connectionCard(locale: Locale, { connection, forecasts: all, more }: Card): VNode {
  const { system } = locale.t;
  const { name, isActive, isConnected, messageCount, monthlyLimit, lastError } = connection;
  const text = system.used(locale.format.number(messageCount), locale.format.number(monthlyLimit), shareText(locale, shareOf(connection)));
  const state = isConnected ? badge('good', system.connected) : badge('bad', system.disconnected);
  return h(
    'li',
    { class: 'connection' },
    h('h3', null, h('span', null, name), state, isActive ? badge('info', system.active) : null),
    meter({ label: system.thisMonth, value: messageCount, most: monthlyLimit, text, tone: isConnected ? toneOf(connection) : 'warn' }),
    h('p', { class: 'quiet' }, outlook(locale, connection, all.get(connection.name))),
    lastError === null || isConnected ? null : h('p', { class: 'fault' }, said(locale, lastError)),
    more,
  );
}

function outlook(locale: Locale, connection: Connection, forecast: Forecast | undefined): string {
  const { system } = locale.t;
  if (connection.monthlyLimit === 0) return system.closed;
  if (connection.limitReached) return system.full;
  if (!connection.isConnected) return system.unused;
  if (forecast === undefined) return system.nothingPublished;
  if (forecast.fullAt) return system.fullOn(locale.format.date(forecast.fullAt));
  return system.enough(shareText(locale, shareAtEnd(forecast, connection, locale.now)));
}

export const connectionList = (cards: readonly VNode[]): VNode => h('ul', { class: 'connections' }, cards);
