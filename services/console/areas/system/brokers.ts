// Connections to brokers: which is active, how much of each quota is used, when it will be full, and what was changed.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { type ConnectionChange, ConnectionChangeList } from '../../../webhook-relay/administration-contract.ts';
import { ConnectionList, type PublishedConnection, PublishedConnectionList, ReloadResult, SwitchResult } from '../../../webhook-relay/contract.ts';
import { type Brokers, type Connection, connectionCard, connectionList, readBrokers } from '../../connections.ts';
import { action, noFields, page, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { actionButton, actionsFormElement, type Column, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty } from '../../view/states.ts';
import { code, dotted, time } from '../../view/texts.ts';
import { systemTabs } from './tabs.ts';
import { usagePlots } from './usage-plots.ts';

const path = '/system/brokers';
const shownChanges = 20;

type Change = AnswerOf<typeof ConnectionChange>;
type Published = AnswerOf<typeof PublishedConnection>;

const list = page({
  path,
  area: 'system',
  async show(visit) {
    const { locale, ask, may } = visit;
    const { brokers: words } = locale.t.system;
    const relay = ask('relay');
    const [brokers, { items: changes }, { connections: published }] = await Promise.all([
      readBrokers(visit),
      relay.get('/Broker/changes', ConnectionChangeList, { limit: shownChanges }),
      relay.get('/Broker/published', PublishedConnectionList),
    ]);
    const left = published.filter(({ isConfigured }) => !isConfigured);
    const reload = may('system', 'admin') ? actionButton({ path: `${path}/reload`, label: words.reload, icon: 'again' }) : null;
    return {
      title: words.title,
      body: [
        pageHead({ title: words.title, lead: words.lead, actions: reload }),
        systemTabs(visit, 'brokers'),
        brokers.connections.length > 0 ? section(locale.t.system.connections, cards(visit, brokers)) : empty({ title: words.none, text: words.noneHint }),
        left.length > 0 ? section(words.left, h('p', { class: 'quiet' }, words.leftHint), leftTable(locale, left)) : null,
        brokers.connections.length > 0 ? section(words.usage, usagePlots(locale, brokers)) : null,
        section(words.changes, changes.length > 0 ? changeTable(locale, changes) : h('p', { class: 'quiet' }, words.noChanges)),
        actionsFormElement(),
      ],
    };
  },
});

function cards({ locale, may }: Visit, { connections, forecasts }: Brokers): VNode {
  const { brokers: words } = locale.t.system;
  const button = ({ index }: Connection) => h('div', { class: 'buttons' }, actionButton({ path: `${path}/${index}/switch`, label: words.makeActive }));
  const more = (one: Connection) => [
    h('p', { class: 'address' }, code(placeOf(one))),
    one.lastPublishedAt === null ? null : h('p', { class: 'quiet' }, `${words.published} `, time(locale, one.lastPublishedAt, 'ago')),
    may('system', 'admin') && !one.isActive ? button(one) : null,
  ];
  return connectionList(connections.map((one) => connectionCard(locale, { connection: one, forecasts, more: more(one) })));
}

type Place = Pick<Published, 'scheme' | 'host' | 'port' | 'virtualHost'>;
const placeOf = ({ scheme, host, port, virtualHost }: Place) => `${scheme}://${host}:${port}/${virtualHost.replace(/^\//, '')}`;

function changeTable(locale: Locale, changes: readonly Change[]): VNode {
  const { system } = locale.t;
  const words = system.brokers;
  const columns: readonly Column<Change>[] = [
    { label: system.connection, kind: 'main', cell: ({ broker }) => broker },
    { label: words.change, cell: ({ kind, changedAt }) => dotted(words.kinds[kind], time(locale, changedAt)) },
    { label: words.before, cell: ({ previous }) => previous ?? '–' },
    { label: words.by, cell: ({ changedBy }) => (changedBy === null ? words.relayItself : code(changedBy)) },
  ];
  return table({ caption: words.changes, columns, items: changes, idOf: ({ id }) => String(id) });
}

function leftTable(locale: Locale, left: readonly Published[]): VNode {
  const { system } = locale.t;
  const columns: readonly Column<Published>[] = [
    { label: system.connection, kind: 'main', cell: ({ name }) => name },
    { label: system.brokers.title, cell: (one) => code(placeOf(one)) },
    { label: system.brokers.lastPublished, cell: ({ lastPublishedAt }) => time(locale, lastPublishedAt) },
  ];
  return table({ caption: system.brokers.left, columns, items: left, idOf: placeOf });
}

const switchTo = action({
  path: '/system/brokers/{index}/switch',
  area: 'system',
  role: 'admin',
  isRecentLoginNeeded: true,
  params: z.object({ index: z.string() }),
  form: noFields,
  async run({ params: { index }, locale, ask }) {
    const relay = ask('relay');
    // Read first: the switch is done once its answer is here, whatever the relay answers after it.
    const { connections } = await relay.get('/Broker/connections', ConnectionList);
    const { active, previous } = await relay.send({ method: 'POST', path: pathOf`/Broker/switch/${index}` }, SwitchResult);
    const before = connections.find(({ name }) => name === previous && name !== active);
    const undo = before && { path: `${path}/${before.index}/switch`, fields: {} };
    return { message: locale.t.system.brokers.switched(active), target: active, to: path, ...(undo && { undo }) };
  },
});

const reload = action({
  path: '/system/brokers/reload',
  area: 'system',
  role: 'admin',
  isRecentLoginNeeded: true,
  form: noFields,
  async run({ locale, ask }) {
    const { brokers: words } = locale.t.system;
    const result = await ask('relay').send({ method: 'POST', path: '/Broker/reload', timeoutMs: 60_000 }, ReloadResult);
    const said = (['added', 'removed', 'changed'] as const).flatMap((kind) => {
      const names = result[kind];
      return names.length > 0 ? [words.reloaded[kind](locale.format.list(names))] : [];
    });
    return { message: said.length > 0 ? said.join(' ') : words.unchanged, target: result.active ?? '', to: path };
  },
});

export const brokerPages = [list, switchTo, reload];
