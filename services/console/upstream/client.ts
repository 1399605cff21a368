// Asks the API of a service for a person: credential, timeout, the refusals that pages show.
import { codeOf, describeError } from '../../platform/errors.ts';
import type { Schema } from '../../platform/http/route.ts';
import { type AnswerOf, readAnswer } from '../../platform/http/wire.ts';
import { jsonIn, objectAt, textAt } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { Common, Problem } from '../../platform/problem.ts';
import { Problems, type ServiceName } from '../contract.ts';

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

/** A service answers its own requests sooner. */
const usualTimeoutMs = 12_000;
/** Services count refused credentials by address, and would refuse others behind the same one. After this a try shows whether it was mended. */
const refusedPauseMs = 300_000;

export type Upstream = ReturnType<typeof createUpstream>;
/** A service as the handlers of pages ask it: for the person of the request. */
export type Asked = ReturnType<Upstream['for']>;

export function createUpstream(parts: UpstreamParts) {
  const { service, url, authorize, log, metrics, timeoutMs = usualTimeoutMs, now = () => performance.now() } = parts;
  const base = url.replace(/\/+$/, '');
  let refusedAt = -Infinity;
  const isRefused = () => now() - refusedAt < refusedPauseMs;
  const measured = measure(metrics, service, isRefused);

  async function fetchFor(behalf: Behalf, call: Call): Promise<Response> {
    if (isRefused()) throw credentialRefused(service);
    const { method = 'GET', path, query = {}, body, headers = {}, timeoutMs: own = timeoutMs } = call;
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const end = measured.start();
    try {
      const response = await fetch(`${base}${path}${searchOf(query)}`, {
        method,
        headers: {
          Accept: 'application/json',
          ...(!isRaw && { 'Content-Type': 'application/json' }),
          ...headers,
          ...(await authorize(behalf)),
          'X-Request-Id': behalf.requestId,
          'X-Signalbox-Actor': encodeURIComponent(behalf.person.toWellFormed()),
        },
        ...(body !== undefined && { body: isRaw ? toBytes(body) : JSON.stringify(body) }),
        // A redirect would carry the credential to where it points.
        redirect: 'manual',
        signal: AbortSignal.any([behalf.signal, AbortSignal.timeout(own)]),
      });
      end(response.ok ? 'ok' : String(response.status));
      return response;
    } catch (error) {
      const fault = faultOf(service, error);
      end(fault.kind === Problems.serviceSlow ? 'slow' : 'away');
      if (!behalf.signal.aborted)
        log.warn({ service, path, reason: describeError(error), code: causeOf(error), requestId: behalf.requestId }, 'service does not answer');
      throw fault;
    }
  }

  async function ask(behalf: Behalf, call: Call): Promise<Response> {
    const response = await fetchFor(behalf, call);
    if (response.ok || response.status === 304) return response;
    const text = await response.text().catch(() => '');
    if (response.status === 401) {
      refusedAt = now();
      log.error(
        { service, toDo: 'give both the same value, and restart the console' },
        "service refuses the console's credential, not asking it for 5 minutes",
      );
      throw credentialRefused(service);
    }
    throw refusalOf(service, response, text);
  }

  return {
    service,
    for: (behalf: Behalf) => ({
      service,
      /** The body of an answer. @throws Problem of `Problems`, or 400 with the faults that the service found */
      async get<S extends Schema>(path: string, contract: S, query: Query = {}): Promise<AnswerOf<S>> {
        return readAs(contract, await ask(behalf, { path, query }));
      },
      /** As `get`, of a list that names its next page in the header `Link`: the cursor for `after`, null at the end. */
      async getLinked<S extends Schema>(path: string, contract: S, query: Query = {}): Promise<{ readonly items: AnswerOf<S>; readonly next: string | null }> {
        const response = await ask(behalf, { path, query });
        return { items: await readAs(contract, response), next: nextIn(response.headers) };
      },
      /** As `get`, for any method. */
      send: async <S extends Schema>(call: Call, contract: S): Promise<AnswerOf<S>> => readAs(contract, await ask(behalf, call)),
      /** As `send`, with the headers of the answer. */
      async sendFor<S extends Schema>(call: Call, contract: S): Promise<{ readonly answer: AnswerOf<S>; readonly headers: Headers }> {
        const response = await ask(behalf, call);
        return { answer: await readAs(contract, response), headers: response.headers };
      },
      /** The answer as it comes, for files and for headers such as `Link`; its body must be read or cancelled. */
      open: (call: Call) => ask(behalf, call),
    }),
  };

  async function readAs<S extends Schema>(contract: S, response: Response): Promise<AnswerOf<S>> {
    try {
      return readAnswer(contract, await response.text());
    } catch (error) {
      throw error instanceof SyntaxError
        ? Problems.serviceFailed({ service, detail: 'Its answer is no JSON: is this the address of the service?' })
        : faultOf(service, error);
    }
  }
}

function nextIn(headers: Headers): string | null {
  const [, query] = /<[^>?]*\?([^>]*)>;\s*rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return new URLSearchParams(query).get('after');
}

const toBytes = (body: unknown) => (body instanceof Uint8Array ? new Uint8Array(body) : String(body));

function searchOf(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}

const credentialRefused = (service: ServiceName) => Problems.credentialRefused({ service });

/** Node's fetch puts the error of the connection into its cause. */
const causeOf = (error: unknown) => (error instanceof Error ? codeOf(error.cause) : undefined);

function faultOf(service: ServiceName, error: unknown): Problem {
  if (error instanceof Problem) return error;
  const isSlow = error instanceof Error && error.name === 'TimeoutError';
  return isSlow ? Problems.serviceSlow({ service }) : Problems.serviceAway({ service });
}

/** A refusal of the service in words that a page shows. */
function refusalOf(service: ServiceName, { status, headers }: Response, text: string): Problem {
  // A problem document, or the envelope of the link digest; none where something in between answered.
  const body = jsonIn(text);
  const detail = textAt(body, 'detail') ?? textAt(body, 'error', 'message') ?? textAt(body, 'message') ?? textAt(body, 'title');
  const said = { service, ...(detail !== undefined && { detail }) };
  const retryAfter = headers.get('retry-after');
  if (status === 404 || status === 410) return Problems.missing(said);
  if (status === 400 || status === 422) return Common.invalid({ ...said, errors: objectAt(body, 'errors') ?? {} });
  if (status === 429 || status === 503) return Problems.busy({ ...said, ...(retryAfter !== null && { headers: { 'Retry-After': retryAfter } }) });
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
