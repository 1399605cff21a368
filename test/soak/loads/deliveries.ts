// Deliveries of two forges to the relays: each promised one once in the event log and once for the typed tables, and each issue in its newest state.
import { createHmac } from 'node:crypto';
import { ask, createOutcomes, type Load, outcomeOf } from '../load.ts';
import type { Random } from '../random.ts';

type Forge = { readonly host: string; readonly headersOf: (deliveryId: string) => Readonly<Record<string, string>> };

const forges: readonly Forge[] = [
  { host: 'github.com', headersOf: (id) => ({ 'X-GitHub-Event': 'issues', 'X-GitHub-Delivery': id, 'X-GitHub-Hook-ID': '7' }) },
  { host: 'gitea.example.org', headersOf: (id) => ({ 'X-Gitea-Event': 'issues', 'X-Gitea-Event-Type': 'issues', 'X-Gitea-Delivery': id }) },
];
const issues = 5000;
const repeatedEvery = 25;

/** Numbered from 1: the forge, the issue and its state follow from the number. */
const placeOf = (number: number) => ({ forge: forges[number % 4 === 0 ? 1 : 0], issue: 1 + (number % issues) });

function payloadOf(number: number): string {
  const { forge, issue } = placeOf(number);
  const at = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
  const sender = { id: 7 + (number % 50), login: `person-${number % 50}`, type: 'User' };
  const page = `https://${forge?.host}/railway/signals`;
  return JSON.stringify({
    action: 'edited',
    issue: { id: 10_000 + issue, number: issue, title: `State ${number}`, state: 'open', user: sender, updated_at: at, html_url: `${page}/issues/${issue}` },
    repository: { id: 1001, name: 'signals', full_name: 'railway/signals', html_url: page, owner: { id: 9, login: 'railway' } },
    sender,
  });
}

type Parts = { readonly relayUrls: readonly string[]; readonly secret: string; readonly perSecond: number; readonly most: number; readonly random: Random };

export function createDeliveries({ relayUrls, secret, perSecond, most, random }: Parts): Load {
  const outcomes = createOutcomes();
  let last = 0;
  let repeated = 0;

  function send(number: number) {
    const body = payloadOf(number);
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const headers = { 'Content-Type': 'application/json', 'X-Hub-Signature-256': signature, ...placeOf(number).forge?.headersOf(`soak-${number}`) };
    return ask('POST', `${random.pick(relayUrls)}/Forge`, { headers, body });
  }

  return {
    name: 'deliveries',
    perSecond,
    atOnce: 200,
    async step() {
      if (last >= most) return;
      const number = ++last;
      const answer = await send(number);
      const isSpooled = typeof answer.body === 'object' && answer.body !== null && Reflect.get(answer.body, 'spooled') === true;
      outcomes.set(number, isSpooled ? 'promised' : outcomeOf(answer));
      // A forge that got its answer too late sends the same again.
      const earlier = 1 + random.below(number);
      if (number % repeatedEvery !== 0 || outcomes.byNumber.get(earlier) !== 'promised') return;
      repeated += 1;
      await send(earlier);
    },
    counts: () => `${outcomes.text()}, ${repeated} repeated`,
    async balance(database) {
      const idsOf = async (table: string, where = '') => {
        const sql = `select substr(delivery_id, 6)::int as number, count(*)::int as times from intake.${table} ${where} group by 1`;
        return new Map((await database.query<{ number: number; times: number }>(sql)).rows.map(({ number, times }) => [number, times]));
      };
      const logged = await idsOf('events', `where source = 'forge'`);
      const tracked = await idsOf('tracked_deliveries');
      const [sums] = (
        await database.query<{ events: number; received: number; used: number }>(
          `select (select count(*) from intake.events where source = 'forge')::int as events,
            (select sum(received) from intake.statistics_buckets where source = 'forge')::int as received,
            (select sum(message_count) from relay.broker_usage)::int as used`,
        )
      ).rows;
      return [
        ...outcomes.compare(logged, 'delivery'),
        ...outcomes.compare(tracked, 'delivery of the typed tables'),
        ...(sums && sums.received !== sums.events ? [`the buckets count ${sums.received} of ${sums.events} events`] : []),
        ...(sums && sums.used < sums.events ? [`${sums.used} messages are counted for ${sums.events} events`] : []),
        ...(await staleIssues((sql) => database.query<Shown>(sql), outcomes.byNumber)),
      ];
    },
  };
}

type Shown = { readonly forge: string; readonly number: number; readonly title: string };

/** The state that a row shows was sent, and none that is newer was promised. */
async function staleIssues(query: (sql: string) => Promise<{ rows: Shown[] }>, sent: ReadonlyMap<number, string>): Promise<string[]> {
  const newest = new Map<string, number>();
  for (const [number, outcome] of sent) {
    const { forge, issue } = placeOf(number);
    const key = `${forge?.host} ${issue}`;
    if (outcome === 'promised' && number > (newest.get(key) ?? 0)) newest.set(key, number);
  }
  const rows = await query('select forge, number, title from intake.issues');
  const shown = new Map(rows.rows.map(({ forge, number, title }) => [`${forge} ${number}`, Number(title.replace('State ', ''))]));
  return [...newest].flatMap(([key, number]) => {
    const state = shown.get(key);
    return state === undefined || state < number ? [`issue ${key} shows state ${state}, and ${number} was promised`] : [];
  });
}
