// The first page: is anything wrong, and what waits. A service that does not answer is a line here, and hides no other.
import { h, type VNode } from 'preact';
import { Readiness } from '../../../platform/health.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import type { Problem } from '../../../platform/problem.ts';
import { RelayCounts } from '../../../webhook-relay/administration-contract.ts';
import { ConnectionList } from '../../../webhook-relay/contract.ts';
import { Problems, type ServiceName, services } from '../../contract.ts';
import { page, type Visit } from '../../pages.ts';
import { type Part, partOf } from '../../parts.ts';
import { type Tile, tiles } from '../../view/details.ts';
import { type Column, table } from '../../view/lists.ts';
import { pageHead, section } from '../../view/shell.ts';
import { badge, type Tone } from '../../view/texts.ts';

type Verdict = { readonly service: ServiceName; readonly state: 'ready' | 'unready' | 'away' | 'slow' | 'refused' };

const now = page({
  path: '/',
  area: 'now',
  async show(visit) {
    const { locale, ask, has, may } = visit;
    const { now: words } = locale.t;
    const isOperator = may('system') && has('relay');
    const [verdicts, counts, connections] = await Promise.all([
      Promise.all(services.filter(has).map((service) => verdictOf(visit, service))),
      isOperator ? partOf(ask('relay').get('/Broker/counts', RelayCounts)) : undefined,
      isOperator ? partOf(ask('relay').get('/Broker/connections', ConnectionList)) : undefined,
    ]);
    const waiting = [...countTiles(visit, counts), ...connectionTiles(visit, connections)];
    const isWell =
      verdicts.every(({ state }) => state === 'ready') && waiting.every(({ tone }) => tone === 'good') && ![counts, connections].some((part) => part?.problem);
    return {
      title: locale.t.view.areas.now,
      body: [
        pageHead({ title: isWell ? words.well : words.notWell, lead: isWell ? words.wellLead : words.notWellLead }),
        waiting.length > 0 ? tiles(waiting) : null,
        section(words.services, verdicts.length > 0 ? verdictTable(visit, verdicts) : h('p', { class: 'quiet' }, words.noServices)),
      ],
    };
  },
});

async function verdictOf({ ask }: Visit, service: ServiceName): Promise<Verdict> {
  const { value, problem } = await partOf(ask(service).get('/health/ready', Readiness));
  return { service, state: problem ? stateOf(problem) : value.status };
}

function stateOf({ kind }: Problem): Verdict['state'] {
  if (kind.type === Problems.serviceAway.type) return 'away';
  if (kind.type === Problems.serviceSlow.type) return 'slow';
  return kind.type === Problems.credentialRefused.type ? 'refused' : 'unready';
}

const tones: Readonly<Record<Verdict['state'], Tone>> = { ready: 'good', unready: 'warn', away: 'bad', slow: 'bad', refused: 'bad' };

function verdictTable({ locale }: Visit, verdicts: readonly Verdict[]): VNode {
  const { now: words } = locale.t;
  const columns: readonly Column<Verdict>[] = [
    { label: words.service, kind: 'main', cell: ({ service }) => words.names[service] },
    { label: words.state, cell: ({ state }) => badge(tones[state], words.states[state]) },
  ];
  return table({ caption: words.services, columns, items: verdicts, idOf: ({ service }) => service });
}

/** Nothing where the relay is away: its line in the table says so. */
function countTiles({ locale, has }: Visit, counts: Part<AnswerOf<typeof RelayCounts>> | undefined): Tile[] {
  if (!counts?.value) return [];
  const { deadLetters, givenUp, spooled } = counts.value;
  const { system } = locale.t;
  const shown: readonly (readonly [label: string, count: number, tone: Tone, href: string])[] = [
    [system.deadLetters, deadLetters, 'bad', has('intake') ? '/system/dead-letters' : '/system'],
    [system.givenUp, givenUp, 'bad', '/system'],
    [system.spooled, spooled, 'warn', '/system'],
  ];
  return shown.map(([label, count, tone, href]) => ({ label, value: locale.format.number(count), tone: count > 0 ? tone : 'good', href }));
}

const nearLimit = 0.8;

function connectionTiles({ locale }: Visit, connections: Part<AnswerOf<typeof ConnectionList>> | undefined): Tile[] {
  return (connections?.value?.connections ?? []).map(({ name, isConnected, limitReached, messageCount, monthlyLimit }) => {
    const share = monthlyLimit === 0 ? 1 : messageCount / monthlyLimit;
    const tone: Tone = !isConnected || limitReached ? 'bad' : share >= nearLimit ? 'warn' : 'good';
    const note = isConnected ? locale.t.now.ofLimit : locale.t.system.disconnected;
    return { label: name, value: locale.format.percent(share), note, tone, href: '/system' };
  });
}

export const nowPages = [now];
