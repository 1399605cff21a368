// Client of the secrets service: timeouts, retries of reads, and a method for each route of both planes.
import { z } from 'zod';
import { codeOf } from '../platform/errors.ts';
import type { ProblemDocument } from '../platform/problem.ts';
import { sleepUntil } from '../platform/time.ts';
import * as consumerContract from './consumer/contract.ts';
import * as contract from './contract.ts';
import * as management from './management/contract.ts';

export type ClientOptions = {
  /** Where the service is, with a path prefix if an ingress gives it one. */
  readonly baseUrl: string;
  /** The administrator's token; an application's key, or the token of a ServiceAccount that is bound to it. */
  readonly credential: string;
  /** The time for each attempt, until the last byte of the answer. */
  readonly timeoutMs?: number;
  /** Waits between the attempts of a read that reached no service; none means one attempt. */
  readonly retryAfterMs?: readonly number[];
  /** Aborts calls under way. */
  readonly signal?: AbortSignal;
};

/** The service refused the request. */
export class Refusal extends Error {
  readonly status: number;
  /** Undefined when something in between answered, such as a proxy. */
  readonly problem: ProblemDocument | undefined;

  constructor(status: number, problem: ProblemDocument | undefined) {
    super(`the secrets service answered ${status} (${problem ? saidBy(problem) : 'no problem document'})`);
    this.status = status;
    this.problem = problem;
  }
}

const Faults = z.record(z.string(), z.array(z.string())).catch({});

/** The reason of a refusal for a person: members that are not valid, with their faults. */
function saidBy({ title, detail, errors }: ProblemDocument): string {
  const faults = Object.entries(Faults.parse(errors)).map(([member, texts]) => `${member} ${texts.join(', ')}`);
  return [title, faults.length > 0 ? faults.join('; ') : detail].filter((text) => typeof text === 'string').join(': ');
}

/** No response, or none that the contract knows; whether a write was done is unknown. */
export class NoAnswer extends Error {}

/** The request reached no service, or its answer broke off. */
class Unreached extends NoAnswer {}

/** `baseUrl` is not http(s), or holds a user; the message does not show it. */
export class InvalidAddress extends Error {}

/** The credential cannot be sent in a header; the message does not show it. */
export class InvalidCredential extends Error {}

/** No URL can hold this name or key. */
export class InvalidName extends Error {}

const { ConsumerSecret, ConsumerSecrets } = consumerContract;
const ValuesPage = ConsumerSecrets.extend({ items: z.array(ConsumerSecret) });
type ConsumerSecret = consumerContract.ConsumerSecret;

/** Reads with the key of an application. */
export function createConsumerClient(options: ClientOptions) {
  const { get } = createCalls(options, { 'x-api-key': options.credential });
  const within = (environment: string) => `?environment=${encodeURIComponent(environment)}`;
  return {
    secret: (name: string, environment: string) => get(path('/api/consumer/secrets', name) + within(environment), consumerContract.ConsumerSecret),
    /** Every secret that is served in the environment, with its value, by name. */
    secrets: (environment: string): Promise<ConsumerSecret[]> =>
      allPages((after) => get(`/api/consumer/secrets${within(environment)}&values=true&after=${after}`, ValuesPage)),
    configurations: async (environment: string) =>
      (await get(path('/api/consumer/configurations') + within(environment), consumerContract.ConsumerConfigurations)).items,
    configuration: (key: string, environment: string) =>
      get(path('/api/consumer/configurations', key) + within(environment), consumerContract.ConsumerConfiguration),
  };
}
export type ConsumerClient = ReturnType<typeof createConsumerClient>;

/** The service answers a poll after 25 s at the latest. */
const pollTimeoutMs = 35_000;

