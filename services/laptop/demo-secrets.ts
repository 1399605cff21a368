// The part of `signalbox demo` for secrets: two applications with secrets in several environments, some of which lack one or expire soon, and reads of them.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { dayMs } from '../platform/time.ts';
import { type Ask, createAsk } from './demo-ask.ts';

type Secret = {
  readonly name: string;
  readonly description: string;
  /** How many versions each environment has. */
  readonly versions: Readonly<Record<string, number>>;
  /** When the newest one expires, by environment. */
  readonly expiresInDays?: Readonly<Record<string, number>>;
  /** The environment whose newest version is disabled. */
  readonly disabledIn?: string;
};
type Application = {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  /** Beside `local`. */
  readonly environments: readonly string[];
  readonly secrets: readonly Secret[];
  readonly configuration: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** How often each environment reads every secret. */
  readonly reads: Readonly<Record<string, number>>;
};

const applications: readonly Application[] = [
  {
    name: 'Web shop',
    slug: 'web-shop',
    description: 'The shop that customers see, and its checkout',
    environments: ['Staging', 'Production'],
    secrets: [
      { name: 'database-password', description: 'Logs in as the role shop', versions: { local: 1, staging: 2, production: 3 } },
      { name: 'payment-key', description: 'For charges and refunds', versions: { staging: 1, production: 2 }, expiresInDays: { production: 12, staging: 200 } },
      { name: 'session-key', description: 'Signs the cookies of customers', versions: { local: 1, production: 1 } },
      { name: 'tls-key', description: 'For shop.example.org', versions: { production: 1 }, expiresInDays: { production: 27 } },
      { name: 'mail-password', description: 'For confirmations of orders', versions: { local: 1, staging: 1, production: 2 }, disabledIn: 'production' },
      { name: 'search-token', description: 'Reads the index of products', versions: { local: 1, staging: 1, production: 1 }, expiresInDays: { local: 90 } },
      { name: 'partner/warehouse-token', description: 'Not asked for yet', versions: {} },
    ],
    configuration: {
      'log/level': { local: 'debug', staging: 'info', production: 'info' },
      'checkout/currency': { local: 'EUR', staging: 'EUR', production: 'EUR' },
      'checkout/new-form': { local: 'on', staging: 'on', production: 'off' },
      'mail/sender': { staging: 'shop@staging.example.org', production: 'shop@example.org' },
    },
    reads: { local: 1, staging: 3, production: 8 },
  },
  {
    name: 'Billing',
    slug: 'billing',
    description: 'Writes invoices at night',
    environments: ['Production'],
    secrets: [
      { name: 'database-password', description: 'Logs in as the role billing', versions: { local: 1, production: 1 } },
      { name: 'signing-key', description: 'Signs invoices', versions: { production: 1 }, expiresInDays: { production: 5 } },
    ],
    configuration: { 'invoice/prefix': { local: 'TEST', production: 'INV' } },
    reads: { production: 2 },
  },
];

const Created = z.object({ plainApiKey: z.string() });
const Keys = z.object({ items: z.array(z.object({ name: z.string().nullable() })) });
/** The last thing that is made but the reads. */
const lastKey = 'next';

/** @returns what is there, as a line for each application; what a demo before has made stays as it is, and the rest is added */
export async function vaulted(service: string, token: string): Promise<readonly string[]> {
  // An application and its parts from an earlier run stay as they are.
  const asking = createAsk({ name: 'secrets service', url: `${service}/api`, headers: { Authorization: `Bearer ${token}` } });
  const ask: Ask = (path, question) => asking(path, { also: [409], ...question });
  for (const application of applications) await add({ ask, service }, application);
  return applications.map(
    ({ slug, secrets, environments }) => `/api/management/applications/${slug}: ${secrets.length} secrets in ${environments.length + 1} environments`,
  );
}

async function add(
  { ask, service }: { readonly ask: Ask; readonly service: string },
  { name, slug, description, environments, secrets, configuration, reads }: Application,
): Promise<void> {
  const made = await ask('/management/applications', { body: { name, description } });
  const root = `/management/applications/${slug}`;
  for (const environment of environments) await ask(`${root}/environments`, { body: { name: environment } });
  for (const secret of secrets) await addSecret(ask, root, secret);
  for (const [key, values] of Object.entries(configuration))
    for (const [environmentSlug, value] of Object.entries(values)) await ask(`${root}/configurations`, { body: { environmentSlug, key, value } });
  const keys = Keys.parse((await ask(`${root}/keys`)).json());
  if (keys.items.some((key) => key.name === lastKey)) return;
  const next = await ask(`${root}/keys`, { body: { name: lastKey, expiresAt: new Date(Date.now() + 60 * dayMs) } });
  // No one has the first key of an application that an earlier run made.
  const { plainApiKey } = Created.parse((made.status === 409 ? next : made).json());
  const reader = createAsk({ name: 'secrets service', url: `${service}/api`, headers: { 'X-Api-Key': plainApiKey } });
  for (const [environment, times] of Object.entries(reads))
    for (let count = 0; count < times; count++) await reader(`/consumer/secrets?environment=${environment}&values=true`);
}

async function addSecret(ask: Ask, root: string, { name, description, versions, expiresInDays = {}, disabledIn }: Secret): Promise<void> {
  await ask(`${root}/secrets`, { body: { name, description } });
  const items = Object.entries(versions).flatMap(([environmentSlug, count]) =>
    Array.from({ length: count }, (_, index) => {
      const days = index === count - 1 ? expiresInDays[environmentSlug] : undefined;
      return {
        environmentSlug,
        // All of them or none: an earlier run has added them.
        ...(index === 0 && { expectedVersion: 0 }),
        value: randomBytes(24).toString('base64url'),
        isEnabled: environmentSlug !== disabledIn || index < count - 1,
        expiresAt: days === undefined ? null : new Date(Date.now() + days * dayMs),
      };
    }),
  );
  if (items.length > 0) await ask(`${root}/secrets/${encodeURIComponent(name)}/values`, { body: items });
}
