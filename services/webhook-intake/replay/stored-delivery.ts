// A stored event as the workers have read it from its message: for whatever is done with its delivery once more.
import type { Delivery } from '../../platform/broker/broker.ts';
import { parseJson } from '../../platform/json.ts';
import { readDelivery, unpacked } from '../delivery.ts';
import { noticeOf } from '../forge/service-worker.ts';
import type { Notice } from '../notifications/notice.ts';
import type { Matchable } from '../notifications/rules.ts';
import type { ConfiguredSource } from '../sources/source.ts';
import type { ForgeEvent } from '../typed/typed-table.ts';
import type { ReplayedEvent } from './store.ts';

/** An event as rules match it, and the forge's delivery where it is one. */
export type ReadEvent = { readonly notified: Matchable & { readonly id: string; readonly notice: Notice }; readonly forgeEvent: ForgeEvent | undefined };

export const forgeSource = 'forge';

/** @throws Unreadable, or Problem 400, for a payload that cannot be read */
export async function readStored(event: ReplayedEvent, sources: readonly ConfiguredSource[], maxValues: number): Promise<ReadEvent> {
  if (event.source === forgeSource) {
    const forgeEvent = await readDelivery(toDelivery(event), maxValues);
    return { notified: { ...forgeEvent, id: event.id, source: forgeSource, notice: noticeOf(forgeEvent, forgeEvent.payload) }, forgeEvent };
  }
  const payload = parseJson(await unpacked(packed(event)));
  const source = sources.find((one) => one.source.name === event.source)?.source;
  const notice = source?.notice(payload, (name) => event.headers[name]) ?? { title: event.title ?? '', text: '', url: null };
  return { notified: { ...event, payload, notice }, forgeEvent: undefined };
}

const packed = ({ body, isGzip }: ReplayedEvent) => ({ body, ...(isGzip && { contentEncoding: 'gzip' as const }) });

const toDelivery = (event: ReplayedEvent): Delivery => ({
  id: event.relayId ?? event.id,
  type: event.event,
  contentType: 'application/json',
  priority: event.score,
  timestamp: event.receivedAt,
  headers: event.headers,
  attempt: 1,
  redelivered: false,
  ...packed(event),
});
