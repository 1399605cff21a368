// Mails as people read them: what stays of their HTML, and what no attack gets through.
import { expect } from 'chai';
import { Parser } from 'htmlparser2';
import { showMail } from '../../../../services/link-digest/mails/shown-mail.ts';
import { attacks } from './attacks.ts';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const part = (headers: readonly string[], body: string) => `--b\r\n${headers.join('\r\n')}\r\n\r\n${body}\r\n`;
const image = (id: string, type = 'image/png', base64 = png) =>
  part([`Content-Type: ${type}`, 'Content-Transfer-Encoding: base64', `Content-ID: <${id}>`, 'Content-Disposition: inline'], base64);

const mailOf = (html: string, more = image('x') + image('svg', 'image/svg+xml') + image('html', 'application/xhtml+xml')) =>
  Buffer.from(
    [
      'From: "Weekly, the" <weekly@news.example>',
      'To: Reader <reader@example.org>, Friends: a@example.org, b@example.org;',
      'Content-Type: multipart/related; boundary=b',
      '',
      `${part(['Content-Type: text/html; charset=utf-8'], html)}${more}--b--`,
      '',
    ].join('\r\n'),
  );
const show = (html: string, hasRemoteImages = false) => showMail(mailOf(html), { hasRemoteImages });
const shown = async (html: string, hasRemoteImages = false) => (await show(html, hasRemoteImages)).html?.trim();

const elements = new Set(
  'a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup data dd del dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark menu nav ol p pre q rb rp rt rtc ruby s samp section small span strike strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr'.split(
    ' ',
  ),
);
const attributes = new Set(
  'style title dir lang align valign width height bgcolor color face size border href rel target src alt referrerpolicy cellpadding cellspacing colspan rowspan nowrap span start type value'.split(
    ' ',
  ),
);