/** The management plane, with the administrator's token. */
export function createManagementClient(options: ClientOptions) {
  const headers = { authorization: `Bearer ${options.credential}` };
  const { get, post, put, remove } = createCalls(options, headers);
  const polls = createCalls({ ...options, timeoutMs: pollTimeoutMs }, headers);
  const all = '/api/management/applications';
  const of = (slug: string, ...rest: readonly string[]) => path(all, slug, ...rest);
  return {
    applications: () => get(all, z.array(contract.Application)),
    application: (slug: string) => get(of(slug), contract.Application),
    createApplication: (body: Omit<NewApplication, 'withKey'>) => post(all, contract.CreatedWithKey, body),
    createKeylessApplication: (body: Omit<NewApplication, 'withKey'>) => post(all, contract.CreatedApplication, { ...body, withKey: false }),
    updateApplication: (slug: string, body: z.input<typeof contract.ApplicationUpdate>) => put(of(slug), contract.Application, body),
    deleteApplication: (slug: string) => remove(of(slug)),
    /** The key before it stops working with the answer. */
    rotateKey: (slug: string) => post(of(slug, 'rotate-key'), contract.PlainKey),

    keys: async (slug: string) => (await get(of(slug, 'keys'), management.ApplicationKeys)).items,
    createKey: (slug: string, body: z.input<typeof management.NewKey>) => post(of(slug, 'keys'), management.CreatedKey, body),
    deleteKey: (slug: string, id: string) => remove(of(slug, 'keys', id)),

    /** ServiceAccounts that are bound to the application, by namespace and name. */
    accounts: (slug: string): Promise<management.BoundAccount[]> =>
      allPages((after) => get(`${of(slug, 'service-accounts')}?limit=200&after=${after}`, management.BoundAccounts)),
    bindAccount: (slug: string, { namespace, name }: Account) => put(of(slug, 'service-accounts', namespace, name), management.BoundAccount),
    unbindAccount: (slug: string, { namespace, name }: Account) => remove(of(slug, 'service-accounts', namespace, name)),

    /** The changes after the cursor of the page before, or none after 25 s; the first call only gets a cursor. A Refusal of status 410: list everything anew. */
    changes: (after = '') => polls.get(`/api/management/changes?after=${encodeURIComponent(after)}`, contract.ChangesPage),

    environments: (slug: string) => get(of(slug, 'environments'), z.array(contract.Environment)),
    createEnvironment: (slug: string, body: z.input<typeof contract.NewEnvironment>) => post(of(slug, 'environments'), contract.Environment, body),
    deleteEnvironment: (slug: string, environment: string) => remove(of(slug, 'environments', environment)),

    secrets: (slug: string) => get(of(slug, 'secrets'), z.array(contract.Secret)),
    secret: (slug: string, name: string) => get(of(slug, 'secrets', name), contract.Secret),
    createSecret: (slug: string, body: z.input<typeof contract.NewSecret>) => post(of(slug, 'secrets'), contract.CreatedSecret, body),
    deleteSecret: (slug: string, name: string) => remove(of(slug, 'secrets', name)),
    setValues: (slug: string, name: string, items: z.input<typeof management.ValueItems>) => post(of(slug, 'secrets', name, 'values'), Nothing, items),
    /** Newest first. */
    versions: (slug: string, name: string, environment: string) => get(of(slug, 'secrets', name, 'versions', environment), z.array(management.SecretVersion)),

    configurations: (slug: string) => get(of(slug, 'configurations'), z.array(contract.Configuration)),
    createConfiguration: (slug: string, body: z.input<typeof contract.NewConfiguration>) => post(of(slug, 'configurations'), contract.Configuration, body),
    updateConfiguration: (slug: string, { environmentSlug, key, ...body }: ConfigurationPlace & z.input<typeof contract.ConfigurationUpdate>) =>
      put(of(slug, 'configurations', environmentSlug, key), contract.Configuration, body),
    deleteConfiguration: (slug: string, { environmentSlug, key }: ConfigurationPlace) => remove(of(slug, 'configurations', environmentSlug, key)),
  };
}
export type ManagementClient = ReturnType<typeof createManagementClient>;
type NewApplication = z.input<typeof contract.NewApplication>;
type Account = { readonly namespace: string; readonly name: string };
type ConfigurationPlace = { readonly environmentSlug: string; readonly key: string };

const ProblemBody = z.looseObject({ type: z.string(), title: z.string(), status: z.number() });
/** An empty response body. */
const Nothing = z.unknown().transform(() => undefined);

/** @throws InvalidName */
function path(prefix: string, ...segments: readonly string[]): string {
  // URLs take these two for steps, escaped or not, so the request would go to another path.
  const step = segments.find((segment) => segment === '.' || segment === '..');
  if (step !== undefined) throw new InvalidName(`a name or key must not be '${step}': no URL can hold it`);
  return [prefix, ...segments.map(encodeURIComponent)].join('/');
}

/** @param page gets the cursor as it is written in a URL; the first page has none */
async function allPages<Item>(page: (after: string) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>): Promise<Item[]> {
  const all: Item[] = [];
  for (let after: string | null = ''; after !== null;) {
    const { items, next } = await page(encodeURIComponent(after));
    all.push(...items);
    after = next;
  }
  return all;
}

