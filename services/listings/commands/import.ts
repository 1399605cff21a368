// `signalbox listings import`: sends a file of listings to the service in batches.
import { readSettings } from '../../platform/config/config.ts';
import { secretList, url } from '../../platform/config/settings.ts';
import { describeError } from '../../platform/errors.ts';
import { type AnswerOf, requireAnswer } from '../../platform/http/wire.ts';
import { saidIn } from '../../platform/problem.ts';
import { createProgress, openInput, type Progress } from '../../platform/process/input.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { backOffMs, sleepUntil } from '../../platform/time.ts';
import { linesOf } from '../lines.ts';
import { IngestResult, maxIngestItems } from '../new-property.ts';
import { elementsOf } from './elements.ts';

type Result = AnswerOf<typeof IngestResult>;
type Rejected = Result['rejected'][number];
type Total = { created: number; updated: number; unchanged: number; readonly rejected: Rejected[] };

const settings = {
  address: url('SIGNALBOX_LISTINGS_URL', ['http', 'https'], { summary: 'Where the listing triage service is' }),
  accessTokens: secretList('Listings__AccessTokens', { summary: 'Bearer token of the service; of a list the first is used' }),
};

export const importListings: Subcommand = {
  summary: 'send listings to the service, a JSON array or a JSON object a line, from a file or, as -, from standard input; may be given again',
  examples: ['import listings.ndjson', 'import - < listings.json'],
  operands: '<file>',
  options: [],
  settings,
  isForDataFolder: true,
  async run({ environment, rest: [file], print, writeError, stopping }) {
    if (file === undefined) throw new Error('there is no file to import');
    const { address, accessTokens } = readSettings(environment, settings);
    const source = await openInput(file);
    const door: Door = { address: address.replace(/\/+$/, ''), token: accessTokens[0]?.reveal() ?? '', stopping };
    const total: Total = { created: 0, updated: 0, unchanged: 0, rejected: [] };
    const progress = createProgress(process.stderr, source.size, { describe: createPace(total), waiting: 'the service stores the last of them' });
    try {
      await sendAll(source.bytes, { door, total, progress });
    } catch (error) {
      throw new Error(`stopped: ${describeError(error)}\n${summaryOf(total)} before; the same command may be given again`, { cause: error });
    } finally {
      progress.end();
    }
    for (const { index, errors } of total.rejected.slice(0, mostTold)) writeError(`rejected, index ${index}: ${describeErrors(errors)}`);
    if (total.rejected.length > mostTold) writeError(`rejected: ${total.rejected.length - mostTold} more`);
    print(`${summaryOf(total)}\n`);
    return total.rejected.length > 0 ? 1 : 0;
  },
};

const mostTold = 20;
const maxItemBytes = 65_536;
const maxBatchBytes = 4 * 1_048_576;

const summaryOf = ({ created, updated, unchanged, rejected }: Total) =>
  `${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected.length} rejected`;
/** The progress text: listings sent, and how many per second. */
function createPace(total: Total): () => string {
  const startedAtMs = performance.now();
  return () => {
    const sent = total.created + total.updated + total.unchanged + total.rejected.length;
    return `${sent} listings, ${Math.round(sent / Math.max((performance.now() - startedAtMs) / 1000, 0.001))} a second`;
  };
}

const describeErrors = (errors: Rejected['errors']) =>
  Object.entries(errors)
    .map(([name, messages]) => `${name} ${messages.join(', ')}`)
    .join('; ');

type Door = { readonly address: string; readonly token: string; readonly stopping: AbortSignal };
type Import = { readonly door: Door; readonly total: Total; readonly progress: Progress };

async function sendAll(bytes: AsyncIterable<Buffer>, { door, total, progress }: Import): Promise<void> {
  let batch: Buffer[] = [];
  let batchBytes = 0;
  let first = 0;
  const send = async () => {
    const { rejected, ...counts } = await post(Buffer.from(batch.map((item) => `${item.toString()}\n`).join('')), door);
    total.created += counts.created;
    total.updated += counts.updated;
    total.unchanged += counts.unchanged;
    for (const one of rejected) total.rejected.push({ ...one, index: first + one.index });
    first += batch.length;
    [batch, batchBytes] = [[], 0];
  };
  for await (const item of itemsOf(bytes, progress)) {
    if (item === undefined) total.rejected.push({ index: first + batch.length, errors: { item: [`must be at most ${maxItemBytes} bytes long`] } });
    batch.push(item ?? Buffer.alloc(0));
    batchBytes += item?.length ?? 0;
    if (batch.length === maxIngestItems || batchBytes >= maxBatchBytes) await send();
  }
  if (batch.length > 0) await send();
}

const byteOrderMark = Buffer.from('\ufeff');

/** A text whose first character is `[` is an array; any other text has a listing a line. */
async function* itemsOf(source: AsyncIterable<Buffer>, progress: Progress): AsyncGenerator<Buffer | undefined> {
  const counted = progress.count(source);
  let head = Buffer.alloc(0);
  while (head.toString().trim() === '') {
    const { value, done } = await counted.next();
    if (done === true) return;
    head = Buffer.concat([head, value]);
  }
  if (head.indexOf(byteOrderMark) === 0) head = head.subarray(byteOrderMark.length);
  const all = (async function* () {
    yield head;
    yield* counted;
  })();
  yield* head.toString().trimStart().startsWith('[') ? elementsOf(all, maxItemBytes) : linesOf(all, maxItemBytes);
}

const attempts = 5;
const retryBackOff = { firstMs: 1000, longestMs: 30_000 };
const answerMs = 60_000;

/** Retries temporary failures, since an upsert can be repeated. @throws Error when the service refuses the batch, or cannot be reached */
async function post(body: Buffer, { address, token, stopping }: Door): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    if (stopping.aborted) throw new Error('interrupted');
    const reply = await ask(body, { address, token, stopping });
    if ('result' in reply) return reply.result;
    if (!reply.isTemporary || (attempt >= attempts && reply.retryAfterMs === undefined)) throw new Error(reply.fault);
    await sleepUntil(stopping, reply.retryAfterMs ?? backOffMs(attempt, retryBackOff));
  }
}

type Reply = { readonly result: Result } | { readonly fault: string; readonly isTemporary: boolean; readonly retryAfterMs?: number };

async function ask(body: Buffer, { address, token, stopping }: Door): Promise<Reply> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' };
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(answerMs)]);
  let response: Response;
  let text: string;
  try {
    // A redirect is not followed: it would take the token to another host.
    response = await fetch(`${address}/api/ingest/properties`, { method: 'POST', headers, body, redirect: 'manual', signal });
    text = await response.text();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return { fault: `the listing triage service at ${address} cannot be reached: ${describeError(cause)}`, isTemporary: true };
  }
  const { status } = response;
  if (status === 200) return { result: requireAnswer(IngestResult, text, { address, service: 'the listing triage service', setting: settings.address.name }) };
  if (status === 401) return { fault: `the service at ${address} refuses Listings__AccessTokens`, isTemporary: false };
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN);
  return {
    fault: `the service answered ${status} (${saidIn(text)})`,
    isTemporary: status === 429 || status >= 500,
    ...(status === 429 && retryAfter >= 0 && { retryAfterMs: retryAfter * 1000 }),
  };
}
