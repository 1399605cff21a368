// Spooled deliveries as an operator sees them: files of this relay and rows of the database, in one list.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import { storable } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import { encodeCursor, milliseconds, queryCursor, queryInteger } from '../../platform/schema.ts';
import { RetryResult, SpooledDelivery, SpooledList } from '../administration-contract.ts';
import { Deleted, messageHeaders, Problems } from '../contract.ts';
import { answerInTime } from '../database.ts';
import { type FailedPayloads, type ListedPayload, refusalOf } from './failed-payloads.ts';
import { idInName, isUnreadable, maxTries, refusedSince } from './file-format.ts';
import type { Spool } from './spool.ts';

type State = SpooledDelivery['state'];
type Place = { readonly spooledAt: Date; readonly id: string };

type SpooledParts = {
  readonly spool: Pick<Spool, 'pending' | 'refused' | 'headerOf' | 'corruptionOf' | 'retry' | 'drop'>;
  readonly failedPayloads: Pick<FailedPayloads, 'list' | 'find' | 'retry' | 'drop' | 'count'>;
  /** Tries waiting deliveries at once. */
  readonly nudge: () => void;
  readonly log: Log;
};

const ofRow = ({ isGivenUp, event, deliveryId, ...row }: ListedPayload): SpooledDelivery => ({
  ...row,
  reason: isGivenUp ? refusalOf(row.tries, row.reason) : row.reason,
  place: 'database',
  state: isGivenUp ? 'givenUp' : 'waiting',
  event: event ?? '',
  deliveryId: deliveryId ?? '',
});

const isAfter = (one: Place, after: Place | undefined) =>
  after === undefined || one.spooledAt > after.spooledAt || (one.spooledAt.getTime() === after.spooledAt.getTime() && one.id > after.id);
const byAge = (a: Place, b: Place) => a.spooledAt.getTime() - b.spooledAt.getTime() || (a.id < b.id ? -1 : 1);

export type Spooled = ReturnType<typeof createSpooled>;

export function createSpooled({ spool, failedPayloads, nudge, log }: SpooledParts) {
  async function files() {
    const states: readonly State[] = ['waiting', 'givenUp'];
    const [waiting, givenUp] = await Promise.all([spool.pending(), spool.refused()]);
    return [waiting, givenUp].flatMap((some, index) =>
      some.map((file) => ({ file, id: idInName(file), spooledAt: file.spooledAt, state: states[index] ?? 'waiting' })),
    );
  }

  async function ofFile({ file, id, spooledAt, state }: Awaited<ReturnType<typeof files>>[number]): Promise<SpooledDelivery> {
    const header = await spool.headerOf(file, state).catch(() => undefined);
    const { type = '', headers = {} } = header?.message ?? {};
    const isDamaged = header === undefined || (state === 'givenUp' && isUnreadable(file));
    const corruption = isDamaged ? await spool.corruptionOf(file).catch(() => undefined) : undefined;
    const isRefused = state === 'givenUp' && !isDamaged;
    const reason = corruption ?? (isRefused ? refusedSince(header.reason) : (header?.reason ?? ''));
    const named = { event: type, deliveryId: headers[messageHeaders.deliveryId] ?? '' };
    return { id: header?.message.id ?? id, place: 'disk', state, spooledAt, reason, tries: isRefused ? maxTries : file.tries, ...named };
  }

  const found = async (id: string) => (await files()).find((one) => one.id === id);

  return {
    /** Oldest first. */
    async list(limit: number, after?: Place): Promise<SpooledDelivery[]> {
      const [onDisk, rows] = await Promise.all([files(), failedPayloads.list(limit, after)]);
      const next = onDisk
        .filter((one) => isAfter(one, after))
        .toSorted(byAge)
        .slice(0, limit);
      const listed: SpooledDelivery[] = [];
      for (const one of next) listed.push(await ofFile(one)); // one by one: of a damaged file all is read
      return [...listed, ...rows.map(ofRow)].toSorted(byAge).slice(0, limit);
    },
    /** @throws Problem 404 */
    async find(id: string): Promise<SpooledDelivery> {
      const file = await found(id);
      if (file) return ofFile(file);
      const row = await failedPayloads.find(id);
      if (!row) throw Problems.spooledMissing();
      return ofRow(row);
    },
    /** Tries it at once, one that was given up too. @throws Problem 404 */
    async retry(id: string): Promise<void> {
      const file = await found(id);
      const isFile = file !== undefined && (file.state === 'waiting' || (await spool.retry(file.file)));
      if (!isFile && !(await failedPayloads.find(id))) throw Problems.spooledMissing();
      if (!isFile) await failedPayloads.retry(id);
      log.info({ id }, 'spooled delivery is tried again on request');
      nudge();
    },
    /** @throws Problem 404 */
    async drop(id: string): Promise<void> {
      const file = await found(id);
      const isDropped = file ? await spool.drop(file.file) : (await failedPayloads.drop(id)) > 0;
      if (!isDropped) throw Problems.spooledMissing();
      log.warn({ id }, 'spooled delivery deleted on request');
    },
    async count(): Promise<{ readonly waiting: number; readonly givenUp: number }> {
      const [onDisk, rows] = await Promise.all([files(), failedPayloads.count()]);
      const of = (state: State) => onDisk.filter((one) => one.state === state).length;
      return { waiting: of('waiting') + rows.waiting, givenUp: of('givenUp') + rows.givenUp };
    },
  };
}