type Call = { readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'; readonly where: string; readonly body?: unknown };
type Headers = Readonly<Record<string, string>>;
type Sending = Required<Omit<ClientOptions, 'credential'>> & { readonly headers: Headers };

/** @throws InvalidAddress, InvalidCredential */
function createCalls(options: ClientOptions, headers: Headers) {
  requireUsable(options);
  const { baseUrl, timeoutMs = 10_000, retryAfterMs = [200, 800], signal = new AbortController().signal } = options;
  const sending: Sending = { baseUrl: baseUrl.replace(/\/+$/, ''), timeoutMs, retryAfterMs, signal, headers };
  const ask = <S extends z.ZodType>(call: Call, schema: S) => persist(() => attempt(call, schema, sending), call, sending);
  return {
    get: <S extends z.ZodType>(where: string, schema: S) => ask({ method: 'GET', where }, schema),
    post: <S extends z.ZodType>(where: string, schema: S, body?: unknown) => ask({ method: 'POST', where, body }, schema),
    put: <S extends z.ZodType>(where: string, schema: S, body?: unknown) => ask({ method: 'PUT', where, body }, schema),
    remove: (where: string) => ask({ method: 'DELETE', where }, Nothing),
  };
}

// fetch would refuse an invalid header or address too, with a message that shows all of it.
function requireUsable({ baseUrl, credential }: ClientOptions): void {
  const { protocol, username, password } = URL.parse(baseUrl) ?? { protocol: '', username: '', password: '' };
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') {
    throw new InvalidAddress('the address of the secrets service must begin with http:// or https:// and hold no user');
  }
  if (!/^[!-~]([ -~]*[!-~])?$/.test(credential)) throw new InvalidCredential('the credential for the secrets service must be ASCII characters of one line');
}

async function attempt<S extends z.ZodType>(call: Call, schema: S, sending: Sending): Promise<z.output<S>> {
  const { status, text } = await exchange(call, sending);
  if (status < 200 || status > 299) throw new Refusal(status, ProblemBody.safeParse(parseJson(text)).data);
  const parsed = schema.safeParse(parseJson(text));
  if (!parsed.success) throw new NoAnswer(`the answer of ${sending.baseUrl} is not one of the secrets service`);
  return parsed.data;
}

/** @throws Unreached, NoAnswer when it takes too long, or the reason of the caller's signal */
async function exchange({ method, where, body }: Call, { baseUrl, timeoutMs, headers, ...sending }: Sending): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), sending.signal]);
  const sent = body === undefined ? { headers } : { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  try {
    // A redirect is not followed: it would take the key to another host.
    const answer = await fetch(baseUrl + where, { method, redirect: 'manual', signal, ...sent });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError')
      throw new NoAnswer(`no answer from ${baseUrl} within ${timeoutMs} ms; does a NetworkPolicy or firewall let this program through`, { cause: error });
    // fetch throws a TypeError for every network failure, with the failure as its cause.
    if (error instanceof TypeError) throw new Unreached(`the secrets service at ${baseUrl} cannot be reached: ${reasonOf(error.cause)}`, { cause: error });
    throw error;
  }
}

// Only reads are repeated, and only where they reached no service: a write may have been done although its answer was lost.
async function persist<T>(work: () => Promise<T>, { method }: Call, sending: Sending): Promise<T> {
  const { retryAfterMs, signal } = sending;
  for (let tried = 0; ; tried++) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const waitMs = method === 'GET' && isUnreached(error) ? retryAfterMs[tried] : undefined;
      if (waitMs === undefined) throw error;
      if (!(await sleepUntil(signal, waitMs))) signal.throwIfAborted();
    }
  }
}

/** Members of answers that hold a time. */
const times = new Set(['createdAt', 'updatedAt', 'createdOn', 'updatedOn', 'expiresAt', 'expiresOn', 'notBefore', 'changedAt', 'lastUsedAt']);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (name, value: unknown) => (times.has(name) && typeof value === 'string' ? new Date(value) : value));
  } catch {
    return undefined;
  }
}

const unreachedStatuses = new Set([502, 503, 504]);
/** The request reached no service: nothing was done, and it may be repeated. */
const isUnreached = (error: unknown) => (error instanceof Refusal ? unreachedStatuses.has(error.status) : error instanceof Unreached);

const reasons: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'nothing listens there'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'there is no such host'],
  [/CERT|SIGNATURE/, 'its certificate is not trusted here'],
];

function reasonOf(cause: unknown): string {
  const code = codeOf(cause);
  if (code === undefined) return cause instanceof Error ? cause.message : 'the connection broke';
  return `${reasons.find(([pattern]) => pattern.test(code))?.[1] ?? 'the connection broke'} (${code})`;
}
