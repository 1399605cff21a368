// The link digest: mails to stored newsletters, links, authors and scores, against postal-mime alone on the same mails.
import { deepStrictEqual } from 'node:assert';
import PostalMime from 'postal-mime';
import { readConfig } from '../../services/link-digest/config.ts';
import { consumeOptions, createMailHandler } from '../../services/link-digest/ingest/consumer.ts';
import { toMail, toMessage } from '../../services/link-digest/ingest/queue.ts';
import { createNewsletterReader, type RawMail } from '../../services/link-digest/mails/reader.ts';
import { createArrivals } from '../../services/link-digest/newsletters/arrivals.ts';
import type { Delivery } from '../../services/platform/broker/broker.ts';
import { silentLog } from '../../services/platform/log.ts';
import { createMetrics } from '../../services/platform/metrics.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { createPool } from '../../services/platform/postgres/pool.ts';
import { environmentOf, migrations } from '../services/link-digest/store.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Bench, type BenchRow, compare, interleaved, type Pace } from './support/bench.ts';

/** About as many are stored in a second. The first thousands take up to twice as long, until V8 has compiled what reads them. */
const mailsASecond = 400;
const items = 16;

// A newsletter of agencies' making: tables in tables, a style on each cell, 54 KB in quoted-printable.
const style = 'font-family:Helvetica,Arial,sans-serif;font-size:16px;line-height:24px;color:#333333;padding:0 24px 12px 24px;mso-line-height-rule:exactly';
const words = ['caching', 'postgres', 'queues', 'signals', 'railways', 'typescript', 'kernels', 'compilers', 'latency', 'indexes', 'consensus', 'parsers'];
const word = (number: number) => words[number % words.length] ?? '';

/** One of 40, in letters: names in bylines have no digits. */
const authorOf = (number: number) =>
  `${['Ada', 'Bela', 'Cleo', 'Dara', 'Emil'][number % 5]} ${['Adler', 'Bruun', 'Costa', 'Duarte', 'Egger', 'Fiala', 'Grau', 'Holm'][number % 8]}`;

/** One link of four is in the newsletters beside it, too. */
const addressOf = (number: number, item: number) =>
  item % 4 === 0
    ? `https://example.org/shared/${Math.floor(number / 8)}/${item}`
    : `https://example.org/${number}/${item}?utm_source=weekly&amp;utm_medium=email`;

const itemOf = (number: number, item: number) => `
  <table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td style="${style}">
    <a href="${addressOf(number, item)}" style="${style}"><img src="https://images.example.org/${number}/${item}.png" width="560" alt=""></a>
    <h2 style="${style}"><a href="${addressOf(number, item)}" style="${style}">On ${word(number + item)} and ${word(number + 5 * item)}, part ${item}</a></h2>
    <p style="${style}">by ${authorOf(number + item)}</p>
    ${`<p style="${style}">What one learns about ${word(item)} when it is late, and why nobody wrote it down before: a story of ${word(number)}.</p>`.repeat(8)}
  </td></tr></table>`;

const encodings = {
  'quoted-printable': (text: string) => text.replaceAll('=', '=3D').replaceAll(/(.{72})/g, '$1=\r\n'),
  '8bit': (text: string) => text,
};
type Encoding = keyof typeof encodings;

function mailOf(round: number, number: number, encoding: Encoding): RawMail {
  const html = `<html><body>${Array.from({ length: items }, (_, item) => itemOf(number, item)).join('')}</body></html>`;
  const head = `Message-ID: <${round}.${number}@example.org>\r\nFrom: Weekly <weekly@example.org>\r\nTo: reader@example.org\r\nSubject: Weekly ${round}.${number}\r\nDate: Sun, 15 Mar 2026 08:00:00 +0000\r\n`;
  const body = `MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${encodings[encoding](html)}\r\n`;
  return toMail(Buffer.from(head + body), new Date());
}

export const mailsOf = (round: number, encoding: Encoding = 'quoted-printable', count = mailsASecond) =>
  Array.from({ length: count }, (_, number) => mailOf(round, number, encoding));

async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (count / (performance.now() - begun)) * 1000;
}

async function run({ rounds, seconds }: Pace) {
  const count = mailsASecond * seconds;
  const postgres = await startPostgres();
  await migrate(postgres.url, { schema: 'digest', directory: migrations }, silentLog);
  const pool = createPool(postgres.url, { schema: 'digest', log: silentLog });
  const newsletters = createArrivals(pool, { weights: readConfig(environmentOf(postgres.url)), clock: () => new Date() });
  const { handle } = createMailHandler({ newsletters, read: createNewsletterReader(), log: silentLog, metrics: createMetrics() });
  let round = 0;

  async function ours(encoding: Encoding): Promise<number> {
    await pool.driver.query('truncate newsletters, newsletter_links, links, link_authors, authors cascade');
    const deliveries = mailsOf(round++, encoding, count).map((mail): Delivery => ({ ...toMessage(mail), attempt: 1, redelivered: false }));
    const speed = await perSecond(count, async () => {
      for (let from = 0; from < deliveries.length; from += consumeOptions.batchSize) await handle(deliveries.slice(from, from + consumeOptions.batchSize));
    });
    const { rows } = await pool.driver.query(
      'select (select count(*) from newsletters where rejection is null)::int as mails, count(*)::int as links from newsletter_links where cardinality(author_ids) = 1',
    );
    deepStrictEqual(rows, [{ mails: count, links: count * items }]);
    return speed;
  }
  async function bound(encoding: Encoding): Promise<number> {
    const mails = mailsOf(round, encoding, count);
    return perSecond(count, async () => {
      for (const { raw } of mails) await PostalMime.parse(raw);
    });
  }

  try {
    const rows: BenchRow[] = [];
    for (const encoding of ['quoted-printable', '8bit'] as const) {
      const measured = await interleaved(rounds, { ours: () => ours(encoding), bound: () => bound(encoding) });
      const measure = `mails of ${Math.round(mailOf(0, 0, encoding).raw.length / 1000)} KB in ${encoding} with ${items} links`;
      rows.push(compare(measured, (mails) => mails, { measure, unit: '1/s', goal: { atLeast: 0.25 } }));
    }
    return rows;
  } finally {
    await pool.close();
    await postgres.close();
  }
}

export const bench: Bench = { summary: 'mails to stored links, against postal-mime alone on the same mails', run };
