// The state of everything: connections to brokers, queues, workers, and what waits for an operator.
import { h, type VNode } from 'preact';
import { z } from 'zod';
import { QueueList, RelayCounts } from '../../../webhook-relay/administration-contract.ts';
import { ConnectionList } from '../../../webhook-relay/contract.ts';
import { WorkerState } from '../../../webhook-intake/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { action, noFields, page, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { meter, tiles } from '../../view/details.ts';
import { actionButton, actionsFormElement, type Column, table } from '../../view/lists.ts';
import { pageHead, section } from '../../view/shell.ts';
import { badge, time, type Tone } from '../../view/texts.ts';
import { faultOf, type Part, partOf } from '../../parts.ts';

const path = '/system';
const WorkerStates = z.object({ items: z.array(WorkerState) });

type Connection = AnswerOf<typeof ConnectionList>['connections'][number];
type Queue = AnswerOf<typeof QueueList>['queues'][number];
type Worker = AnswerOf<typeof WorkerState>;

const overview = page({
  path,
  area: 'system',
  async show(visit) {
    const { locale, ask, may, has } = visit;
    const { system } = locale.t;
    const relay = has('relay') ? ask('relay') : undefined;
    const [counts, connections, queues, workers] = await Promise.all([
      relay && partOf(relay.get('/Broker/counts', RelayCounts)),
      relay && partOf(relay.get('/Broker/connections', ConnectionList)),
      relay && partOf(relay.get('/Broker/queues', QueueList)),
      has('intake') ? partOf(ask('intake').get('/api/v1/workers', WorkerStates)) : undefined,
    ]);
    return {
      title: locale.t.view.areas.system,
      body: [
        pageHead({ title: locale.t.view.areas.system }),
        counts && shown(visit, counts, (value) => countTiles(visit, value)),
        connections &&
          section(
            system.connections,
            shown(visit, connections, ({ connections: all }) => all.map((one) => connectionOf(visit, one))),
          ),
        queues &&
          section(
            system.queues,
            shown(visit, queues, (value) => queueTable(visit, value.queues)),
          ),
        workers &&
          section(
            system.workers,
            shown(visit, workers, ({ items }) => workerTable(visit, items)),
          ),
        section(
          system.further,
          h(
            'ul',
            null,
            has('intake') ? h('li', null, h('a', { href: `${path}/notifications` }, system.notifications)) : null,
            may('system', 'admin') ? h('li', null, h('a', { href: `${path}/actions` }, locale.t.record.title)) : null,
          ),
        ),
        actionsFormElement(),
      ],
    };
  },
});

const shown = <T>(visit: Visit, part: Part<T>, show: (value: T) => VNode | VNode[]) => (part.problem ? faultOf(visit, part.problem) : show(part.value));

function countTiles({ locale, has }: Visit, { deadLetters, spooled, givenUp, rejected, queued }: AnswerOf<typeof RelayCounts>): VNode {
  const { system } = locale.t;
  const number = locale.format.number;
  const toneOf = (count: number): Tone => (count > 0 ? 'bad' : 'good');
  return tiles([
    { label: system.deadLetters, value: number(deadLetters), tone: toneOf(deadLetters), ...(has('intake') && { href: `${path}/dead-letters` }) },
    { label: system.givenUp, value: number(givenUp), tone: toneOf(givenUp) },
    { label: system.spooled, value: number(spooled), tone: spooled > 0 ? 'warn' : 'good' },
    { label: system.rejected, value: number(rejected), tone: 'plain' },
    { label: system.queued, value: number(queued), tone: 'plain' },
  ]);
}

function connectionOf({ locale }: Visit, { name, host, isActive, isConnected, limitReached, messageCount, monthlyLimit, lastError }: Connection): VNode {
  const { system } = locale.t;
  const share = monthlyLimit === 0 ? 1 : messageCount / monthlyLimit;
  const state = isConnected ? badge('good', system.connected) : badge('bad', system.disconnected);
  const text = system.used(locale.format.number(messageCount), locale.format.number(monthlyLimit), locale.format.percent(share));
  const tone: Tone = limitReached ? 'bad' : share >= 0.8 ? 'warn' : 'good';
  return h(
    'div',
    { class: 'connection' },
    h('h3', null, name, ' ', state, ' ', isActive ? badge('info', system.active) : null),
    h('p', { class: 'quiet' }, host),
    meter({ label: system.thisMonth, value: messageCount, most: monthlyLimit, text, tone }),
    lastError === null || isConnected ? null : h('p', { class: 'fault' }, lastError),
  );
}

function queueTable({ locale }: Visit, queues: readonly Queue[]): VNode {
  const { system } = locale.t;
  const columns: readonly Column<Queue>[] = [
    { label: system.queue, kind: 'main', cell: ({ queue }) => queue },
    { label: system.connection, cell: ({ broker }) => broker },
    { label: system.messages, kind: 'number', cell: ({ messages }) => (messages === null ? system.unknown : locale.format.number(messages)) },
    { label: system.oldest, cell: ({ oldestAt }) => (oldestAt === null ? '–' : time(locale, oldestAt, 'ago')) },
  ];
  return table({ caption: system.queues, columns, items: queues, idOf: ({ broker, queue }) => `${broker} ${queue}` });
}

const tones: Readonly<Record<NonNullable<Worker['lastRun']>['status'], Tone>> = { accepted: 'info', running: 'info', succeeded: 'good', failed: 'bad' };

function workerTable({ locale, may }: Visit, workers: readonly Worker[]): VNode {
  const { system } = locale.t;
  const columns: readonly Column<Worker>[] = [
    { label: system.worker, kind: 'main', cell: ({ worker }) => worker },
    { label: system.running, kind: 'number', cell: ({ running }) => locale.format.number(running) },
    {
      label: system.lastRun,
      cell: ({ lastRun }) => (lastRun ? [badge(tones[lastRun.status], system.runStates[lastRun.status]), ' ', time(locale, lastRun.startedAt)] : '–'),
    },
    { label: system.processed, kind: 'number', cell: ({ lastRun }) => (lastRun ? locale.format.number(lastRun.processed) : '–') },
    { label: system.fault, kind: 'minor', cell: ({ lastRun }) => lastRun?.error ?? '' },
    ...(may('system', 'editor')
      ? [
          {
            label: system.actions,
            kind: 'actions',
            cell: ({ worker }: Worker) => actionButton({ path: `${path}/workers/${worker}/run`, label: system.start, inPlace: 'stay' }),
          } as const,
        ]
      : []),
  ];
  return table({ caption: system.workers, columns, items: workers, idOf: ({ worker }) => worker });
}

const startWorker = action({
  path: '/system/workers/{name}/run',
  area: 'system',
  params: z.object({ name: z.string() }),
  form: noFields,
  async run({ params: { name }, locale, ask }) {
    await ask('intake').send({ method: 'POST', path: pathOf`/api/v1/workers/${name}/run` }, z.unknown());
    return { message: locale.t.system.started(name), target: name, to: path };
  },
});

export const systemPages = [overview, startWorker];
