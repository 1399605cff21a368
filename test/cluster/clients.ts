// The clients of an installation: a forge that delivers, a dashboard that reads, an application that reads its secret, a mail relay, a reader of links.
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenSettings } from '../../services/link-digest/login/settings.ts';
import { createTokens } from '../../services/link-digest/login/tokens.ts';
import { readSettings } from '../../services/platform/config/config.ts';
import { systemClock } from '../../services/platform/time.ts';
import { eventually } from '../support/wait.ts';
import type { Ask, Reply, Way } from './http.ts';

const payload = readFileSync(join(import.meta.dirname, '../../services/laptop/example-delivery.json'));

export type ClientParts = {
  readonly way: Way;
  /** `relay.<domain>` and so on. */
  readonly domain: string;
  /** The content of the Secret `<release>-credentials`. */
  readonly credentials: Readonly<Record<string, string>>;
};

export type Delivered = { readonly deliveryId: string; readonly status: number; readonly body: string };

/** Promised to arrive: answered 202, or 400 and on the relay's disk. */
export const isKept = ({ status, body }: Delivered): boolean => status === 202 || isSpooled({ status, body });
export const isSpooled = ({ status, body }: Pick<Delivered, 'status' | 'body'>): boolean => status === 400 && body.includes('"spooled":true');

export type Clients = {
  /** A signed example delivery, once; status 0 when there was no answer. */
  deliver(): Promise<Delivered>;
  /** @throws unless it is answered 200 */
  readDashboard(): Promise<void>;
  /** Delivery id → how many events of the log have it. */
  eventLog(): Promise<ReadonlyMap<string, number>>;
  /** Has the relay publish on the connection of this number. */
  switchTo(connection: number): Promise<void>;
  /** An application with a secret, and the read of it: throws unless the value is answered. */
  createApplication(name: string): Promise<SecretReader>;
  /** Asks the management plane of the secrets service, by POST if there is a body. @throws unless it succeeds */
  manageSecrets(path: string, body?: unknown): Promise<unknown>;
  /** As an application reads it. @throws unless it is answered */
  readSecret(reading: SecretReading): Promise<string | undefined>;
  /** A request to the listing triage with its token, whatever the answer. */
  askListings(path: string, body?: object): Promise<Reply>;
  /** A newsletter of this title into the queue of mails, the same bytes each time. @throws unless the broker has it */
  sendNewsletter(title: string): Promise<void>;
  /** The titles of the newsletters that are stored. */
  newsletters(): Promise<string[]>;
  /** Waits until each is stored; throws when one is there twice. */
  expectNewsletters(titles: readonly string[]): Promise<void>;
  addBookmark(title: string): Promise<void>;
  /** The titles of all bookmarks. */
  bookmarks(): Promise<string[]>;
};

export type SecretReading = { readonly key: string; readonly name: string; readonly environment: string };
export type SecretReader = { readonly key: string; readonly value: string; read(): Promise<void> };

/** A login for each would be refused after five: they come from one address. */
async function issueToken(key: string): Promise<string> {
  const config = readSettings({ Jwt__Key: key }, tokenSettings);
  return (await createTokens({ config, clock: systemClock }).issue({ subject: 'cluster', username: 'cluster', minutes: 600 })).token;
}

type Titled = { readonly title: string };

