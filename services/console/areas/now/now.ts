// The first page: is anything wrong, and what waits. A service that does not answer is a line here, and hides no other.
import { h, type VNode } from '../../view/elements.ts';
import { Readiness } from '../../../platform/health.ts';
import type { Problem } from '../../../platform/problem.ts';
import { withTimeout } from '../../../platform/time.ts';
import { Expiring } from '../../../secrets/overview/contract.ts';
import { Counts } from '../../../webhook-intake/dashboard/contract.ts';
import { RelayCounts } from '../../../webhook-relay/administration-contract.ts';
import { type Brokers, connectionCard, connectionList, readBrokers, shareOf, shareText, toneOf } from '../../connections.ts';
import { Problems, type ServiceName, services } from '../../contract.ts';
import { deliveriesPlot } from '../../deliveries-plot.ts';
import { page, type Visit } from '../../pages.ts';
import { type Part, partOf } from '../../parts.ts';
import { tiles } from '../../view/details.ts';
import { type Column, table } from '../../view/lists.ts';
import { pageHead, section } from '../../view/shell.ts';
import { badge, type Tone } from '../../view/texts.ts';
import { type ExpiringVersion, expiringQuery, isExpired } from '../secrets/expiry.ts';
import { countLinks, countListings } from '../../waiting.ts';
import { attention, type Numbers } from './attention.ts';
import { DeadLetters, deadLetterSection, shownDeadLetters } from './dead-letters.ts';
import { expiringSection, shownExpiring } from './expiring.ts';

/** The first page is there in time, whatever a service is at. */
const partMs = 4000;

const soon = <T>(work: Promise<T>): Promise<Part<T>> => withTimeout<Part<T>>(partOf(work), partMs, () => ({ problem: Problems.serviceSlow() }));

type ServiceState = { readonly service: ServiceName; readonly state: 'ready' | 'unready' | 'away' | 'slow' | 'refused' };

const now = page({
  path: '/',
  area: 'now',
  async show(visit) {
    const { locale, has } = visit;
    const { now: words } = locale.t;
    const [states, found] = await Promise.all([Promise.all(services.filter(has).map((service) => askService(visit, service))), look(visit)]);
    const waiting = attention(visit, found.numbers);
    const brokers = found.brokers?.value;
    const faults = faultsOf(visit, { states, waiting, connections: brokers?.connections ?? [], expiring: found.expiring?.value?.items ?? [] });
    const isWell = found.isWhole && faults.length === 0;
    return {
      title: locale.t.view.areas.now,
      body: [
        pageHead({ title: isWell ? words.well : words.notWell, lead: isWell ? words.wellLead : faults.join(' · ') || words.notWhole }),
        waiting.length > 0 ? section(words.waits, tiles(waiting)) : null,
        found.deadLetters?.value ? deadLetterSection(visit, found.deadLetters.value) : null,
        h('div', { class: 'columns' }, [
          brokers && brokers.connections.length > 0 ? connectionSection(visit, brokers) : null,
          found.plot?.value ? section(locale.t.view.areas.events, found.plot.value) : null,
        ]),
        found.expiring?.value ? expiringSection(locale, found.expiring.value) : null,
        section(words.services, states.length > 0 ? serviceTable(visit, states) : h('p', { class: 'quiet' }, words.noServices)),
      ],
    };
  },
});

type Looked = {
  readonly states: readonly ServiceState[];
  readonly waiting: ReturnType<typeof attention>;
  readonly connections: Brokers['connections'];
  readonly expiring: readonly ExpiringVersion[];
};

const isFault = (tone: Tone) => tone === 'bad' || tone === 'warn';

/** A few words for each thing that is wrong. */
function faultsOf({ locale }: Visit, { states, waiting, connections, expiring }: Looked): readonly string[] {
  const { now: words, system } = locale.t;
  const down = states.filter(({ state }) => state !== 'ready').map(({ service, state }) => `${words.names[service]}: ${words.states[state]}`);
  const counted = waiting.filter(({ tone }) => isFault(tone)).map(({ label, value }) => `${label}: ${value}`);
  const lost = connections
    .filter((one) => isFault(toneOf(one)))
    .map((one) => `${one.name}: ${one.isConnected ? shareText(locale, shareOf(one)) : system.disconnected}`);
  const expired = expiring.some((one) => isExpired(locale, one)) ? [words.someExpired] : [];
  return [...down, ...counted, ...lost, ...expired];
}

/** Everything at once, as far as this person may see it. */
async function look(visit: Visit) {
  const { ask, has, may } = visit;
  const isOperator = may('system');
  const [relay, intake, brokers, plot, links, listings, expiring] = await Promise.all([
    isOperator && has('relay') ? soon(ask('relay').get('/Broker/counts', RelayCounts)) : undefined,
    isOperator && has('intake') ? soon(ask('intake').get('/api/v1/counts', Counts)) : undefined,
    isOperator && has('relay') ? soon(readBrokers(visit)) : undefined,
    may('events') && has('intake') ? soon(deliveriesPlot(visit, { span: 'hours' })) : undefined,
    may('links') && has('digest') ? soon(countLinks(ask('digest'))) : undefined,
    may('listings') && has('listings') ? soon(countListings(ask('listings'))) : undefined,
    may('secrets') && has('secrets') ? soon(ask('secrets').get('/api/management/expiring', Expiring, { ...expiringQuery, limit: shownExpiring })) : undefined,
  ]);
  const numbers: Numbers = { relay: relay?.value, intake: intake?.value, links: links?.value, listings: listings?.value };
  // Opens a connection to each broker: only where there is something to see.
  const areDead = has('intake') && isOperator && (relay?.value?.deadLetters ?? intake?.value?.deadLetters ?? 0) > 0;
  const deadLetters = areDead ? await soon(ask('intake').get('/api/v1/dead-letters', DeadLetters, { limit: shownDeadLetters })) : undefined;
  const isWhole = [relay, intake, brokers, plot, links, listings, expiring, deadLetters].every((part) => !part?.problem);
  return { numbers, brokers, plot, expiring, deadLetters, isWhole };
}

async function askService({ ask }: Visit, service: ServiceName): Promise<ServiceState> {
  const { value, problem } = await soon(ask(service).get('/health/ready', Readiness));
  return { service, state: problem ? stateOf(problem) : value.status };
}

function stateOf({ kind }: Problem): ServiceState['state'] {
  if (kind.type === Problems.serviceAway.type) return 'away';
  if (kind.type === Problems.serviceSlow.type) return 'slow';
  return kind.type === Problems.credentialRefused.type ? 'refused' : 'unready';
}

const stateTones: Readonly<Record<ServiceState['state'], Tone>> = { ready: 'good', unready: 'warn', away: 'bad', slow: 'bad', refused: 'bad' };

function serviceTable({ locale }: Visit, states: readonly ServiceState[]): VNode {
  const { now: words } = locale.t;
  const columns: readonly Column<ServiceState>[] = [
    { label: words.service, kind: 'main', cell: ({ service }) => words.names[service] },
    { label: words.state, cell: ({ state }) => badge(stateTones[state], words.states[state]) },
  ];
  return table({ caption: words.services, columns, items: states, idOf: ({ service }) => service });
}

const connectionSection = ({ locale }: Visit, { connections, forecasts }: Brokers): VNode =>
  section(
    h('a', { href: '/system/brokers' }, locale.t.system.connections),
    connectionList(connections.map((one) => connectionCard(locale, { connection: one, forecasts }))),
  );

export const nowPages = [now];
