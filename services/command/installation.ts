// The services of an installation as commands ask them: where they answer, and by which credential.
import { setTimeout as sleep } from 'node:timers/promises';
import { settings as bookmarksSettings } from '../bookmarks/config.ts';
import { settings as consoleSettings } from '../console/config.ts';
import { settings as digestSettings } from '../link-digest/config.ts';
import { settings as listingsSettings } from '../listings/config.ts';
import { type Environment, isGiven, readSettings, type Setting } from '../platform/config/config.ts';
import type { Secret } from '../platform/config/secret.ts';
import { commonSettings, optional, processSettings, url as urlSetting } from '../platform/config/settings.ts';
import { codeOf, describeError, hasCode } from '../platform/errors.ts';
import type { Schema } from '../platform/http/route.ts';
import { type AnswerOf, requireAnswer } from '../platform/http/wire.ts';
import { saidIn } from '../platform/problem.ts';
import { settings as secretsSettings } from '../secrets/config.ts';
import { settings as intakeSettings } from '../webhook-intake/config.ts';
import { settings as relaySettings } from '../webhook-relay/config.ts';

type Credential = Setting<readonly Secret[]>;
type Described = {
  readonly url: Setting<string | undefined>;
  /** Only a process of the service, and what administers it, has one of these. */
  readonly own: readonly Setting<unknown>[];
  /** For the services that commands ask for more than their readiness. */
  readonly credentials?: { readonly scheme: string; readonly own: Credential; readonly ofConsole: Setting<readonly Secret[] | undefined> };
};

