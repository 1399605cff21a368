// Events of a declared source, and the webhook that a rule sends for each: once in the log, and at least once at the receiver, under one id.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { memberAt, textAt } from '../../../services/platform/json.ts';
import { sourceToken } from '../installation.ts';
import { ask, createOutcomes, type Load, outcomeOf } from '../load.ts';

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Keeps the ids that each event came under. */
export async function startReceiver() {
  const ids = new Map<number, string[]>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const number = Number(textAt(JSON.parse(body), 'data', 'payload', 'id')?.replace('soak-', ''));
      ids.set(number, [...(ids.get(number) ?? []), String(request.headers['webhook-id'])]);
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server, listening
  return { url: `http://127.0.0.1:${port}/`, ids, close: () => (server.closeAllConnections(), server.close()) };
}

export function createEvents({
  intakeUrl,
  receiver,
  perSecond,
}: {
  readonly intakeUrl: string;
  readonly receiver: Receiver;
  readonly perSecond: number;
}): Load {
  const outcomes = createOutcomes();
  let last = 0;
  let again = 0;
  return {
    name: 'events of a source',
    perSecond,
    atOnce: 20,
    async step() {
      const number = ++last;
      const body = JSON.stringify({ type: 'order.placed', id: `soak-${number}`, title: `Order ${number}` });
      const answer = await ask('POST', `${intakeUrl}/shop`, { headers: { 'Content-Type': 'application/json', 'X-Source-Token': sourceToken }, body });
      outcomes.set(number, outcomeOf(answer));
      if (answer.status === 202 && memberAt(answer.body, 'duplicate') === true) again += 1;
    },
    counts: () => `${outcomes.text()}, ${receiver.ids.size} notified`,
    async balance(database) {
      const sql = `select substr(delivery_id, 6)::int as number, count(*)::int as times from intake.events where source = 'shop' group by 1`;
      const logged = new Map((await database.query<{ number: number; times: number }>(sql)).rows.map(({ number, times }) => [number, times]));
      const silent = [...logged.keys()].filter((number) => !receiver.ids.has(number)).map((number) => `the notification of event ${number} is missing`);
      const twice = [...receiver.ids].flatMap(([number, ids]) => (new Set(ids).size > 1 ? [`event ${number} was notified under ${ids.join(' and ')}`] : []));
      return [...outcomes.compare(logged, 'event'), ...silent, ...twice, ...(again > 0 ? [`${again} events were called duplicates`] : [])];
    },
  };
}
