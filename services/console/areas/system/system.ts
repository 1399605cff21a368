// The state of everything: connections to brokers, queues, workers, and what waits for an operator.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { WorkerState } from '../../../webhook-intake/contract.ts';
import { QueueList, RelayCounts } from '../../../webhook-relay/administration-contract.ts';
import { connectionCard, connectionList, readBrokers } from '../../connections.ts';
import { page, type Visit } from '../../pages.ts';
import { faultOf, type Part, partOf } from '../../parts.ts';
import { tiles } from '../../view/details.ts';
import { actionsFormElement, type Column, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pageHead, section } from '../../view/shell.ts';
import { time, type Tone } from '../../view/texts.ts';
import { systemTabs } from './tabs.ts';
import { workerTable } from './workers.ts';

const WorkerStates = z.object({ items: z.array(WorkerState) });
type Queue = AnswerOf<typeof QueueList>['queues'][number];

const overview = page({
  path: '/system',
  area: 'system',
  async show(visit) {
    const { locale, ask, has } = visit;
    const { system, view } = locale.t;
    const relay = has('relay') ? ask('relay') : undefined;
    const [counts, brokers, queues, workers] = await Promise.all([
      relay && partOf(relay.get('/Broker/counts', RelayCounts)),
      relay && partOf(readBrokers(visit)),
      relay && partOf(relay.get('/Broker/queues', QueueList)),
      has('intake') ? partOf(ask('intake').get('/api/v1/workers', WorkerStates)) : undefined,
    ]);
    const cards = shown(visit, brokers, ({ connections, forecasts }) =>
      connectionList(connections.map((one) => connectionCard(locale, { connection: one, forecasts, more: [h('p', { class: 'quiet' }, one.host)] }))),
    );
    return {
      title: view.areas.system,
      body: [
        pageHead({ title: view.areas.system, lead: system.lead }),
        systemTabs(visit, 'overview'),
        shown(visit, counts, (value) => countTiles(visit, value)),
        cards && section(system.connections, cards),
        queues &&
          section(
            system.queues,
            shown(visit, queues, (value) => queueTable(locale, value.queues)),
          ),
        workers &&
          section(
            system.workers.title,
            shown(visit, workers, ({ items }) => workerTable(visit, items)),
          ),
        actionsFormElement(),
      ],
    };
  },
});

const shown = <T>(visit: Visit, part: Part<T> | undefined, show: (value: T) => VNode) =>
  part && (part.problem ? faultOf(visit, part.problem) : show(part.value));

function countTiles({ locale, has }: Visit, { deadLetters, spooled, givenUp, rejected, queued }: AnswerOf<typeof RelayCounts>): VNode {
  const { system } = locale.t;
  const number = locale.format.number;
  const toneOf = (count: number): Tone => (count > 0 ? 'bad' : 'good');
  return tiles([
    { label: system.deadLetters, value: number(deadLetters), tone: toneOf(deadLetters), ...(has('intake') && { href: '/system/dead-letters' }) },
    { label: system.givenUp, value: number(givenUp), tone: toneOf(givenUp), href: '/system/spool' },
    { label: system.spooled, value: number(spooled), tone: spooled > 0 ? 'warn' : 'good', href: '/system/spool' },
    { label: system.rejected, value: number(rejected), tone: 'plain', href: '/system/rejected' },
    { label: system.queued, value: number(queued), tone: 'plain' },
  ]);
}

function queueTable(locale: Locale, queues: readonly Queue[]): VNode {
  const { system } = locale.t;
  const columns: readonly Column<Queue>[] = [
    { label: system.queue, kind: 'main', cell: ({ queue }) => queue },
    { label: system.connection, cell: ({ broker }) => broker },
    { label: system.messages, kind: 'number', cell: ({ messages }) => (messages === null ? system.unknown : locale.format.number(messages)) },
    { label: system.oldest, cell: ({ oldestAt }) => (oldestAt === null ? '' : time(locale, oldestAt, 'ago')) },
  ];
  return table({ caption: system.queues, columns, items: queues, idOf: ({ broker, queue }) => `${broker} ${queue}` });
}

export const systemPages = [overview];