export const serviceNames = ['webhook-relay', 'webhook-intake', 'link-digest', 'secrets', 'bookmarks', 'listings', 'console'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** `Console__PublicUrl` may lead through a proxy that a pod does not reach. */
const consoleUrl = optional(urlSetting('SIGNALBOX_CONSOLE_URL', ['http', 'https'], { summary: 'Where the console answers; its own pod needs none' }));

const metricsUrl = optional(
  urlSetting('SIGNALBOX_METRICS_URL', ['http', 'https'], {
    summary: 'Where metrics and health of processes answer; default in a pod: its own at METRICS_PORT',
  }),
);

const described: Readonly<Record<ServiceName, Described>> = {
  'webhook-relay': {
    url: consoleSettings.relayUrl,
    own: [relaySettings.authTokens],
    credentials: { scheme: 'Bearer', own: relaySettings.authTokens, ofConsole: consoleSettings.relayTokens },
  },
  'webhook-intake': {
    url: consoleSettings.intakeUrl,
    own: [intakeSettings.accessTokens],
    credentials: { scheme: 'token', own: intakeSettings.accessTokens, ofConsole: consoleSettings.intakeTokens },
  },
  'link-digest': { url: consoleSettings.digestUrl, own: [digestSettings.keys] },
  secrets: {
    url: consoleSettings.secretsUrl,
    own: [secretsSettings.adminApiKeys],
    credentials: { scheme: 'Bearer', own: secretsSettings.adminApiKeys, ofConsole: consoleSettings.secretsTokens },
  },
  bookmarks: { url: consoleSettings.bookmarksUrl, own: [bookmarksSettings.apiKeys] },
  listings: { url: consoleSettings.listingsUrl, own: [listingsSettings.accessTokens] },
  // One for each way to log in.
  console: {
    url: consoleUrl,
    own: [consoleSettings.adminPasswords, consoleSettings.adminPasswordHashes, consoleSettings.oidcIssuer, consoleSettings.proxies],
  },
};

const { relayUrl, intakeUrl, relayTokens, intakeTokens } = consoleSettings;
/** For the help of commands that ask the relay. */
export const relayCommandSettings = { relayUrl, authTokens: optional(relaySettings.authTokens), relayTokens, port: commonSettings.port };
/** For the help of commands that ask the intake. */
export const intakeCommandSettings = { intakeUrl, accessTokens: optional(intakeSettings.accessTokens), intakeTokens, port: commonSettings.port };
/** For the help of commands that ask every service. */
export const installationSettings = {
  ...relayCommandSettings,
  ...intakeCommandSettings,
  digestUrl: consoleSettings.digestUrl,
  secretsUrl: consoleSettings.secretsUrl,
  bookmarksUrl: consoleSettings.bookmarksUrl,
  listingsUrl: consoleSettings.listingsUrl,
  adminApiKeys: optional(secretsSettings.adminApiKeys),
  secretsTokens: consoleSettings.secretsTokens,
  consoleUrl,
  metricsUrl,
};

/** A service answered with a refusal. */
export class Refused extends Error {
  readonly status: number;

  constructor(service: ServiceName, status: number, text: string) {
    super(`${service} answered ${status} (${saidIn(text)})`);
    this.status = status;
  }
}

const answerMs = 10_000;
/** A service that has just started, or is busy, may answer 503 once: after this it is asked again. */
const busyMs = 1000;

type Call = { readonly method?: 'GET' | 'POST' | 'DELETE'; readonly path: string; /** Sent as JSON. */ readonly body?: unknown };
export type Installation = ReturnType<typeof readInstallation>;

/** @throws ConfigError for settings that cannot be read */
export function readInstallation(environment: Environment, timeoutMs = answerMs) {
  const { port } = readSettings(environment, { port: commonSettings.port });
  const isService = isGiven(environment, commonSettings.databaseUrl.name);

  /** In a pod of the service itself there is no address, and the service listens beside the command. */
  function urlOf(service: ServiceName): string | undefined {
    const { url, own } = described[service];
    const given = readSettings(environment, { url }).url;
    if (given !== undefined) return given.replace(/\/+$/, '');
    return isService && own.some(({ name }) => isGiven(environment, name)) ? `http://127.0.0.1:${port}` : undefined;
  }

  function ownMetricsUrl(): string | undefined {
    const { metricsPort, given } = readSettings(environment, { metricsPort: processSettings.metricsPort, given: metricsUrl });
    return (
      given?.replace(/\/+$/, '') ??
      (isGiven(environment, processSettings.metricsPort.name) && metricsPort !== 0 ? `http://127.0.0.1:${metricsPort}` : undefined)
    );
  }

  function credentialOf(service: ServiceName) {
    const { credentials } = described[service];
    if (!credentials) return undefined;
    const { own, ofConsole } = readSettings(environment, { own: optional(credentials.own), ofConsole: credentials.ofConsole });
    const [secret] = own ?? ofConsole ?? [];
    return secret && { header: `${credentials.scheme} ${secret.reveal()}`, setting: own ? credentials.own.name : credentials.ofConsole.name };
  }

  /** @throws Refused, or another Error in words when it cannot be asked */
  async function ask<S extends Schema>(service: ServiceName, { method = 'GET', path, body }: Call, contract: S): Promise<AnswerOf<S>> {
    const url = urlOf(service);
    const credential = credentialOf(service);
    if (url === undefined || credential === undefined) throw new Error(notGiven(service));
    const send = () =>
      fetchFrom(service, `${url}${path}`, {
        method,
        timeoutMs,
        headers: { Accept: 'application/json', Authorization: credential.header, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const first = await send();
    const response = method === 'GET' && first.status === 503 ? await sleep(busyMs).then(send) : first;
    const text = await response.text();
    if (response.ok) return requireAnswer(contract, text, { address: url, service, setting: described[service].url.name });
    if (response.status === 401)
      throw new Error(`${service} refuses the credential of ${credential.setting}: a pod that started before it was changed has the old one`);
    throw new Refused(service, response.status, text);
  }

  return { urlOf, metricsUrl: ownMetricsUrl(), ask, canAsk: (service: ServiceName) => urlOf(service) !== undefined && credentialOf(service) !== undefined };
}

function notGiven(service: ServiceName): string {
  const { url, credentials } = described[service];
  return (
    `neither ${url.name} nor a setting of the service is given: run this on a laptop in the folder of .signalbox, in a pod of ` +
    `${service} or of the console, or set ${url.name} and ${credentials?.own.name ?? ''}`
  );
}

/** Nothing answered: no process of the service runs there, or the way to it is closed. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/** Codes of Node and of its `fetch`. Others have another remedy: a name that DNS does not know, a certificate that has expired. */
const unansweredCodes = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT'];

/** @throws Unanswered, in words, when nothing answers in time, or another Error in words when it cannot be asked */
export async function fetchFrom(
  service: string,
  url: string,
  { timeoutMs = answerMs, ...init }: RequestInit & { readonly timeoutMs?: number } = {},
): Promise<Response> {
  // A redirect is not followed: it would take the credential to another host.
  return fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) }).catch((error: unknown) => {
    const { origin } = new URL(url);
    if (error instanceof Error && error.name === 'TimeoutError')
      throw new Unanswered(`${service} at ${origin} does not answer within ${timeoutMs / 1000} s`, { cause: error });
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const reason = codeOf(cause) ?? describeError(cause);
    if (hasCode(cause, ...unansweredCodes)) throw new Unanswered(`${service} at ${origin} does not answer: ${reason}`, { cause: error });
    throw new Error(`${service} at ${origin} cannot be asked: ${reason}`, { cause: error });
  });
}
