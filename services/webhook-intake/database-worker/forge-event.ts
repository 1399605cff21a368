// A delivery as the database worker reads it.
import picomatch from 'picomatch';
import type { Delivery } from '../../platform/broker/broker.ts';
import { storable } from '../../platform/text.ts';
import { type DeliveryKey, readEnvelope } from '../envelope.ts';
import { textAt } from '../json.ts';
import { readPayload, type Unreadable } from '../payload.ts';

export type ForgeEvent = DeliveryKey & {
  readonly event: string;
  readonly action: string | null;
  readonly receivedAt: Date;
  /** owner/name */
  readonly repository: string | null;
  readonly payload: unknown;
};

export async function readForgeEvent(delivery: Delivery): Promise<ForgeEvent | Unreadable> {
  const payload = await readPayload(delivery);
  if ('unreadable' in payload) return payload;
  const { deliveryId, hookId, targetId, event, action, receivedAt } = readEnvelope(delivery);
  const repository = storable(textAt(payload.value, 'repository', 'full_name') ?? '') || null;
  return { deliveryId, hookId, targetId, event, action, receivedAt, repository, payload: payload.value };
}

/** Whether an event is of the application's own repositories; one without a repository is. */
export function createIsOwn(globs: readonly string[]): (event: Pick<ForgeEvent, 'repository'>) => boolean {
  // `*` stops at a slash; alone it is meant as all. Names of the forge know no case, and may begin with a dot.
  const matches = picomatch(
    globs.map((glob) => (glob === '*' ? '*/*' : glob)),
    { nocase: true, dot: true },
  );
  return ({ repository }) => repository === null || matches(repository);
}
