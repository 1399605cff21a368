// Newsletters and links of a benchmark: ten new links in each newsletter, a newsletter every 100 minutes, whatever their number.
import { createTokens } from '../../../services/link-digest/login/tokens.ts';
import { readConfig } from '../../../services/link-digest/config.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { migrate } from '../../../services/platform/postgres/migrations.ts';
import { createPool } from '../../../services/platform/postgres/pool.ts';
import { encodeCursor } from '../../../services/platform/schema.ts';
import { environmentOf, migrations } from '../../services/link-digest/store.ts';
import { withoutIndexes } from './without-indexes.ts';

const someId = '019b76da-a800-7000-8000-000000000001';
const wordsAt = (rows: number) => Math.floor(rows / 20);

// Six of ten wait for a decision; twenty are discarded after review, twenty have a rare word, fifty are on each host and ten of each author, of however many.
const fill = (links: number) => `
  insert into newsletters (id, sha256, title, received_date, destination_email, received_at, link_count, rejection)
  select case when n = 1 then '${someId}'::uuid else gen_random_uuid() end, sha256(n::text::bytea), case when n % ${Math.floor(links / 200)} = 0 then null else 'Weekly ' || n end,
    now() - n * interval '100 minutes', 'reader@example.org', now() - n * interval '100 minutes', 10, case when n % ${Math.floor(links / 200)} = 0 then 'too large' end
  from generate_series(1, ${links / 10}) n;
  insert into authors (id, identity, name) select case when n = 1 then '${someId}'::uuid else gen_random_uuid() end, n::text, 'Author ' || md5(n::text)
  from generate_series(1, ${links / 10}) n;
  insert into links (id, url, url_sha256, title, status, first_seen, last_seen, newsletter_count, message_count, priority_score, scored_at, decided_at)
  select case when n = 1 then '${someId}'::uuid else gen_random_uuid() end, 'https://host' || n % ${links / 50} || '.example/articles/' || n, sha256(n::text::bytea),
    'On ' || md5(n::text) || case when n % ${wordsAt(links)} = 7 then ' in Zanzibar' else ' and caches' end, status, at, at, 1, 1, 1 + n % 900 * 7919 % 900 / 100.0, now() + interval '1 day',
    case when status <> 'Awaiting' then at end
  from (
    select n, now() - n * interval '10 minutes' as at,
      case when n % ${wordsAt(links)} = 3 then 'DiscardedAfterReview' when n % 10 < 6 then 'Awaiting' when n % 10 < 7 then 'Liked' else 'Discarded' end as status
    from generate_series(1, ${links}) n
  ) as each;
  insert into newsletter_links (newsletter_id, link_id, position, found_url, author_ids)
  select newsletters.id, links.id, n % 10, links.url, '{}' from generate_series(1, ${links}) n
    join links on url_sha256 = sha256(n::text::bytea) join newsletters on sha256 = sha256((1 + (n - 1) / 10)::text::bytea);
  insert into link_authors (link_id, author_id, link_status)
  select links.id, authors.id, status from generate_series(1, ${links}) n join links on url_sha256 = sha256(n::text::bytea) join authors on identity = (1 + n % ${links / 10})::text;
  insert into keywords (keyword, weight) values ('caches', 0.1), ('zanzibar', 0.2);`;

/** @returns the URL of the database with so many links */
export async function fillDigest(url: string, links: number): Promise<string> {
  await migrate(url, { schema: 'digest', directory: migrations }, silentLog);
  const pool = createPool(url, { schema: 'digest', log: silentLog, maxConnections: 1, statementMs: 3_600_000 });
  await withoutIndexes(
    pool.driver,
    ['newsletters', 'links', 'newsletter_links', 'authors', 'link_authors'],
    async () => void (await pool.driver.query(fill(links))),
  );
  await pool.close();
  return url;
}

/** The settings of a service on this database. */
export const digestSettings = (url: string): Readonly<Record<string, string>> => environmentOf(url);

export async function digestHeaders(): Promise<Readonly<Record<string, string>>> {
  const config = readConfig(environmentOf('postgres://nobody/nothing'));
  const { token } = await createTokens({ config, clock: () => new Date() }).issue({ subject: 'bench', username: 'bench', minutes: 600 });
  return { Authorization: `Bearer ${token}` };
}

const page = '/api/links?limit=20';
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

export const digestPaths: Readonly<Record<string, string>> = {
  'links by priority': page,
  'links that wait by priority': '/api/links/prioritized?limit=20',
  'links that wait, with their scores': `${page}&status=Awaiting&include=score`,
  'liked links, newest': `${page}&status=Liked&sort=newest`,
  'links of a rare status': `${page}&status=DiscardedAfterReview`,
  'links of a rare status, newest': `${page}&status=DiscardedAfterReview&sort=newest`,
  'links by title': `${page}&sort=title`,
  'oldest links': `${page}&sort=oldest`,
  'links behind a cursor': `${page}&sort=newest&after=${encodeCursor('links.newest', [daysAgo(30).getTime(), someId])}`,
  'links with a rare word': `${page}&search=zanzibar`,
  'links with a word that is not there': `${page}&search=nowhere`,
  'links of a host': `${page}&host=host7.example`,
  'links of an author': `${page}&author=${someId}`,
  'links of a newsletter': `${page}&newsletter=${someId}`,
  'links of three days': `${page}&from=${daysAgo(6).toISOString()}&to=${daysAgo(3).toISOString()}`,
  'a link': `/api/links/${someId}`,
  'the score of a link': `/api/links/${someId}/score`,
  newsletters: '/api/newsletters?limit=20',
  'refused mails': '/api/newsletters?status=rejected&limit=20',
  'a newsletter': `/api/newsletters/${someId}`,
  authors: '/api/authors?limit=20',
  'an author': `/api/authors/${someId}`,
  'numbers by day': '/api/stats/series?days=30',
};
