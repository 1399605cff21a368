// Mails that cost more than they may: each is refused in bounded time, and the next one is parsed.
import { expect } from 'chai';
import PostalMime from 'postal-mime';
import { readWorkerConfig } from '../../../../services/listings/config.ts';
import { createBoundedParser } from '../../../../services/listings/mails/bounded-parser.ts';
import { alertMail, linkTo } from './alert-mails.ts';

const { linkPattern } = readWorkerConfig({ DATABASE_URL: 'postgres://nobody/nothing' });
const head = 'From: a@example.org\r\nMIME-Version: 1.0\r\n';
const html = (body: string) => Buffer.from(`${head}Content-Type: text/html\r\n\r\n${body}`);
const multipart = (body: string) => Buffer.from(`${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${body}`);

describe('a bounded parser of mails', function () {
  this.timeout(60_000);
  const parse = createBoundedParser(linkPattern);
  const sourceIdsOf = (parsed: Awaited<ReturnType<typeof parse>>) =>
    parsed.kind === 'listings' ? parsed.listings.map((one) => (one.kind === 'listing' ? one.listing.sourceId : one.reason)) : [];
  const refusalOf = async (raw: Buffer, by = parse) => {
    const parsed = await by(raw);
    return parsed.kind === 'listings' ? 'a listing' : parsed.reason;
  };

  it('parses in a thread what the parser parses, with the pattern of links', async () => {
    const parsed = await parse(alertMail());
    expect(sourceIdsOf(parsed)).to.deep.equal(['5551234']);
    const other = await createBoundedParser(/^https:\/\/rent\.example\/(\d+)/i)(
      alertMail({ html: '<a href="HTTPS://rent.example/7">1 Main St</a> €900 per month' }),
    );
    expect(sourceIdsOf(other)).to.deep.equal(['7']);
  });

  it('leaves the bytes it is given as they are', async () => {
    const raw = alertMail();
    const before = Buffer.from(raw);
    await parse(raw);
    expect(raw.equals(before)).to.equal(true);
  });

  it('refuses unread more than 2000 boundary-like lines, as 9 MB of empty parts have', async () => {
    expect(await refusalOf(multipart('--b\r\n\r\n'.repeat(1_200_000)))).to.include('2000 lines');
    expect(await refusalOf(multipart('--b\r\n\r\n'.repeat(1900)))).to.equal('no listing link');
  });

  it('refuses more than 256 KiB of headers, in the head and in parts', async () => {
    expect(await refusalOf(Buffer.from(`${head}X: ${'x'.repeat(262_144)}\r\n\r\n`))).to.include('262144 bytes of headers');
    expect(await refusalOf(Buffer.from('X: y\r\n'.repeat(1_000_000)))).to.include('262144 bytes of headers');
    expect(await refusalOf(multipart(`--b\r\nX: ${'x'.repeat(300_000)}\r\n\r\nbody\r\n--b--`))).to.match(/header/i);
  });

  it('refuses a text part above 2 MiB', async () => {
    expect(await refusalOf(html('<p>x</p>'.repeat(300_000)))).to.equal('a text part is larger than 2 MiB');
  });

  it('ends a thread that takes too long, and parses the next mail', async () => {
    const quick = createBoundedParser(/^((h+)+)+x$/i, { parseMs: 2000 });
    expect(await refusalOf(alertMail({ html: `<a href="${'h'.repeat(40)}">` }), quick)).to.equal('parsing takes longer than 2000 ms');
    expect((await parse(alertMail())).kind).to.equal('listings');
  });

  it('ends a thread that takes too much memory, and parses the next mail', async () => {
    const small = createBoundedParser(linkPattern, { memoryMiB: 16 });
    expect(await refusalOf(html('<a href=x></a>'.repeat(145_000)), small)).to.equal('parsing takes more than 16 MiB');
    expect((await small(alertMail())).kind).to.equal('listings');
  });

  it('takes one mail after the other, and those that wait too long have failed', async () => {
    const busy = createBoundedParser(linkPattern, { waitMs: 1 });
    const results = await Promise.all([refusalOf(alertMail(), busy), refusalOf(alertMail(), busy)]);
    expect(results).to.deep.equal(['a listing', 'the parser was busy with other mails']);
  });

  it('reads many short lines in less than a quarter of the time of postal-mime alone, and in little memory', async () => {
    const raw = html('a\r\n'.repeat(89_000));
    await parse(alertMail());
    const attempts = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const [begun, before] = [performance.now(), process.memoryUsage.rss()];
      expect(await refusalOf(raw)).to.equal('no listing link');
      const [read, grown] = [performance.now(), process.memoryUsage.rss() - before];
      await PostalMime.parse(raw);
      attempts.push({ share: (read - begun) / (performance.now() - read), mebibytes: grown / 1_048_576 });
    }
    expect(Math.min(...attempts.map(({ share }) => share)), JSON.stringify(attempts)).to.be.below(0.25);
    expect(Math.min(...attempts.map(({ mebibytes }) => mebibytes)), JSON.stringify(attempts)).to.be.below(64);
  });

  const hostile: Readonly<Record<string, () => Buffer>> = {
    'elements in each other': () => html('<div><a href=x>'.repeat(100_000)),
    'closing tags of what is not open': () => html(`${'<b>'.repeat(200_000)}${'</i>'.repeat(300_000)}`),
    'attributes without end': () => html(`<a ${'a=1 '.repeat(400_000)}`),
    'blank text in each other': () => html(`${'<i class=address>'.repeat(60_000)}${' '.repeat(900_000)}`),
    'digits before no word': () => html(`<a href="${linkTo(1)}">x</a>${'€1,111'.repeat(300_000)}`),
    'spaces after a price': () => html(`<a href="${linkTo(1)}">x</a>€1${'&nbsp;'.repeat(300_000)}`),
    'a link of 2 MB': () => html(`<a href="${'https://a.safelinks.protection.outlook.com/?url='.repeat(40_000)}">`),
    'parts in parts': () =>
      multipart(Array.from({ length: 900 }, (_, i) => `--b${i || ''}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`).join('')),
    'lines without a character': () => html('\r\n'.repeat(5_000_000)),
    'base64 of nothing': () => Buffer.from(`${head}Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n${'=\r\n'.repeat(3_000_000)}`),
    'flowed text': () => Buffer.from(`${head}Content-Type: text/plain; format=flowed; delsp=yes\r\n\r\n${'> > x \r\n'.repeat(230_000)}`),
    'encoded words': () => Buffer.from(`From: ${'=?utf-8?Q?=41?= '.repeat(15_000)}\r\n\r\nx`),
  };
  for (const [what, make] of Object.entries(hostile)) {
    it(`answers within its bounds to ${what}`, async () => {
      const parsed = await parse(make());
      const kinds = parsed.kind === 'listings' ? parsed.listings.map(({ kind }) => kind) : [parsed.kind];
      expect(kinds).to.not.include('listing');
    });
  }
});
