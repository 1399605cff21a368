// One call of the secrets service over HTTP: how long it waits, when it asks again, what it takes for an answer.
import { z } from 'zod';
import { explain, isUnreached, NoAnswer, Refusal } from './failures.ts';

export type ClientOptions = {
  /** Where the service is, with a path prefix if an ingress gives it one. */
  readonly baseUrl: string;
  /** The administrator's token, or an application's key. */
  readonly credential: string;
  /** Of each attempt, until the last byte of the answer. */
  readonly timeoutMs?: number;
  /** Waits between the attempts of a read that reached no service; none means one attempt. */
  readonly retryAfterMs?: readonly number[];
  /** Ends what is under way. */
  readonly signal?: AbortSignal;
};

const Problem = z.looseObject({ type: z.string(), title: z.string(), status: z.number() });
/** What an empty answer is read as. */
export const Nothing = z.unknown().transform(() => undefined);

/** @throws TypeError for a name that no URL can hold */
export function path(prefix: string, ...segments: readonly string[]): string {
  // URLs take these two for steps, escaped or not, and would lead elsewhere.
  const step = segments.find((segment) => segment === '.' || segment === '..');
  if (step !== undefined) throw new TypeError(`a name or key must not be '${step}': no URL can hold it`);
  return [prefix, ...segments.map(encodeURIComponent)].join('/');
}

type Call = { readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'; readonly where: string; readonly body?: unknown };
type Headers = Readonly<Record<string, string>>;
type Sending = Required<Pick<ClientOptions, 'baseUrl' | 'timeoutMs' | 'retryAfterMs'>> & {
  readonly signal: AbortSignal | undefined;
  readonly headers: Headers;
};

/** @throws TypeError for an address or a credential that fetch would refuse */
export function createCalls(options: ClientOptions, headers: Headers) {
  requireUsable(options);
  const { baseUrl, timeoutMs = 10_000, retryAfterMs = [200, 800], signal } = options;
  const sending: Sending = { baseUrl: baseUrl.replace(/\/+$/, ''), timeoutMs, retryAfterMs, signal, headers };
  const ask = <S extends z.ZodType>(call: Call, schema: S) => persist(() => attempt(call, schema, sending), call, sending);
  return {
    get: <S extends z.ZodType>(where: string, schema: S) => ask({ method: 'GET', where }, schema),
    post: <S extends z.ZodType>(where: string, schema: S, body?: unknown) => ask({ method: 'POST', where, body }, schema),
    put: <S extends z.ZodType>(where: string, schema: S, body: unknown) => ask({ method: 'PUT', where, body }, schema),
    remove: (where: string) => ask({ method: 'DELETE', where }, Nothing),
  };
}

// What fetch says of an unusable header or address holds the whole of it.
function requireUsable({ baseUrl, credential }: ClientOptions): void {
  const { protocol, username, password } = URL.parse(baseUrl) ?? { protocol: '', username: '', password: '' };
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') {
    throw new TypeError('the address of the secrets service must begin with http:// or https:// and hold no user');
  }
  if (!/^[!-~]([ -~]*[!-~])?$/.test(credential)) throw new TypeError('the credential for the secrets service must be ASCII characters of one line');
}

async function attempt<S extends z.ZodType>({ method, where, body }: Call, schema: S, sending: Sending): Promise<z.output<S>> {
  const { baseUrl, timeoutMs, headers } = sending;
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(sending.signal ? [sending.signal] : [])]);
  const sent = body === undefined ? { headers } : { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  // A redirect is not followed: it would take the key to another host.
  const answer = await fetch(baseUrl + where, { method, redirect: 'manual', signal, ...sent });
  const text = await answer.text();
  if (!answer.ok) throw new Refusal(answer.status, Problem.safeParse(parseJson(text)).data);
  const parsed = schema.safeParse(parseJson(text));
  if (!parsed.success) throw new NoAnswer(`what ${baseUrl} answers is not what the secrets service says`);
  return parsed.data;
}

// Only reads are repeated, and only where they reached no service: a write may have been done although its answer was lost.
async function persist<T>(work: () => Promise<T>, { method }: Call, sending: Sending): Promise<T> {
  const { retryAfterMs, signal } = sending;
  for (let tried = 0; ; tried++) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      const waitMs = method === 'GET' && isUnreached(error) ? retryAfterMs[tried] : undefined;
      if (waitMs === undefined) throw explain(error, sending);
      await pause(waitMs, signal);
      signal?.throwIfAborted();
    }
  }
}

/** Shorter when it is told to end. */
const pause = (ms: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
