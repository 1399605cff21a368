// Asks the API of a service for a person: credential, timeout, the refusals that pages show.
import { codeOf, describeError } from '../../platform/errors.ts';
import type { Schema } from '../../platform/http/route.ts';
import { type AnswerOf, readAnswer } from '../../platform/http/wire.ts';
import { jsonIn, objectAt, textAt } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { Common, Problem } from '../../platform/problem.ts';
import { Problems, type ServiceName } from '../contract.ts';
import { type Answered, send, TimedOut, TooLong } from './request.ts';

/** The person and the request that a service is asked for. */
export type Behalf = { readonly person: string; readonly requestId: string; readonly signal: AbortSignal };

type QueryValue = string | number | boolean | readonly string[] | undefined | null;
export type Query = Readonly<Record<string, QueryValue>>;

export type Call = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** By `pathOf` where it holds a name or an id. */
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON; text and bytes with the media type of `headers`. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** For calls that are known to take long. */
  readonly timeoutMs?: number;
  /** Gets how many bytes of a body of bytes the service has taken. */
  readonly onSent?: (bytes: number) => void;
};

/** A path with each value as one segment. @throws Problem 404 for a value that no segment can be */
export function pathOf(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return texts.reduce((path, text, index) => path + segment(String(values[index - 1])) + text);
}

// A URL parser takes these two for steps in a path, in any spelling.
function segment(value: string): string {
  if (/^\.{0,2}$/.test(value)) throw Problems.missing();
  return encodeURIComponent(value.toWellFormed());
}

export type UpstreamParts = {
  readonly service: ServiceName;
  readonly url: string;
  /** The headers with the console's credential. */
  readonly authorize: (behalf: Behalf) => Promise<Readonly<Record<string, string>>>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly timeoutMs?: number;
  readonly now?: () => number;
};

type Linked<S extends Schema> = {
  readonly items: AnswerOf<S>;
  readonly next: string | null;
  /** The entity tag. */
  readonly tag: string | undefined;
};

type Kept<S extends Schema> = { readonly path: string; readonly contract: S; readonly current: string | undefined };

/** Paths of a service whose last answer is kept. */
const mostKept = 10;
/** A service answers its own requests sooner. */
const usualTimeoutMs = 12_000;
/** Services count refused credentials by address, and would refuse others behind the same one. After this a try shows whether it was mended. */
const refusedPauseMs = 300_000;

export type Upstream = ReturnType<typeof createUpstream>;
/** A service as the handlers of pages ask it: for the person of the request. */
export type Asked = ReturnType<Upstream['for']>;

export function createUpstream(parts: UpstreamParts) {
  const { service } = parts;
  const url = parts.url.replace(/\/+$/, '');
  const ask = createAsk({ ...parts, url });
  const { readAs, readText, textOf, bytesOf } = createReaders(service);
  /** The last answer of each path with its entity tag. */
  const kept = new Map<string, { readonly tag: string; readonly text: string }>();

  async function getKept<S extends Schema>(behalf: Behalf, { path, contract, current }: Kept<S>): Promise<AnswerOf<S>> {
    const known = kept.get(path);
    if (known && known.tag === current) return readText(contract, known.text);
    const answered = await ask(behalf, { path, ...(known && { headers: { 'If-None-Match': known.tag } }) });
    const received = await textOf(answered);
    const text = answered.status === 304 && known ? known.text : received;
    const tag = answered.header('etag');
    if (tag !== undefined && (known || kept.size < mostKept)) kept.set(path, { tag, text });
    return readText(contract, text);
  }

  return {
    service,
    for: (behalf: Behalf) => ({
      service,
      /** The service's address as this console has it, for commands that people run. */
      url,
      /** The body of an answer. @throws Problem of `Problems`, or 400 with the faults that the service found */
      async get<S extends Schema>(path: string, contract: S, query: Query = {}): Promise<AnswerOf<S>> {
        return readAs(contract, await ask(behalf, { path, query }));
      },
      /**
       * As `get`, for answers that are the same for everyone: while the service says by an entity tag that nothing has changed, it sends none.
       * @param current the tag of another answer to this request, where all of the service's lists share one: an answer kept with the same tag is given unasked
       */
      getKept: <S extends Schema>(path: string, contract: S, current?: string): Promise<AnswerOf<S>> => getKept(behalf, { path, contract, current }),
      /** As `get`, of a list that names its next page in the header `Link`: the cursor for `after`, null at the end. */
      async getLinked<S extends Schema>(path: string, contract: S, query: Query = {}): Promise<Linked<S>> {
        const answered = await ask(behalf, { path, query });
        return { items: await readAs(contract, answered), next: nextIn(answered), tag: answered.header('etag') };
      },
      /** As `get`, for any method. */
      send: async <S extends Schema>(call: Call, contract: S): Promise<AnswerOf<S>> => readAs(contract, await ask(behalf, call)),
      /** As `send`, with the headers of the answer, by their names in lower case. */
      async sendFor<S extends Schema>(call: Call, contract: S): Promise<{ readonly answer: AnswerOf<S> } & Pick<Answered, 'header'>> {
        const answered = await ask(behalf, call);
        return { answer: await readAs(contract, answered), header: answered.header };
      },
      /** The answer as it comes, for files; its body must be read or destroyed. */
      async open(call: Call): Promise<Answered> {
        const answered = await ask(behalf, call);
        return { ...answered, bytes: () => bytesOf(answered) };
      },
    }),
  };
}

