// `signalbox queues`: what waits in the queues of each broker connection, and whether it is consumed.
import type { AnswerOf } from '../platform/http/wire.ts';
import { tableOf } from '../platform/process/table.ts';
import { QueueList } from '../webhook-relay/administration-contract.ts';
import { ageText, numberText } from './figures.ts';
import type { Installation } from './installation.ts';

export type Queue = AnswerOf<typeof QueueList>['queues'][number];
type Output = { readonly print: (text: string) => void; readonly json: boolean };

export const askQueues = (installation: Installation) => installation.ask('webhook-relay', { path: '/Broker/queues' }, QueueList);

/** @throws Error in words when the relay cannot be asked */
export async function queues(installation: Installation, { print, json }: Output): Promise<void> {
  const list = await askQueues(installation);
  if (json) return print(`${JSON.stringify(list)}\n`);
  print(tableOf(['CONNECTION', 'QUEUE', 'WAITING', 'IN WORK', 'OLDEST', 'CONSUMERS'], list.queues.map(rowOf)));
  const faults = list.queues.flatMap((queue) => faultOf(queue) ?? []);
  if (faults.length > 0) print(`\n${faults.map((fault) => `${fault}\n`).join('')}`);
}

/** `?` for what the broker does not answer, `-` for what it never tells. */
function rowOf({ broker, queue, messages, inWork, consumers, oldestSeconds }: Queue): readonly string[] {
  if (messages === null) return [broker, queue, '?', '?', '?', '?'];
  const [waiting, held, attached] = [messages, inWork, consumers].map((count) => (count === null ? '-' : numberText(count)));
  return [broker, queue, waiting ?? '', held ?? '', oldestSeconds === null ? '-' : ageText(oldestSeconds), attached ?? ''];
}

export const isDead = (queue: string) => queue.endsWith('.dead');

const deadLetters = 'signalbox webhook-intake dead-letters lists them (in a cluster in a pod of the intake)';
const workers: Readonly<Record<string, string>> = { forge: 'signalbox worker service', 'forge-database': 'signalbox worker database-service' };
const noConsumer = 'does not run, is not connected, or waits for its schedule';

/** A sentence on a queue that needs a person, with the command that shows more; undefined where none does. */
export function faultOf({ broker, queue, messages, consumers }: Queue): string | undefined {
  if (messages === null) return isDead(queue) ? `${broker} does not answer: signalbox brokers says why` : undefined;
  if (isDead(queue)) return messages > 0 ? `${queue} of ${broker} holds ${numberText(messages)} dead letters: ${deadLetters}` : undefined;
  return messages > 0 && consumers === 0 ? `${queue} of ${broker} has no consumer: ${workers[queue] ?? 'its worker'} ${noConsumer}` : undefined;
}
