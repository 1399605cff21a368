// The ingest of listings: an upsert by sourceId, and the route for JSON and NDJSON.
import { isDeepStrictEqual } from 'node:util';
import { v7 as newId } from 'uuid';
import { z } from 'zod';
import type { Outbox } from '../platform/events/events.ts';
import { type Faults, parseInto } from '../platform/faults.ts';
import { route, streamedBody } from '../platform/http/route.ts';
import { parseJson } from '../platform/json.ts';
import { Common } from '../platform/problem.ts';
import { exampleListing, Problems } from './contract.ts';
import { type Change, eventsOf } from './events.ts';
import { linesOf } from './lines.ts';
import { IngestResult, maxIngestItems, NewProperty, type Rejected, type Upserted } from './new-property.ts';
import { createPresetStore } from './presets/store.ts';
import type { ListingStore, PriceSeen, StoredProperty } from './store.ts';
import { isUnseen } from './withdrawal.ts';

type Moment = { readonly now: Date; readonly withdrawnAfterDays: number };
type Merged = { readonly property: StoredProperty; readonly outcome: Upserted['outcome'] };

/** The listing after an item: its facts and receivedAt are taken from the item, absent facts stay as known. */
function merge(known: StoredProperty | undefined, item: NewProperty, { now, withdrawnAfterDays }: Moment): Merged {
  const facts = {
    sourceId: item.sourceId,
    sourceUrl: item.sourceUrl,
    address: item.address,
    priceMonthly: item.priceMonthly,
    eircode: item.eircode ?? known?.eircode ?? null,
    routingKey: item.routingKey ?? known?.routingKey ?? null,
    currency: item.currency ?? known?.currency ?? 'EUR',
    beds: item.beds ?? known?.beds ?? 0,
    baths: item.baths ?? known?.baths ?? 0,
    propertyType: item.propertyType ?? known?.propertyType ?? 'Other',
    berRating: item.berRating ?? known?.berRating ?? null,
    mainImageUrl: item.mainImageUrl ?? known?.mainImageUrl ?? null,
  };
  const given = { latitude: item.latitude ?? null, longitude: item.longitude ?? null };
  const receivedAt = item.receivedAt ?? now;
  const isWithdrawn = item.withdrawn === true || isUnseen(receivedAt, now, withdrawnAfterDays);
  const withdrawnAt = isWithdrawn ? (known?.withdrawnAt ?? now) : null;
  if (!known) {
    const decided = { status: 'inbox', approvedAt: null, recycledAt: null, notes: item.notes ?? null } as const;
    return { property: { id: newId(), ...facts, ...given, ...decided, receivedAt, withdrawnAt }, outcome: 'created' };
  }
  const isPlaced = known.latitude !== null && facts.address === known.address && facts.eircode === known.eircode;
  const repeated = { ...known, ...facts, ...(!isPlaced && given), withdrawnAt };
  // Whether it is on offer follows from the times that it came, unless its sender says so, or said so before.
  const isByTime = item.withdrawn !== true && [known.receivedAt, receivedAt].some((at) => isUnseen(at, now, withdrawnAfterDays));
  const isSame = isDeepStrictEqual(isByTime ? { ...repeated, withdrawnAt: known.withdrawnAt } : repeated, known);
  return { property: { ...repeated, receivedAt }, outcome: isSame ? 'unchanged' : 'updated' };
}

export type Ingest = ReturnType<typeof createIngest>;

type IngestParts = {
  readonly store: Pick<ListingStore, 'ingest'>;
  readonly outbox: Outbox;
  readonly withdrawnAfterDays: number;
  /** Called after a commit, which may have added events. */
  readonly onStored?: () => void;
};

export const createIngest = ({ store, outbox, withdrawnAfterDays, onStored = () => undefined }: IngestParts) => ({
  /**
   * Inserts or updates by sourceId, all or none; a repeated sourceId is updated by the later item.
   * @param now when they came, unless they say it themselves
   * @param at the time of the events, which are kept only for so long
   * @returns the outcome of each item, in order
   */
  async upsert(items: readonly NewProperty[], now: Date, at = now): Promise<Upserted[]> {
    const upserted = await store.ingest(async ({ lockBySource, write, addPrices }, inTransaction) => {
      const known = await lockBySource(items.map(({ sourceId }) => sourceId));
      const bySource = new Map(known.map((property) => [property.sourceId, property]));
      const prices: PriceSeen[] = [];
      const changes: Change[] = [];
      const outcomes = items.map((item) => {
        const before = bySource.get(item.sourceId);
        const { property, outcome } = merge(before, item, { now, withdrawnAfterDays });
        bySource.set(item.sourceId, property);
        changes.push({ before, after: property, at });
        const { id, priceMonthly, currency, receivedAt } = property;
        if (priceMonthly !== before?.priceMonthly || currency !== before.currency)
          prices.push({ propertyId: id, priceMonthly, currency, changedAt: receivedAt });
        return { id, outcome };
      });
      await write([...bySource.values()]);
      await addPrices(prices);
      await outbox.add(inTransaction, await eventsOf(changes, createPresetStore(inTransaction).list));
      return outcomes;
    });
    onStored();
    return upserted;
  },
});

