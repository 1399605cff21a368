// The text of alert mails that is read: that of mails within mails, and none that a mail program does not show.
import { expect } from 'chai';
import { parseAlertMail } from '../../../../services/listings/mails/parser.ts';
import { readServiceConfig } from '../../../../services/listings/config.ts';
import { alertMail, card, linkTo } from './alert-mails.ts';
import { expectLinearTime } from '../../../support/linear-time.ts';

const { linkPattern } = readServiceConfig({ DATABASE_URL: 'postgres://nobody/nothing', Listings__AccessTokens: 'a token of the tests' });
const parse = (raw: Buffer) => parseAlertMail(raw, linkPattern);
/** The first listing of a mail. */
async function listingIn(raw: Buffer) {
  const parsed = await parse(raw);
  const [first] = parsed.kind === 'listings' ? parsed.listings : [];
  if (first?.kind !== 'listing') throw new Error(JSON.stringify(first ?? parsed));
  return first.listing;
}

describe('a mail that is forwarded', () => {
  const lines = (base64: string) => base64.replace(/.{76}/g, '$&\r\n');
  let count = 0;
  const forwarded = (head: string, content: Buffer | string) => {
    const boundary = `outer${(count += 1)}`;
    return Buffer.concat([
      Buffer.from(`From: a@example.org\r\nContent-Type: multipart/mixed; boundary=${boundary}\r\n\r\n--${boundary}\r\n\r\nFYI\r\n`),
      Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
  };
  const attached = (raw: Buffer) => forwarded('Content-Type: message/rfc822\r\nContent-Disposition: attachment', raw);

  it('as an attachment is read, in any encoding and by its name', async () => {
    const raw = alertMail({ html: card({ price: '€1,234 per month' }) });
    const base64 = lines(raw.toString('base64'));
    for (const mail of [
      attached(raw),
      forwarded('Content-Type: message/rfc822', raw),
      forwarded('Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64', base64),
      forwarded('Content-Type: application/octet-stream; name="alert.EML"\r\nContent-Transfer-Encoding: base64', base64),
      attached(attached(raw)),
    ])
      expect(await listingIn(mail)).to.include({ priceMonthly: 1234 });
  });

  it('is read with all others that are attached', async () => {
    const [one, two] = [1, 2].map((id) => alertMail({ html: card({ id }) }).toString());
    const both = forwarded('Content-Type: message/rfc822', `${one}\r\n--outer${count + 1}\r\nContent-Type: message/rfc822\r\n\r\n${two}`);
    const parsed = await parse(both);
    expect(parsed.kind === 'listings' && parsed.listings.map((found) => found.kind === 'listing' && found.listing.sourceId)).to.deep.equal(['1', '2']);
  });

  it('is not read where the mail around it has a listing of its own, nor deeper than three', async () => {
    const raw = alertMail();
    expect(await parse(attached(attached(attached(attached(raw)))))).to.include({ kind: 'ignored' });
    expect(await parse(forwarded('Content-Type: application/pdf', raw))).to.include({ kind: 'ignored' });
    const both = Buffer.from(
      attached(raw)
        .toString()
        .replace('FYI', `€900 per month\r\n1 Main St, D02 X285\r\n${linkTo(1)}`),
    );
    expect(await listingIn(both)).to.include({ sourceId: '1', priceMonthly: 900 });
  });

  it('as quoted text is read', async () => {
    const quoted = (mark: string) =>
      alertMail({ text: ['1 Main St, D02 X285', '€900 per month', '2 Bed', linkTo(1)].map((line) => `${mark}${line}`).join('\r\n') });
    for (const mark of ['> ', '>', '> > ', '>> '])
      expect(await listingIn(quoted(mark)), mark).to.include({ address: '1 Main St, D02 X285', priceMonthly: 900, beds: 2 });
  });
});

describe('text that is not shown', () => {
  const behind = (html: string) => listingIn(alertMail({ html: `${html}${card({ price: '€1,850 per month' })}` }));
  const preview = `€3,000 per month, 5 Bed House <a href="${linkTo(99)}">x</a>`;

  for (const style of [
    'display:none',
    'color:red; display : none !important',
    'visibility:hidden',
    'mso-hide:all',
    'font-size:0',
    'font-size:1px;line-height:1px;color:#fff',
    'max-height:0;overflow:hidden',
    'max-width:0px',
    'height:0;overflow:hidden',
    'overflow:hidden;width:0px',
    'opacity:0',
    'position:absolute;left:-9999px',
    'text-indent:-9999px',
  ])
    it(`by ${style} tells nothing`, async () => expect(await behind(`<div style="${style}">${preview}</div>`)).to.include({ priceMonthly: 1850, beds: 2 }));

  for (const style of ['height:0', 'font-size:10px', 'opacity:0.9', 'max-height:none', 'text-indent:-1em', 'left:-9px'])
    it(`does not mean ${style}`, async () => expect(await behind(`<div style="${style}">${preview}</div>`)).to.include({ priceMonthly: 3000 }));

  for (const sheet of [
    '.pre{display:none}',
    'div.x, .PRE , .pre{ color:red; DISPLAY:none!important }',
    '/* } */ .pre { font-size: 0 }',
    'p{}.pre{opacity:0}',
    '@import url(a;b.css); .pre{display:none}',
    '@charset "x";@import url(https://fonts.example.org/css2?family=A:wght@4;5);.pre{font-size:0px}',
  ])
    it(`by the style sheet ${sheet} tells nothing`, async () =>
      expect(await behind(`<style>${sheet}</style><div class="a pre">${preview}</div>`)).to.include({ priceMonthly: 1850, beds: 2 }));

  for (const sheet of ['@media (max-width:600px){ .pre{display:none} }', '.other .pre{display:none}', '.pre:hover{display:none}', '.pre', '.pre{', '@media{{{'])
    it(`does not mean the style sheet ${sheet}`, async () =>
      expect(await behind(`<style>${sheet}</style><div class="pre">${preview}</div>`)).to.include({ priceMonthly: 3000 }));

  for (const within of ['<p style="font-size:14px">', '<p style="font:14px/1 Arial">', '<style>.body{font-size:13px}</style><p class="body">'])
    it(`does not mean ${within} in an element of no font size, as MJML writes it`, async () =>
      expect(await behind(`<td style="direction:ltr;font-size:0px;padding:20px">${within}${preview}</p></td>`)).to.include({ priceMonthly: 3000 }));

  it('of no font size is inherited, also in parts of it', async () => {
    for (const style of ['color:red', 'font-size:1.5em', 'font-size:inherit', 'font-size:0%'])
      expect(await behind(`<div style="font-size:0"><p style="${style}">${preview}</p></div>`), style).to.include({ priceMonthly: 1850, beds: 2 });
  });

  it('of no font size leaves images, and links with them', async () => {
    const html = `<td style="font-size:0px"><a href="${linkTo(7)}"><img src="https://media.daft.ie/7.jpg"></a><p style="font-size:13px">€900 per month<br>1 Main St, D02 X285</p></td>`;
    expect(await listingIn(alertMail({ html }))).to.include({ sourceId: '7', priceMonthly: 900, mainImageUrl: 'https://media.daft.ie/7.jpg' });
  });

  it('is found in style sheets in the time of their length', async () => {
    for (const part of ['/*', '@a', '@a url(', '@import;', '@media{', '.a', '{', '}', 'a{b'])
      await expectLinearTime((parts) => behind(`<style>${part.repeat(parts * 25_000)}</style>`), part);
  });
});