/** Everything in HTML that is not on the lists above, or leads elsewhere. */
function faultsOf(html: string): string[] {
  const faults: string[] = [];
  const parser = new Parser({
    onopentag(name, given) {
      if (!elements.has(name)) faults.push(`<${name}>`);
      for (const [attribute, value] of Object.entries(given)) {
        if (!attributes.has(attribute)) faults.push(`${name} ${attribute}`);
        if (attribute === 'href' && !/^https?:\/\/[^\s"<>]+$/.test(value)) faults.push(`href=${value}`);
        if (attribute === 'href' && given['rel'] !== 'noreferrer noopener nofollow') faults.push(`rel=${given['rel']}`);
        if (attribute === 'src' && !/^(?:https:\/\/|data:image\/(?:png|jpeg|gif|webp|avif|bmp);base64,[\w+/=]+$)/.test(value)) faults.push(`src=${value}`);
        if (attribute === 'style' && /url|expression|\/|\\|@|position|z-index|var\(|image\(|set\(/i.test(value)) faults.push(`style=${value}`);
      }
    },
    oncomment: () => void faults.push('comment'),
    onprocessinginstruction: (_, data) => void faults.push(data),
  });
  parser.end(html);
  return faults;
}

describe('a mail as people read it', () => {
  it('has at least 200 attacks to withstand', () => void expect(attacks.length).to.be.above(200));

  for (const [index, attack] of attacks.entries())
    it(`withstands attack ${index}: ${JSON.stringify(attack.slice(0, 90))}`, async () => {
      for (const hasRemoteImages of [false, true])
        for (const html of [attack, `<p>before</p>${attack}<p>behind</p>`, `<html><head>${attack}</head><body>${attack}</body></html>`]) {
          const cleaned = (await shown(html, hasRemoteImages)) ?? '';
          expect(faultsOf(cleaned), cleaned).to.deep.equal([]);
          if (!hasRemoteImages) expect(cleaned).not.to.match(/src="https?:/);
          // Cleaned again it stays as it is: a browser reads it as this parser does.
          expect(await shown(cleaned, hasRemoteImages)).to.equal(cleaned);
        }
    });

  it('keeps the layout of newsletters: tables, styles, headings, lists', async () => {
    const html =
      '<table width="600" cellpadding="0" bgcolor="#fff"><tbody><tr><td colspan="2" style="padding:0 24px 12px;color:rgb(1, 2, 3);font-family:\'Open Sans\',Arial"><h2>Weekly</h2><ul><li>one</li></ul></td></tr></tbody></table>';
    expect(await shown(html)).to.equal(html.replaceAll("'Open Sans'", '&#39;Open Sans&#39;').replaceAll('&#39;', "'"));
  });

  it('has links in new windows that tell no one where they were followed, whatever the mail says of them', async () => {
    const link = '<a href="https://blog.example/a?x=1&amp;y=2" rel="noreferrer noopener nofollow" target="_blank">A</a>';
    expect(await shown('<a href=" https://blog.example/a?x=1&amp;y=2" rel="opener" target="_top" ping="https://x.example">A</a>')).to.equal(link);
    expect(await shown('<a href="#top">A</a><a href="mailto:a@example.org">B</a><a name="c">C</a>')).to.equal('<a>A</a><a>B</a><a>C</a>');
  });

  it('has small images of the mail in itself, and the words of others', async () => {
    expect(await shown('<img src="cid:x" alt="Logo">')).to.equal(`<img alt="Logo" src="data:image/png;base64,${png}" />`);
    expect(await shown(`<img src="data:image/png;base64,${png}">`)).to.equal(`<img src="data:image/png;base64,${png}" />`);
    expect(await shown('<img src="cid:none" alt="Logo"><img src="cid:none">')).to.equal('<img alt="Logo" />');
    const large = Buffer.alloc(131_073).toString('base64').replaceAll(/.{76}/g, '$&\r\n');
    const { html } = await showMail(mailOf('<img src="cid:large" alt="Photo">', image('large', 'image/png', large)), { hasRemoteImages: true });
    expect(html?.trim()).to.equal('<img alt="Photo" />');
  });

  it('has no more than 1 MiB of images in itself, however often they are shown', async () => {
    const hundred = Buffer.alloc(100_000).toString('base64').replaceAll(/.{76}/g, '$&\r\n');
    const { html } = await showMail(mailOf('<img src="cid:l" alt="x">'.repeat(200), image('l', 'image/png', hundred)), { hasRemoteImages: false });
    expect(html?.match(/src="data:/g)).to.have.length(10);
  });

  it('counts images on other hosts, and has them with their https addresses only when asked; pixels that count readers never', async () => {
    const html =
      '<img src="https://a.example/1.png" alt="One"><img src="http://a.example/2.png" alt="Two"><img src="https://a.example/p.gif" width="1" height="1">';
    expect(await show(html)).to.include({ remoteImages: 1, html: '<img alt="One" /><img alt="Two" />\n' });
    expect(await shown(html, true)).to.equal('<img alt="One" src="https://a.example/1.png" referrerpolicy="no-referrer" /><img alt="Two" />');
  });

  it('has sender and recipients, and its text as it was written', async () => {
    const mail = await showMail(Buffer.from('From: a@example.org\r\n\r\n<b>Text & more</b>'), { hasRemoteImages: false });
    expect(mail).to.deep.include({ from: { name: '', address: 'a@example.org' }, to: [], html: null, text: '<b>Text & more</b>\n' });
    const { from, to, text } = await show('<p>x</p>');
    expect(from).to.deep.equal({ name: 'Weekly, the', address: 'weekly@news.example' });
    expect(to.map(({ address }) => address)).to.deep.equal(['reader@example.org', 'a@example.org', 'b@example.org']);
    expect(text).to.equal(null);
  });

  it('is read as UTF-8 where it is, whatever its charset says', async () => {
    const raw = Buffer.from('Content-Type: text/html; charset=us-ascii\r\n\r\n<p>Café – 2 €</p>');
    expect((await showMail(raw, { hasRemoteImages: false })).html?.trim()).to.equal('<p>Café – 2 €</p>');
  });

  it('may have nothing in it', async () => {
    expect(await showMail(Buffer.from(''), { hasRemoteImages: false })).to.deep.equal({
      kind: 'shown',
      from: null,
      to: [],
      text: null,
      html: null,
      remoteImages: 0,
    });
  });
});
