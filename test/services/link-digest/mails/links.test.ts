// The links of a mail with those of mails that it forwards as attachments.
import { expect } from 'chai';
import { linksOf } from '../../../../services/link-digest/mails/links.ts';
import { parseMail } from '../../../../services/link-digest/mails/parser.ts';

const newsletter = (html: string) =>
  `From: Weekly <weekly@news.example>\r\nSubject: Weekly\r\nList-Unsubscribe: <https://news.example/leave>\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html}`;
const rice = newsletter(
  '<a href="https://a.example/rice">How to cook rice</a><p>by Jane Doe</p><a href="https://news.example/leave">No more of this</a><a href="https://news.example/contact">Contact</a>',
);
let count = 0;
function forwarded(attached: string, { text = 'FYI', type = 'message/rfc822' } = {}) {
  const boundary = `b${(count += 1)}`;
  return `From: ann@home.example\r\nSubject: Fwd: Weekly\r\nContent-Type: multipart/mixed; boundary=${boundary}\r\n\r\n--${boundary}\r\n\r\n${text}\r\n--${boundary}\r\nContent-Type: ${type}; name="weekly.eml"\r\nContent-Disposition: attachment; filename="weekly.eml"\r\n\r\n${attached}\r\n--${boundary}--\r\n`;
}
const found = async (mail: string) => (await linksOf(await parseMail(Buffer.from(mail)))).map(({ url, title, authors }) => [url, title, authors[0]?.name]);
const expected = ['https://a.example/rice', 'How to cook rice', 'Jane Doe'];

describe('linksOf', () => {
  it('finds those of an attached newsletter, by what its own sender does not offer', async () => {
    expect(await found(forwarded(rice))).to.deep.equal([expected]);
    expect(await found(forwarded(rice, { type: 'application/octet-stream' }))).to.deep.equal([expected]);
    expect(await found(forwarded(forwarded(rice)))).to.deep.equal([expected]);
  });

  it('finds those of the mail itself where an attached one cannot be read', async () => {
    const nested = Array.from({ length: 60 }).reduce<string>((inner) => forwarded(inner), rice);
    const tooLong = newsletter(`<p>${'long '.repeat(600_000)}</p>`);
    for (const attached of [nested, tooLong])
      expect(await found(forwarded(attached, { text: 'https://b.example/other', type: 'application/octet-stream' }))).to.have.length(1);
  });

  it('finds each link once, those of the mail itself first', async () => {
    const text = 'See this:\r\nhttps://b.example/other\r\n\r\nAnd that:\r\nhttps://a.example/rice?utm_source=mail';
    expect((await found(forwarded(rice, { text }))).map(([url]) => url)).to.deep.equal(['https://b.example/other', 'https://a.example/rice']);
  });

  it('reads no mail that is attached deeper than three, and no other attachment', async () => {
    expect(await found(forwarded(forwarded(forwarded(forwarded(rice)))))).to.deep.equal([]);
    expect(await found(forwarded(rice, { type: 'application/pdf' }).replaceAll('.eml', '.pdf'))).to.deep.equal([]);
  });
});
