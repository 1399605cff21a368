// The forge queue's worker: deliveries become events in the log.
import { v7 as uuidv7 } from 'uuid';
import type { BatchHandler, Delivery } from '../../platform/broker/broker.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { storable } from '../../platform/json.ts';
import { type LoggedEvent, storeEvents } from '../event-log.ts';
import { measureEvents } from '../event-metrics.ts';
import { noRules, type Rules } from '../notifications/rules.ts';
import { type BatchWorkerParts, createBatchWorker } from './batch-worker.ts';
import { integerAt, readEnvelope, readPayload, repositoryOf } from './delivery.ts';
import { noticeOf } from './notice.ts';

type ServiceWorkerParts = BatchWorkerParts & {
  readonly database: Database;
  /** Who is told of what. Default: nobody. */
  readonly rules?: Pick<Rules, 'match'>;
};

export function createServiceWorker({ database, rules = noRules, ...parts }: ServiceWorkerParts): BatchHandler {
  const count = measureEvents(parts.metrics, [source]);
  const store = async (events: readonly LoggedEvent[]) => {
    const areNew = await storeEvents(database, events, rules);
    count(source, areNew);
    return areNew;
  };
  return createBatchWorker({ worker: 'service', queue: 'forge', read: readEvent, store }, parts);
}

const source = 'forge';

async function readEvent(delivery: Delivery, maxValues: number): Promise<LoggedEvent> {
  const { value, bytes } = await readPayload(delivery, maxValues);
  const envelope = readEnvelope(delivery);
  const repository = repositoryOf(value);
  return {
    ...envelope,
    id: uuidv7({ msecs: envelope.receivedAt.getTime() }),
    source,
    repository,
    number: subjectNumber(value),
    bytes,
    headers: Object.fromEntries(Object.entries(delivery.headers).map(([name, value]) => [name, storable(value)])),
    body: delivery.body,
    isGzip: delivery.contentEncoding === 'gzip',
    notice: noticeOf({ ...envelope, repository }, value),
  };
}

const maxInt = 2 ** 31 - 1;

/** Of the issue or pull request it is about. */
function subjectNumber(payload: unknown): number | null {
  const number = integerAt(payload, 'pull_request', 'number') ?? integerAt(payload, 'issue', 'number');
  return number !== undefined && number > 0 && number <= maxInt ? number : null;
}
