// The link digest's database of the tests, and newsletters to put into it.
import { createHash, randomUUID } from 'node:crypto';
import { readConfig } from '../../../services/link-digest/config.ts';
import type { FoundAuthor, FoundLink } from '../../../services/link-digest/extraction/extraction.ts';
import type { Newsletter, RawMail } from '../../../services/link-digest/mails/reader.ts';
import { createArrivals } from '../../../services/link-digest/newsletters/arrivals.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

export const migrations = new URL('../../../services/link-digest/migrations/', import.meta.url);

/** The settings of a test service; those of the test replace them. */
export const environmentOf = (databaseUrl: string, more: Readonly<Record<string, string>> = {}) => ({
  APP_ENV: 'development',
  DATABASE_URL: databaseUrl,
  Ingest__BrokerUrl: databaseUrl,
  Ingest__Token: 'the ingest token of the tests',
  Jwt__Key: 'a key of the tests with 32 bytes or more',
  Digest__AdminPassword: 'the password of the tests',
  Digest__LoginAttempts: '1000000',
  ...more,
});

export const mail = (text: string = randomUUID(), receivedAt = new Date()): RawMail => {
  const raw = Buffer.from(text);
  return { raw, sha256: createHash('sha256').update(raw).digest(), receivedAt };
};

export const author = (name: string, more: Partial<FoundAuthor> = {}): FoundAuthor => ({ name, handle: name.toLowerCase(), customDomain: null, ...more });
export const link = (url: string, more: Partial<FoundLink> = {}): FoundLink => ({
  url,
  foundUrl: `${url}?utm_source=x`,
  title: `At ${url}`,
  authors: [],
  ...more,
});
export const newsletter = (links: readonly FoundLink[], more: Partial<Newsletter> = {}): Newsletter => ({
  title: 'A newsletter',
  receivedDate: new Date('2026-03-15T12:00:00Z'),
  destinationEmail: 'reader@example.org',
  messageId: null,
  links,
  ...more,
});

/** A database for the tests of one file; each test begins with nothing in it, unless it is kept, as where filling it costs most. */
export type DatabaseOptions = { readonly clock?: () => Date; readonly isKept?: boolean; readonly createDatabase?: typeof createTestDatabase };

export function useDatabase({ clock = () => new Date(), isKept = false, createDatabase = createTestDatabase }: DatabaseOptions = {}) {
  let test: TestDatabase;
  let pool: Pool;
  before(async () => {
    test = await createDatabase({ schema: 'digest', migrations });
    pool = createPool(test.url, { schema: 'digest', log: silentLog });
  });
  if (!isKept) beforeEach(() => pool.driver.query('truncate newsletters, newsletter_links, links, link_authors, authors, keywords, administrators cascade'));
  after(async () => {
    await pool.close();
    await test.drop();
  });
  return {
    get url() {
      return test.url;
    },
    get pool() {
      return pool;
    },
    get newsletters() {
      return createArrivals(pool, { weights: readConfig(environmentOf(test.url)), clock });
    },
    query: async (sql: string, values: unknown[] = []) => (await pool.driver.query(sql, values)).rows,
  };
}

/** The items without their ids, which are random. */
export const withoutIds = (items: readonly { readonly id: string }[]) => items.map(({ id: _, ...rest }) => rest);