/** A text that cannot be stored names nothing. */
const name = z.string().transform(storable);
const params = z.object({ id: name.meta({ description: 'The id of the spooled delivery', override: { type: 'string' } }) });

export const spooledRoutes = (spooled: Spooled) => [...readRoutes(spooled), ...changeRoutes(spooled)];

const readRoutes = (spooled: Spooled) => [
  route({
    method: 'get',
    path: '/Broker/spooled',
    operationId: 'listSpooledDeliveries',
    summary: 'Lists deliveries that wait to be published',
    description: 'The oldest come first: files of the relay that answers, and rows of the database that any relay replays. Published ones are not among them.',
    isQueryClosed: true,
    query: z.object({
      limit: queryInteger({ min: 1, max: 200, default: 50 }).meta({ description: 'The most items of a page' }),
      after: queryCursor('spooled', z.tuple([milliseconds, name])),
    }),
    answers: { 200: SpooledList },
    async handle({ query: { limit, after } }) {
      const rows = await answerInTime(spooled.list(limit + 1, after && { spooledAt: new Date(after[0]), id: after[1] }));
      const items = rows.slice(0, limit);
      const last = rows.length > limit ? items.at(-1) : undefined;
      return { items, next: last ? encodeCursor('spooled', [last.spooledAt.getTime(), last.id]) : null };
    },
  }),
  route({
    method: 'get',
    path: '/Broker/spooled/{id}',
    operationId: 'getSpooledDelivery',
    summary: 'Shows a delivery that waits to be published',
    description: 'A file is found by the relay that has it only, a row of the database by every relay.',
    params,
    isQueryClosed: true,
    answers: { 200: SpooledDelivery },
    problems: [Problems.spooledMissing],
    handle: ({ params: { id } }) => answerInTime(spooled.find(id)),
  }),
];

const changeRoutes = (spooled: Spooled) => [
  route({
    method: 'post',
    path: '/Broker/spooled/{id}/retry',
    operationId: 'retrySpooledDelivery',
    summary: 'Tries a spooled delivery again',
    description: 'It is tried at once, also one that was given up. Whether a broker takes it shows in the list: a published one leaves it.',
    params,
    answers: { 200: RetryResult },
    problems: [Problems.spooledMissing],
    async handle({ params: { id } }) {
      await spooled.retry(id);
      return { retried: true };
    },
  }),
  route({
    method: 'delete',
    path: '/Broker/spooled/{id}',
    operationId: 'dropSpooledDelivery',
    summary: 'Deletes a spooled delivery for good',
    description: 'It is never published. The forge can deliver it again.',
    params,
    answers: { 200: Deleted },
    problems: [Problems.spooledMissing],
    async handle({ params: { id } }) {
      await spooled.drop(id);
      return { deleted: 1 };
    },
  }),
];