const json = 'application/json';
const ndjson = 'application/x-ndjson';
const Listings = z.array(NewProperty).min(1).max(maxIngestItems);

const maxArrayBytes = 1_048_576;
const maxLineBytes = 65_536;
/** Rejections are kept in memory until the answer. */
const maxRejected = 50_000;

export const ingestRoutes = (ingest: Ingest, clock: () => Date) => [
  route({
    method: 'post',
    path: '/api/ingest/properties',
    operationId: 'ingestProperties',
    summary: `Takes listings in: an array of 1 to ${maxIngestItems}, or any number of lines of ${maxLineBytes / 1024} KiB at most`,
    description:
      'A listing whose `sourceId` is known is updated: its facts and `receivedAt` are replaced, its status, notes and times stay. Coordinates are cleared when the address or eircode changes. Invalid listings are rejected one by one; the others are stored.',
    body: streamedBody({ mediaTypes: [json, ndjson], maxBytes: Infinity }),
    describedBody: { [json]: Listings, [ndjson]: z.string().meta({ description: 'A listing a line', examples: [`${JSON.stringify(exampleListing)}\n`] }) },
    answers: { 200: IngestResult },
    problems: [Problems.tooManyRejected],
    handle: ({ body: { mediaType, bytes } }) => takeIn(ingest, mediaType === json ? itemsOfArray(bytes) : itemsOfLines(bytes), clock),
  }),
];

/** An item as it came, or why it cannot be read; `index` counts from 0. */
type Given = { readonly index: number; readonly value: unknown } | Rejected;

async function* itemsOfArray(bytes: AsyncIterable<Buffer>): AsyncGenerator<Given> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of bytes) {
    length += part.length;
    if (length > maxArrayBytes) throw Common.tooLarge({ detail: `An array is at most ${maxArrayBytes} bytes; send ${ndjson} for more.` });
    parts.push(part);
  }
  const items = parseInto(Items, parseJson(Buffer.concat(parts)), { root: 'body', faults: new Map() });
  if (!items)
    throw Common.invalid({ detail: 'The request is not valid; see errors.', errors: { body: [`must be an array of 1 to ${maxIngestItems} listings`] } });
  yield* items.map((value, index) => ({ index, value }));
}
const Items = z.array(z.unknown()).min(1).max(maxIngestItems);

async function* itemsOfLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<Given> {
  let index = -1;
  for await (const line of linesOf(bytes, maxLineBytes)) {
    index += 1;
    if (!line) yield { index, errors: { line: [`must be at most ${maxLineBytes} bytes long`] } };
    else if (!isBlank(line)) yield readLine(line, index);
  }
}

const isBlank = (line: Buffer) => line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);

function readLine(line: Buffer, index: number): Given {
  try {
    return { index, value: parseJson(line) };
  } catch {
    return { index, errors: { line: ['must be JSON in UTF-8'] } };
  }
}

/** Stores in batches as items arrive: stored batches stay when a later item cannot be read. */
async function takeIn(ingest: Ingest, given: AsyncIterable<Given>, clock: () => Date): Promise<IngestResult> {
  const result: IngestResult = { created: 0, updated: 0, unchanged: 0, rejected: [] };
  let batch: NewProperty[] = [];
  const store = async () => {
    const items = batch;
    batch = [];
    for (const { outcome } of await ingest.upsert(items, clock())) result[outcome] += 1;
  };
  for await (const one of given) {
    const faults: Faults = new Map();
    const item = 'value' in one ? parseInto(NewProperty, one.value, { root: 'item', faults }) : undefined;
    if (item) batch.push(item);
    else if (result.rejected.push('errors' in one ? one : { index: one.index, errors: Object.fromEntries(faults) }) > maxRejected)
      throw tooManyRejected(result);
    if (batch.length === maxIngestItems) await store();
  }
  if (batch.length > 0) await store();
  return result;
}

const tooManyRejected = ({ created, updated, unchanged }: IngestResult) =>
  Problems.tooManyRejected({
    detail: `More than ${maxRejected} lines were rejected; ${created} listings were created before, ${updated} updated, ${unchanged} unchanged.`,
  });
