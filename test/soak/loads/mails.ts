// Newsletters to the digest, and alert mails to listings: each promised mail is stored once, with all of its links.
import { createHash } from 'node:crypto';
import { newsletterMail } from '../../services/link-digest/ingest/mails.ts';
import { alertMail, card } from '../../services/listings/mails/alert-mails.ts';
import { ask, createOutcomes, type Load, outcomeOf } from '../load.ts';

type Parts = { readonly url: string; readonly credential: string; readonly perSecond: number };

const links = 3;
const rfc822 = { 'Content-Type': 'message/rfc822' };

export function createNewsletters({ url, credential, perSecond }: Parts): Load {
  const outcomes = createOutcomes();
  const numbers = new Map<string, number>();
  let last = 0;
  return {
    name: 'newsletters',
    perSecond,
    atOnce: 20,
    async step() {
      const number = ++last;
      const body = newsletterMail({ subject: `Soak ${number}`, links });
      numbers.set(createHash('sha256').update(body).digest('hex'), number);
      outcomes.set(number, outcomeOf(await ask('POST', `${url}/api/ingest/email`, { headers: { ...rfc822, 'X-Ingest-Token': credential }, body })));
    },
    counts: () => outcomes.text(),
    async balance(database) {
      const sql = `select encode(sha256, 'hex') as sha256, rejection, link_count::int as links from digest.newsletters`;
      const { rows } = await database.query<{ sha256: string; rejection: string | null; links: number }>(sql);
      const stored = new Map<number, number>();
      for (const { sha256 } of rows) stored.set(numbers.get(sha256) ?? -1, (stored.get(numbers.get(sha256) ?? -1) ?? 0) + 1);
      const torn = rows.flatMap((row) =>
        row.rejection !== null || row.links !== links ? [`newsletter ${numbers.get(row.sha256)} has ${row.links} links`] : [],
      );
      const [sums] = (
        await database.query<{ found: number; most: number }>(
          'select (select count(*) from digest.newsletter_links)::int as found, (select max(newsletter_count) from digest.links)::int as most',
        )
      ).rows;
      const isWhole = !sums || rows.length === 0 || (sums.found === links * rows.length && sums.most === 1);
      return [...outcomes.compare(stored, 'newsletter'), ...torn, ...(isWhole ? [] : [`${sums.found} links of ${rows.length} newsletters`])];
    },
  };
}

export function createAlertMails({ url, credential, perSecond }: Parts): Load {
  const outcomes = createOutcomes();
  let last = 0;
  return {
    name: 'alert mails',
    perSecond,
    atOnce: 10,
    async step() {
      const number = ++last;
      const id = 7_000_000 + number;
      const body = alertMail({ html: card({ id, address: `${number} Mail Road, Dublin 4` }), headers: { 'Message-ID': `<soak-${number}@daft.ie>` } });
      outcomes.set(number, outcomeOf(await ask('POST', `${url}/api/ingest/email`, { headers: { ...rfc822, Authorization: `Bearer ${credential}` }, body })));
    },
    counts: () => outcomes.text(),
    async balance(database) {
      const sql = `select (source_id::int - 7000000) as number, count(*)::int as times from listings.properties where source_id ~ '^7[0-9]{6}$' group by 1`;
      const { rows } = await database.query<{ number: number; times: number }>(sql);
      return outcomes.compare(new Map(rows.map(({ number, times }) => [number, times])), 'listing of alert mail');
    },
  };
}
