// Listing, reading, returning and dropping dead letters, the same on both brokers.
import type { Log } from '../log.ts';
import type { Adapter, WaitingDeadLetter } from './adapter.ts';
import type { Broker, DeadLetter, DeadLetterReturn, DeadLetterSelection, Message, Topology } from './broker.ts';
import { queueOf } from './outcomes.ts';

type DeadLetterActions = Pick<Broker, 'listDeadLetters' | 'readDeadLetters' | 'returnDeadLetters' | 'dropDeadLetters'>;

export function createDeadLetterActions(adapter: Pick<Adapter, 'deadLetters'>, topology: Topology, log: Log): DeadLetterActions {
  const originOf = ({ headers }: DeadLetter) => topology.queues.find(({ name }) => name === headers['x-dead-queue']);

  /** @throws TypeError when the topology has no such queue */
  function selectedBy({ queue, where = () => true }: DeadLetterSelection) {
    if (queue !== undefined) queueOf(topology, queue);
    return (deadLetter: DeadLetter) => (queue === undefined || originOf(deadLetter)?.name === queue) && where(deadLetter);
  }

  /** Until so many are done, or looked at, as `work` says of each. @returns how many are, and how many were looked at and are not */
  async function each(selection: DeadLetterSelection, work: (deadLetter: WaitingDeadLetter) => Promise<'done' | 'kept' | 'gone'>) {
    const isSelected = selectedBy(selection);
    const count = { done: 0, kept: 0, gone: 0 };
    for await (const deadLetter of adapter.deadLetters()) {
      count[isSelected(deadLetter) ? await work(deadLetter) : 'kept'] += 1;
      if (count.done === selection.limit || count.done + count.kept + count.gone === selection.lookAt) break;
    }
    return count;
  }

  return {
    async listDeadLetters(selection) {
      const found: DeadLetter[] = [];
      await each(selection, ({ id, type, headers }) => {
        found.push({ id, type, headers });
        return Promise.resolve('done');
      });
      return found;
    },
    async *readDeadLetters(selection): AsyncGenerator<Message> {
      const isSelected = selectedBy(selection);
      let [count, looked] = [0, 0];
      for await (const deadLetter of adapter.deadLetters()) {
        const message = isSelected(deadLetter) ? await deadLetter.read() : undefined;
        if (message) {
          yield message;
          count += 1;
        }
        looked += 1;
        if (count === selection.limit || looked === selection.lookAt) return;
      }
    },
    async returnDeadLetters(selection): Promise<DeadLetterReturn> {
      const { done, kept } = await each(selection, async (deadLetter) => {
        const origin = originOf(deadLetter);
        const result = origin ? await deadLetter.returnTo(origin) : 'kept';
        return result === 'returned' ? 'done' : result;
      });
      if (done > 0) log.info({ queue: selection.queue, returned: done, kept }, 'dead letters returned to their queues');
      return { returned: done, kept };
    },
    async dropDeadLetters(selection) {
      const { done } = await each(selection, async (deadLetter) => ((await deadLetter.drop()) ? 'done' : 'gone'));
      if (done > 0) log.info({ queue: selection.queue, dropped: done }, 'dead letters dropped');
      return done;
    },
  };
}
