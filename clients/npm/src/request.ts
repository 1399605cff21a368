// A GET request for JSON with a timeout, and retries with back-off. No error holds a credential, a header or a value.
import { setTimeout as pause } from 'node:timers/promises';

type Failure = { readonly status?: number; readonly retryAfterMs?: number | undefined; readonly isOfService?: boolean };

/** The service refused the request, or gave no answer. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  /** Undefined where no whole answer came: no connection, a timeout, a connection that broke off. */
  readonly status: number | undefined;
  /** From the answer's Retry-After. */
  readonly retryAfterMs: number | undefined;
  /** Whether the answer is in the service's own form: a proxy before it says 403 or 404 of its own, while the service is away. */
  readonly isOfService: boolean;

  constructor(message: string, { status, retryAfterMs, isOfService = false }: Failure = {}) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.isOfService = isOfService;
  }

  /** Whether the same request may succeed later: the service is unavailable, or limits requests. */
  get isTransient(): boolean {
    return this.status === undefined || [429, 502, 503, 504].includes(this.status);
  }
}

/** @param variable the environment variable that gives it @returns the address without a slash at its end @throws when it is no http(s) address, or holds a user; the message does not show it */
export function readAddress(name: string, address: string | undefined, variable?: string): string {
  if (!address && variable !== undefined) throw new TypeError(`${name} is missing: give it, or set ${variable}`);
  const isAddress = address !== undefined && URL.canParse(address);
  const { protocol, username, password, href } = new URL(isAddress ? address : 'none:');
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') throw new TypeError(`${name} must be an http or https address without a user`);
  return href.replace(/\/+$/, '');
}

export type Request = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Until the last byte of the answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

/** @throws RequestFailed, or the signal's reason */
export async function getJson<T>(request: Request): Promise<T> {
  // A redirect could lead the credential elsewhere, and a query can hold what logs should not.
  const said = `GET ${request.url.origin}${request.url.pathname}`;
  const { response, text } = await fetchText(request).catch((error: unknown) => {
    request.signal?.throwIfAborted();
    throw new RequestFailed(`${said}: ${reasonOf(error)}`);
  });
  const { status } = response;
  if (!response.ok) {
    const retryAfterMs = readRetryAfter(response.headers.get('Retry-After'));
    const isOfService = isProblem(response);
    throw new RequestFailed([said, String(status), detailOf(response, text)].filter(Boolean).join(': '), { status, retryAfterMs, isOfService });
  }
  try {
    return JSON.parse(text) as T;
  } catch {
    // The parser's own message has a piece of the answer in it.
    throw new RequestFailed(`${said}: the answer is not JSON`, { status });
  }
}

/** The signal may live for as long as the process: its listener is removed, as `AbortSignal.any` does not do on every Node. */
async function fetchText({ url, headers, timeoutMs, signal }: Request): Promise<{ readonly response: Response; readonly text: string }> {
  signal?.throwIfAborted();
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(new Error(`timed out after ${timeoutMs} ms`)), timeoutMs);
  const abort = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal: ending.signal });
    return { response, text: await response.text() };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** `fetch failed` has its reason in the cause. */
function reasonOf(error: unknown): string {
  const innermost = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(innermost instanceof Error)) return 'no answer';
  return innermost.message || ('code' in innermost ? String(innermost.code) : innermost.name);
}

const isProblem = ({ headers }: Response) => headers.get('Content-Type')?.startsWith('application/problem+json') ?? false;

/** The reason in the service's own words, where it gives one. */
function detailOf(response: Response, text: string): string | undefined {
  if (!isProblem(response)) return undefined;
  try {
    const { title, detail } = JSON.parse(text) as { readonly title?: unknown; readonly detail?: unknown };
    return [title, detail].filter((part) => typeof part === 'string').join(': ');
  } catch {
    return undefined;
  }
}

/** Seconds, or a date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? 1000 * Number(header) : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** The pause before another try: what the service asks for, else doubled with each attempt. It differs by a third, so that many clients do not return as one. */
export function pauseMs(attempt: number, { retryAfterMs }: RequestFailed): number {
  const wanted = retryAfterMs ?? firstPauseMs * 2 ** Math.min(attempt - 1, 10);
  return Math.min(wanted, longestPauseMs) * (1 + Math.random() / 3);
}

export type Retrying = {
  readonly attempts: number;
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: ((failure: RequestFailed) => void) | undefined;
};

/** @throws the last failure, or at once one that is not transient */
export async function withRetries<T>(work: () => Promise<T>, { attempts, signal, onRetry }: Retrying): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RequestFailed) || !error.isTransient || attempt >= attempts) throw error;
      onRetry?.(error);
      await pause(pauseMs(attempt, error), undefined, signal && { signal });
    }
  }
}
