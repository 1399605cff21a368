// Receiving a delivery of a direct source: payload, event, key, and the one statement that stores it.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parse as parseForm } from 'node:querystring';
import { v7 as uuidv7 } from 'uuid';
import { isObject, parseJson, refuseCostly, storable, tooManyValues } from '../../platform/json.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { Common } from '../../platform/problem.ts';
import { eventIdOf, type LoggedEvent, type measureEvents, storeEvents } from '../event-log.ts';
import type { Rules } from '../notifications/rules.ts';
import { maxValues, type Source } from './source.ts';

export const formType = 'application/x-www-form-urlencoded';

const maxEventLength = 100;
const maxKeyLength = 255;

/** As the relay scores what it does not know, and as it scores a release. */
const score = { usual: 4, failure: 8 };

type Request = { readonly body: Buffer; readonly headers: IncomingHttpHeaders; readonly logged: Record<string, string> };

export type Receive = (source: Source, request: Request) => Promise<{ readonly id: string; readonly duplicate: boolean }>;

type ReceivingParts = {
  readonly database: Database;
  readonly rules: Pick<Rules, 'match'>;
  readonly clock: () => Date;
  /** Called when a new event is in the log. */
  readonly onStored: () => void;
  readonly count: ReturnType<typeof measureEvents>;
};

/** For deliveries whose credential is valid. `id` is the event's; of a duplicate that of the event it repeats. @throws Problem 400 or 413 */
export const createReceive =
  ({ database, rules, clock, onStored, count }: ReceivingParts): Receive =>
  async (source, request) => {
    const event = readEvent(source, request, clock());
    const [isNew = false] = await storeEvents(database, [event], rules);
    count([event], [isNew]);
    Object.assign(request.logged, { deliveryId: event.deliveryId, event: event.event, outcome: isNew ? 'stored' : 'duplicate' });
    if (!isNew) return { id: (await eventIdOf(database, event)) ?? event.id, duplicate: true };
    onStored();
    return { id: event.id, duplicate: false };
  };

function readEvent(source: Source, { body, headers }: Request, receivedAt: Date): LoggedEvent {
  const isForm = headers['content-type']?.trim().toLowerCase().startsWith(formType) === true;
  const payload = isForm ? parseMembers(body) : parseJsonOf(source, body);
  const kept = keptHeaders(source, headers);
  const header = (name: string) => kept[name];
  const { event, action, repository, key, isFailure, isKeyUnsigned = false } = source.read({ payload, header });
  return {
    id: uuidv7({ msecs: receivedAt.getTime() }),
    source: source.name,
    forge: null,
    forgeKind: null,
    event: (event ?? 'unknown').slice(0, maxEventLength).toWellFormed(),
    originalEvent: null,
    action: action?.slice(0, maxEventLength).toWellFormed() ?? null,
    originalAction: null,
    relayId: null,
    digest: isKeyUnsigned ? digest(Buffer.concat([Buffer.from(`${source.name}\n`), body])) : null,
    payload,
    repository: repository ?? null,
    number: null,
    sender: null,
    senderClass: null,
    deliveryId: deliveryId(key, body),
    hookId: '0',
    targetId: '0',
    score: isFailure ? score.failure : score.usual,
    isCoreFunction: false,
    bytes: body.length,
    receivedAt,
    headers: kept,
    // The dashboard shows a payload as JSON.
    body: isForm ? Buffer.from(JSON.stringify(payload)) : body,
    isGzip: false,
    notice: source.notice(payload, header),
  };
}

/** @throws Problem 400, 413 for more values than a source has */
function parseJsonOf({ takesLists }: Source, body: Buffer): unknown {
  refuseCostly(body, maxValues);
  const payload = parseJson(body);
  if (isObject(payload) || (takesLists === true && Array.isArray(payload))) return payload;
  throw Common.malformed({ detail: `The body must be a JSON object${takesLists === true ? ' or list' : ''}.` });
}

/** All members of a form: left to itself the parser drops those after the 1000th. @throws Problem 400, 413 for more values than a source has */
function parseMembers(body: Buffer): unknown {
  const text = body.toString();
  // The parser would accept a form without members and bytes that are no text; JSON has neither.
  if (text === '' || !isUtf8(body) || !areEscapesWhole(text)) throw Common.malformed({ detail: 'The body is not a valid form.' });
  if (text.split('&', maxValues + 1).length > maxValues) throw tooManyValues(maxValues);
  return parseForm(text, '&', '=', { maxKeys: 0 });
}

/** Whether percent escapes are not cut off, and stand for UTF-8. */
function areEscapesWhole(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false; // URIError
  }
}

/** The headers that the source reads, as it spells them; a credential is never among them. */
function keptHeaders({ headers: named = {} }: Source, headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const all = ['Content-Type', 'User-Agent', ...Object.keys(named)];
  return Object.fromEntries(
    all.flatMap((name) => {
      const value = storable(String(headers[name.toLowerCase()] ?? '')).slice(0, maxKeyLength);
      return value === '' ? [] : [[name, value] as const];
    }),
  );
}

const digest = (content: string | Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** A repeated delivery has the same id. Without a key, or with one that is too long, it is a digest. */
function deliveryId(key: readonly (string | undefined)[], body: Buffer): string {
  if (key.some((part) => part === undefined)) return digest(body);
  const joined = key.join(' ');
  return joined.length <= maxKeyLength ? joined : digest(joined);
}