function createAsk(parts: UpstreamParts) {
  const { service, url, authorize, log, metrics, timeoutMs = usualTimeoutMs, now = () => performance.now() } = parts;
  let refusedAt = -Infinity;
  const isRefused = () => now() - refusedAt < refusedPauseMs;
  const measured = measure(metrics, service, isRefused);

  async function request(behalf: Behalf, call: Call): Promise<Answered> {
    if (isRefused()) throw credentialRefused(service);
    const { method = 'GET', path, query = {}, body, headers = {}, timeoutMs: own = timeoutMs, onSent } = call;
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const end = measured.start();
    try {
      const answered = await send(`${url}${path}${searchOf(query)}`, {
        method,
        headers: {
          Accept: 'application/json',
          ...(!isRaw && { 'Content-Type': 'application/json' }),
          ...headers,
          ...(await authorize(behalf)),
          'X-Request-Id': behalf.requestId,
          'X-Signalbox-Actor': encodeURIComponent(behalf.person.toWellFormed()),
        },
        body: isRaw ? body : JSON.stringify(body),
        onSent,
        timeoutMs: own,
        signal: behalf.signal,
      });
      end(answered.isOk ? 'ok' : String(answered.status));
      return answered;
    } catch (error) {
      const fault = faultOf(service, error);
      end(fault.kind === Problems.serviceSlow ? 'slow' : 'away');
      if (!behalf.signal.aborted)
        log.warn({ upstream: service, path, reason: describeError(error), code: codeOf(error), requestId: behalf.requestId }, 'service does not answer');
      throw fault;
    }
  }

  return async (behalf: Behalf, call: Call): Promise<Answered> => {
    const answered = await request(behalf, call);
    if (answered.isOk || answered.status === 304) return answered;
    const text = String(await answered.bytes().catch(() => ''));
    if (answered.status === 401) {
      refusedAt = now();
      log.error(
        { upstream: service, toDo: 'give both the same value, and restart the console' },
        "service refuses the console's credential, not asking it for 5 minutes",
      );
      throw credentialRefused(service);
    }
    throw refusalOf(service, answered, text);
  };
}

function createReaders(service: ServiceName) {
  async function bytesOf({ bytes }: Answered): Promise<Buffer> {
    try {
      return await bytes();
    } catch (error) {
      throw faultOf(service, error);
    }
  }

  const textOf = async (answered: Answered): Promise<string> => String(await bytesOf(answered));

  function readText<S extends Schema>(contract: S, text: string): AnswerOf<S> {
    try {
      return readAnswer(contract, text);
    } catch {
      throw Problems.serviceFailed({ service, detail: 'Its answer is no JSON: is this the address of the service?' });
    }
  }

  const readAs = async <S extends Schema>(contract: S, answered: Answered): Promise<AnswerOf<S>> => readText(contract, await textOf(answered));
  return { bytesOf, textOf, readText, readAs };
}

function nextIn({ header }: Answered): string | null {
  const [, query] = /<[^>?]*\?([^>]*)>;\s*rel="next"/.exec(header('link') ?? '') ?? [];
  return new URLSearchParams(query).get('after');
}

function searchOf(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}

const credentialRefused = (service: ServiceName) => Problems.credentialRefused({ service });

function faultOf(service: ServiceName, error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof TooLong) return Problems.serviceFailed({ service, detail: 'Its answer is too long.' });
  return error instanceof TimedOut ? Problems.serviceSlow({ service }) : Problems.serviceAway({ service });
}

/** A refusal of the service, in its words. */
function refusalOf(service: ServiceName, { status, header }: Answered, text: string): Problem {
  // A problem document, or the envelope of the link digest; none where something in between answered.
  const body = jsonIn(text);
  const detail = textAt(body, 'detail') ?? textAt(body, 'error', 'message') ?? textAt(body, 'message') ?? textAt(body, 'title');
  const said = { service, ...(detail !== undefined && { detail }) };
  const retryAfter = header('retry-after');
  if (status === 404 || status === 410) return Problems.missing(said);
  if (status === 400 || status === 422) return Common.invalid({ ...said, errors: objectAt(body, 'errors') ?? {} });
  if (status === 429 || status === 503) return Problems.busy({ ...said, ...(retryAfter !== undefined && { headers: { 'Retry-After': retryAfter } }) });
  if (status === 412) return Problems.changedMeanwhile(said);
  return status < 500 ? Problems.notAllowed(said) : Problems.serviceFailed({ service });
}

function measure(metrics: Metrics, service: ServiceName, isRefused: () => boolean) {
  const durations = metrics.histogram({
    name: 'signalbox_console_upstream_duration_seconds',
    help: 'Time until a service answered the console, by service and outcome: `ok`, a status, `slow`, `away`.',
    labels: ['service', 'outcome'],
  });
  metrics.gauge({
    name: 'signalbox_console_credential_refused',
    help: "1 while a service refuses the console's credential, so that the console does not ask it.",
    labels: ['service'],
    collect: (reading) => reading.set({ service }, isRefused() ? 1 : 0),
  });
  return {
    start() {
      const startedAt = performance.now();
      return (outcome: string) => durations.observe({ service, outcome }, (performance.now() - startedAt) / 1000);
    },
  };
}
