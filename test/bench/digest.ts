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
import { type Bench, compare, interleaved, type Pace } from './support/bench.ts';

const mailsOfRound = 400;
const items = 16;

// A newsletter of agencies' making: tables in tables, a style on each cell, quoted-printable, 54 KB.
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

const quotedPrintable = (text: string) => text.replaceAll('=', '=3D').replaceAll(/(.{72})/g, '$1=\r\n');

function mailOf(round: number, number: number): RawMail {
  const html = `<html><body>${Array.from({ length: items }, (_, item) => itemOf(number, item)).join('')}</body></html>`;
  const head = `Message-ID: <${round}.${number}@example.org>\r\nFrom: Weekly <weekly@example.org>\r\nTo: reader@example.org\r\nSubject: Weekly ${round}.${number}\r\nDate: Sun, 15 Mar 2026 08:00:00 +0000\r\n`;
  const body = `MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${quotedPrintable(html)}\r\n`;
  return toMail(Buffer.from(head + body), new Date());
}

export const mailsOf = (round: number) => Array.from({ length: mailsOfRound }, (_, number) => mailOf(round, number));

async function perSecond(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (mailsOfRound / (performance.now() - begun)) * 1000;
}

async function run({ rounds }: Pace) {
  const postgres = await startPostgres();
  await migrate(postgres.url, { schema: 'digest', directory: migrations }, silentLog);
  const pool = createPool(postgres.url, { schema: 'digest', log: silentLog });
  const newsletters = createArrivals(pool, { weights: readConfig(environmentOf(postgres.url)), clock: () => new Date() });
  const { handle } = createMailHandler({ newsletters, read: createNewsletterReader(), log: silentLog, metrics: createMetrics() });
  let round = 0;

  async function ours(): Promise<number> {
    await pool.driver.query('truncate newsletters, newsletter_links, links, link_authors, authors cascade');
    const deliveries = mailsOf(round++).map((mail): Delivery => ({ ...toMessage(mail), attempt: 1, redelivered: false }));
    const speed = await perSecond(async () => {
      for (let from = 0; from < deliveries.length; from += consumeOptions.batchSize) await handle(deliveries.slice(from, from + consumeOptions.batchSize));
    });
    const { rows } = await pool.driver.query(
      'select (select count(*) from newsletters where rejection is null)::int as mails, count(*)::int as links from newsletter_links where cardinality(author_ids) = 1',
    );
    deepStrictEqual(rows, [{ mails: mailsOfRound, links: mailsOfRound * items }]);
    return speed;
  }
  async function bound(): Promise<number> {
    const mails = mailsOf(round);
    return perSecond(async () => {
      for (const { raw } of mails) await PostalMime.parse(raw);
    });
  }

  try {
    const measured = await interleaved(rounds, { ours, bound });
    const kilobytes = Math.round(mailOf(0, 0).raw.length / 1000);
    return [compare(measured, (mails) => mails, { measure: `mails of ${kilobytes} KB with ${items} links`, unit: '1/s', goal: { atLeast: 0.25 } })];
  } finally {
    await pool.close();
    await postgres.close();
  }
}

export const bench: Bench = { summary: 'mails to stored links, against postal-mime alone on the same mails', run };