export function createClients({ way, domain, credentials }: ClientParts): Clients {
  const first = (name: string) => {
    const value = credentials[name]?.split(',')[0];
    if (!value) throw new Error(`the credentials hold no ${name}; they hold ${Object.keys(credentials).join(', ')}`);
    return value;
  };
  const succeed = async (ask: Ask): Promise<unknown> => {
    const { status, body } = await way.ask(ask);
    if (status < 200 || status > 299) throw new Error(`${ask.method ?? 'GET'} ${ask.host}${ask.path} answers ${status}: ${body.slice(0, 300)}`);
    return body === '' ? undefined : JSON.parse(body);
  };
  const dashboard = (query: string) =>
    succeed({ host: `intake.${domain}`, path: `/api/v1/events?${query}`, headers: { Authorization: `token ${first('Intake__AccessTokens')}` } });
  const secrets = `secrets.${domain}`;
  const manageSecrets = (path: string, body?: unknown) => {
    const headers = { Authorization: `Bearer ${first('Management__AdminApiKey')}`, 'Content-Type': 'application/json' };
    return succeed({ host: secrets, path: `/api/management${path}`, headers, ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }) });
  };
  const readSecret = async ({ key, name, environment }: SecretReading) => {
    const path = `/api/consumer/secrets/${name}?environment=${environment}`;
    return ((await succeed({ host: secrets, path, headers: { 'X-Api-Key': key } })) as { value?: string }).value;
  };
  const digest = `digest.${domain}`;
  let token: Promise<string> | undefined;
  async function newsletters(): Promise<string[]> {
    token ??= issueToken(first('Jwt__Key'));
    const { data } = (await succeed({ host: digest, path: '/api/newsletters', headers: { Authorization: `Bearer ${await token}` } })) as {
      data: readonly Titled[];
    };
    return data.map(({ title }) => title);
  }
  return {
    sendNewsletter: async (title) => {
      const headers = { 'X-Ingest-Token': first('Ingest__Token'), 'Content-Type': 'message/rfc822' };
      const body = `Subject: ${title}\r\n\r\nhttps://example.org/${encodeURIComponent(title)}\r\n`;
      await succeed({ host: digest, path: '/api/ingest/email', method: 'POST', headers, body });
    },
    newsletters,
    expectNewsletters: (titles) =>
      eventually(
        async () => {
          const found = await newsletters();
          const wrong = titles.filter((title) => found.filter((one) => one === title).length !== 1);
          if (wrong.length > 0) throw new Error(`of ${titles.length} newsletters these are not stored once: ${wrong.join(', ')}`);
        },
        { withinMs: 120_000, everyMs: 1000 },
      ),
    addBookmark: async (title) => {
      const headers = { 'X-Api-Key': first('Bookmarks__ApiKeys'), 'Content-Type': 'application/json' };
      const body = JSON.stringify({ title, url: 'https://example.org/' });
      await succeed({ host: `bookmarks.${domain}`, path: '/api/bookmarks', method: 'POST', headers, body });
    },
    bookmarks: async () => ((await succeed({ host: `bookmarks.${domain}`, path: '/api/bookmarks' })) as readonly Titled[]).map(({ title }) => title),
    deliver: () => deliver(way, `relay.${domain}`, first('Forge__WebhookSecrets')),
    readDashboard: async () => void (await dashboard('limit=5')),
    eventLog: async () => {
      const counts = new Map<string, number>();
      for (let after: string | null = ''; after !== null;) {
        const page = (await dashboard(`limit=200${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`)) as EventPage;
        for (const { deliveryId } of page.items) counts.set(deliveryId, (counts.get(deliveryId) ?? 0) + 1);
        after = page.next;
      }
      return counts;
    },
    switchTo: async (connection) => {
      const headers = { Authorization: `Bearer ${first('Broker__AuthToken')}` };
      await succeed({ host: `relay.${domain}`, path: `/Broker/switch/${connection}`, method: 'POST', headers });
    },
    askListings: (path, body) => {
      const headers = { Authorization: `Bearer ${first('Listings__AccessTokens')}`, 'Content-Type': 'application/json' };
      return way.ask({ host: `listings.${domain}`, path, headers, ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }) });
    },
    manageSecrets,
    readSecret,
    createApplication: (name) => createApplication(name, { manageSecrets, readSecret }),
  };
}

type EventPage = { readonly items: readonly { readonly deliveryId: string }[]; readonly next: string | null };

async function deliver(way: Way, host: string, secret: string): Promise<Delivered> {
  const deliveryId = randomUUID();
  const signature = `sha256=${createHmac('sha256', secret).update(payload).digest('hex')}`;
  const headers = {
    'Content-Type': 'application/json',
    'X-Forge-Event': 'issues',
    'X-Forge-Delivery': deliveryId,
    'X-Forge-Hook-ID': '7',
    'X-Hub-Signature-256': signature,
  };
  try {
    return { deliveryId, ...(await way.ask({ host, path: '/Forge', method: 'POST', headers, body: payload })) };
  } catch (error) {
    return { deliveryId, status: 0, body: error instanceof Error ? error.message : String(error) };
  }
}

async function createApplication(name: string, { manageSecrets, readSecret }: Pick<Clients, 'manageSecrets' | 'readSecret'>): Promise<SecretReader> {
  const { slug, plainApiKey: key } = (await manageSecrets('/applications', { name })) as { slug: string; plainApiKey: string };
  const value = randomUUID();
  await manageSecrets(`/applications/${slug}/secrets`, { name: 'password' });
  await manageSecrets(`/applications/${slug}/secrets/password/values`, [{ environmentSlug: 'local', value }]);
  const read = async () => {
    if ((await readSecret({ key, name: 'password', environment: 'local' })) !== value) {
      throw new Error('the secrets service answers another value than was stored');
    }
  };
  return { key, value, read };
}
