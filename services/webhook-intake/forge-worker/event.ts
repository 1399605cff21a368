// A delivery as the event log keeps it.
import { v7 as uuidv7 } from 'uuid';
import type { Delivery } from '../../platform/broker/broker.ts';
import { storable } from '../../platform/text.ts';
import { type Envelope, readEnvelope } from '../envelope.ts';
import { integerAt, textAt } from '../json.ts';
import { readPayload, type Unreadable } from '../payload.ts';

export type LoggedEvent = Envelope & {
  /** Holds the time of reception, as the log is ordered by it. */
  readonly id: string;
  readonly source: string;
  readonly repository: string | null;
  /** Of the issue or pull request it is about. */
  readonly number: number | null;
  /** Of the payload, unpacked. */
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As it came: the raw bytes, or their gzip. */
  readonly body: Buffer;
  readonly isGzip: boolean;
};

export async function readEvent(delivery: Delivery): Promise<LoggedEvent | Unreadable> {
  const payload = await readPayload(delivery);
  if ('unreadable' in payload) return payload;
  const { value, bytes } = payload;
  const envelope = readEnvelope(delivery);
  return {
    ...envelope,
    id: uuidv7({ msecs: envelope.receivedAt.getTime() }),
    source: 'forge',
    repository: storable(textAt(value, 'repository', 'full_name') ?? '') || null,
    number: subjectNumber(value),
    bytes,
    headers: delivery.headers,
    body: delivery.body,
    isGzip: delivery.contentEncoding === 'gzip',
  };
}

const maxInt = 2 ** 31 - 1;

function subjectNumber(payload: unknown): number | null {
  const number = integerAt(payload, 'pull_request', 'number') ?? integerAt(payload, 'issue', 'number');
  return number !== undefined && number > 0 && number <= maxInt ? number : null;
}
