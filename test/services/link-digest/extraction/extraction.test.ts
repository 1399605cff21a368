// The extraction of a newsletter: every rule of "Extraction" on a mail that shows it.
import { expect } from 'chai';
import type { ParsedMail } from '../../../../services/link-digest/extraction/extraction.ts';
import { extract } from '../../../../services/link-digest/extraction/extraction.ts';
import { defaultRules } from '../../../../services/link-digest/extraction/rules.ts';

type Parts = Partial<Pick<ParsedMail, 'html' | 'text' | 'from' | 'sender' | 'unsubscribe'>>;
const mail = ({ html = null, text = null, from = null, sender = null, unsubscribe = [] }: Parts): ParsedMail => ({
  subject: null,
  date: null,
  from,
  sender,
  to: null,
  html,
  text,
  unsubscribe,
});
const linksOf = (html: string) => extract(mail({ html }));
const urlsOf = (html: string) => linksOf(html).map(({ url }) => url);
const titleOf = (html: string) => linksOf(html)[0]?.title;
const authorsOf = (html: string) => linksOf(html)[0]?.authors;
const inText = (text: string) => extract(mail({ text })).map(({ url, title }) => [url, title]);

const url = 'https://a.example/how-to-cook-rice';
const a = (text: string, href = url) => `<a href="${href}">${text}</a>`;
const jane = { name: 'Jane Doe', handle: null, customDomain: 'a.example' };

describe('the links that extract finds', () => {
  it('are the anchors of the HTML part with absolute http and https targets, in order', () => {
    expect(
      urlsOf(`${a('One', 'https://a.example/1')}<p>${a('Two', 'HTTP://b.example/2')}</p>${a('Three', '/3')}${a('Four', '//c.example/4')}<a name=x>Five</a>`),
    ).to.deep.equal(['https://a.example/1', 'http://b.example/2']);
  });

  it('are not those of the text part where there is HTML', () => {
    expect(extract(mail({ html: a('Rice'), text: 'https://b.example/other' })).map((link) => link.url)).to.deep.equal([url]);
  });

  it('have the entities of their targets decoded as in attributes, whatever their quotes', () => {
    const target = (written: string) => urlsOf(`<a href=${written}>Rice</a>`);
    expect(target('"https://a.example/?a=1&amp;b=2&copy=3"')).to.deep.equal(['https://a.example/?a=1&b=2&copy=3']);
    expect(target(`'https://a.example/?a="&amp;b=<i>"'`)).to.deep.equal(['https://a.example/?a=%22&b=%3Ci%3E%22']);
    expect(target('https://a.example/?a=1&#38;b=2')).to.deep.equal(['https://a.example/?a=1&b=2']);
  });

  it('keep the URL as found beside the identity', () => {
    const foundUrl = `https://www.google.com/url?q=${encodeURIComponent(`${url}?utm_source=x`)}`;
    expect(linksOf(a('Rice', ` ${foundUrl}\n`))[0]).to.deep.include({ url, foundUrl });
  });

  for (const scheme of ['mailto:a@a.example', 'tel:+3531', 'javascript:alert(1)', 'data:text/html,x', 'cid:logo@a.example']) {
    it(`leave ${scheme.split(':')[0] ?? ''} out`, () => expect(urlsOf(a('Some text', scheme))).to.deep.equal([]));
  }

  for (const word of ['footer', 'social', 'unsubscribe', 'email-Footer-links', 'm_12social', 'gmail_signature', 'moz-signature', 'AppleMailSignature']) {
    it(`leave out anchors in or with a class or an id that contains ${word}`, () => {
      expect(urlsOf(`<a class="x ${word}" href="${url}">Rice</a>`), 'with').to.deep.equal([]);
      expect(urlsOf(`<div class="${word}"><table><tr><td>${a('Rice')}</td></tr></table></div>`), 'in').to.deep.equal([]);
      expect(urlsOf(`<td id="template-${word.toUpperCase()}">${a('Rice')}</td>`), 'id').to.deep.equal([]);
      expect(urlsOf(`<div class="${word}">x</div>${a('Rice')}`), 'after').to.deep.equal([url]);
    });
  }

  for (const host of ['facebook.com', 'twitter.com', 'x.com', 'linkedin.com', 'instagram.com', 'youtube.com', 'pinterest.com']) {
    it(`leave ${host} and its subdomains out, and no other host that ends alike`, () => {
      expect(urlsOf(`${a('Rice', `https://${host}/p/1`)}${a('Rice', `https://www.${host}/p/1`)}${a('Rice', `https://my${host}/p`)}`)).to.deep.equal([
        `https://my${host}/p`,
      ]);
    });
  }

  const paths = [
    'unsubscribe',
    'Unsubscribe.aspx',
    'newsletter/unsubscribe/123',
    'opt-out',
    'preferences',
    'email-preferences?u=1',
    'preference_center',
    'view-in-browser/7',
    'viewonline',
    'action/disable_email',
    'my/preferences/emails',
    'unsubscribe/newsletter',
  ];
  for (const path of paths) it(`leave out the path /${path}`, () => expect(urlsOf(a('Rice', `https://a.example/${path}`))).to.deep.equal([]));

  for (const [how, open] of Object.entries({
    'display:none': '<div style="color:red; display:none">',
    hidden: '<div hidden>',
    visibility: '<p style="VISIBILITY : hidden">',
    'mso-hide': '<span style="mso-hide:all">',
    'a font size of 0': '<span style="font-size:0px;">',
    'the shorthand of a font size of 0': '<p style="font: 0/0 a">',
    'a font size of 0 that matters': '<div style="font-size: 0 !important">',
    'a height of 0': '<div style="max-height:0;overflow:hidden">',
  }))
    it(`leave out invisible links: ${how}`, () => {
      expect(urlsOf(`${open}${a('Hidden', 'https://b.example/hidden')}</div></p></span>${a('Rice')}`)).to.deep.equal([url]);
      expect(titleOf(`<h2>Heading</h2>${a(`${open}x</div></p></span><img src="p.png">`)}`)).to.equal('Heading');
    });

  it('are those of a newsletter made with MJML, whose cells have a font size of 0 and whose texts have their own', () => {
    const cell = (content: string) =>
      `<table role="presentation" style="width:100%;"><tbody><tr><td style="direction:ltr;font-size:0px;padding:20px 0;text-align:center;"><div class="mj-column-per-100" style="font-size:0px;text-align:left;display:inline-block;width:100%;"><table width="100%"><tbody><tr><td align="left" style="font-size:0px;padding:10px 25px;word-break:break-word;">${content}</td></tr></tbody></table></div></td></tr></tbody></table>`;
    const text = (content: string) => `<div style="font-family:Ubuntu, Arial;font-size:13px;line-height:1;color:#000000;">${content}</div>`;
    const html = `<!doctype html><html><body style="word-spacing:normal;"><div style="display:none;font-size:1px;max-height:0px;opacity:0;">${a('Preview', 'https://b.example/preview')}</div><div>
      ${cell(`<a href="https://b.example/picture" target="_blank"><img src="p.png" style="border:0;width:100%;font-size:13px;" width="550"></a>`)}
      ${cell(text(`${a('How to cook rice')} by Jane Doe`))}
      ${cell(`<table><tr><td bgcolor="#414141"><a href="https://b.example/button" style="display:inline-block;font-size:13px;">The button of a story</a></td></tr></table>`)}
      ${cell(a('Too small to read', 'https://b.example/tiny'))}
      ${cell(a('<img src="p.png" width="1" height="1">', 'https://b.example/open'))}
      ${cell(`<p style="font:14px/1.5 Arial">${a('In the shorthand', 'https://b.example/shorthand')}</p>`)}
      ${cell(`<p style="font-size:1.2em">${a('Nothing times 1.2', 'https://b.example/relative')}</p>`)}
      </div></body></html>`;
    const links = linksOf(html);
    expect(links.map((link) => link.url)).to.deep.equal(['https://b.example/picture', url, 'https://b.example/button', 'https://b.example/shorthand']);
    expect(links.slice(1).map(({ title }) => title)).to.deep.equal(['How to cook rice', 'The button of a story', 'In the shorthand']);
    expect(links[1]?.authors).to.deep.equal([jane]);
  });

  it('leave out an anchor around a pixel, and keep one around a picture', () => {
    const pixel = (attributes: string) => urlsOf(a(`<img src="p.png" ${attributes}>`, 'https://b.example/open'));
    for (const attributes of ['width="1" height="1"', 'height=0 width=0', 'width="1px" height="1px" alt="A pixel"'])
      expect(pixel(attributes)).to.deep.equal([]);
    for (const attributes of ['width="600" height="1"', 'width="100" height="100"', '']) expect(pixel(attributes)).to.deep.equal(['https://b.example/open']);
    for (const attributes of ['width="10" height="10"', 'height=24', 'style="border:0; width: 31px"']) expect(pixel(attributes), attributes).to.deep.equal([]);
    expect(urlsOf(a('<img width="24" src="a.png"><img width="240" src="b.png">'))).to.deep.equal([url]);
    expect(urlsOf(a('<img width="24" src="a.png">Rice'))).to.deep.equal([url]);
    expect(urlsOf(a('<img width="1" height="1">Rice'))).to.deep.equal([url]);
    expect(urlsOf(a('Rice<img width="1" height="1">'))).to.deep.equal([url]);
    expect(urlsOf(a('<img width="300" height="200"><img width="1" height="1">'))).to.deep.equal([url]);
  });

  it('leave out preferences, leaving and the online version behind a click counter of another host', () => {
    const from = 'weekly@news.example';
    const behind = (text: string, href: string) => extract(mail({ html: a(text, href), from })).length;
    for (const text of ['Preferences', 'Settings', 'Contact us']) {
      for (const key of ['c/AaB3xQ9zLm02kkPq', 'ls/click/7f3a9c1e-0b7d-4f0a-9d57-1a2b3c4d5e6f', 'f/a/Zk1_2Q%3D%3D34567890'])
        expect(behind(text, `https://clicks.counter.example/${key}`), `${text} ${key}`).to.equal(0);
      for (const path of ['my-choices', 'the-settings-of-2026-in-detail', 'posts/contact']) expect(behind(text, `https://b.example/${path}`), path).to.equal(1);
    }
    for (const text of ['Hier abmelden', 'Zur Online-Version', 'Zur Webversion', 'Online-Ansicht', 'Vom Newsletter abmelden'])
      expect(urlsOf(`${a(text, 'https://clicks.counter.example/x/7f3a')}${a('Rice')}`), text).to.deep.equal([url]);
    expect(urlsOf(a('Preferences in systems of belief'))).to.deep.equal([url]);
  });

  it('have no characters in their titles that turn the direction of a text', () =>
    expect(titleOf(a('How to \u202ecook\u2066 rice'))).to.equal('How to cook rice'));

  it('keep an article about unsubscribing', () => {
    expect(urlsOf(a('Why readers unsubscribe, and how to win them back', 'https://a.example/why-readers-unsubscribe'))).to.have.length(1);
    expect(urlsOf(a('How to unsubscribe from everything', 'https://a.example/how-to-unsubscribe'))).to.have.length(1);
    expect(urlsOf(a('Browser preferences: a short history', 'https://a.example/browser-preferences'))).to.have.length(1);
    expect(urlsOf(a('Measuring a webview', 'https://a.example/webview/performance'))).to.have.length(1);
    expect(urlsOf(a('Shy bidders', 'https://a.example/preferences/revealed'))).to.have.length(1);
  });

  const texts = [
    'Unsubscribe',
    'unsubscribe here.',
    'Unsubscribe from this list',
    'Click here to unsubscribe',
    'Opt out',
    'Update your preferences',
    'Manage email preferences',
    'Manage your subscription',
  ];
  texts.push(
    'Email settings',
    'View in browser',
    'View this email in your browser',
    'Read online',
    'Open in app',
    'Web version',
    'Abmelden',
    'Im Browser ansehen',
    'Se désabonner',
    'Voir en ligne',
    'Darse de baja',
    'Para cancelar a assinatura',
    'Leave this list',
    'Cancel this alert',
    'Manage your account',
    'Having trouble? View this email in your browser',
    'Get the iPhone app',
    'Receive this alert as RSS feed',
  );
  for (const text of texts) it(`leave out the text “${text}”`, () => expect(urlsOf(a(text, 'https://click.a.example/x7'))).to.deep.equal([]));

  for (const text of ['Contact', 'Privacy', 'Terms of service', 'Settings', 'Preferences', 'Impressum']) {
    it(`leave out the text “${text}” where it leads to a host of the sender`, () => {
      const found = (href: string, from: string | null = 'weekly@mail.a.example') => extract(mail({ html: a(text, href), from })).length;
      expect(
        ['https://a.example/x', 'https://www.a.example/x', 'https://mail.a.example/x'].map((href) => found(href)),
        'of the sender',
      ).to.deep.equal([0, 0, 0]);
      expect(
        ['https://b.example/x', 'https://nota.example/x'].map((href) => found(href)),
        'of others',
      ).to.deep.equal([1, 1]);
      expect(found('https://b.example/x', null), 'of an unknown sender').to.equal(0);
    });
  }

  it('leave out the home page of a host that has other links, where it is the sender’s or has no text', () => {
    const html = (home: string) => `${home}${a('Rice')}`;
    const found = (home: string, from: string) => extract(mail({ html: html(home), from })).map((link) => link.url);
    expect(found(a('The Rice Letter', 'https://a.example/'), 'letter@a.example'), 'of the sender').to.deep.equal([url]);
    expect(found(a('The Rice Museum', 'https://a.example/'), 'letter@b.example'), 'of another').to.deep.equal(['https://a.example/', url]);
    expect(found(a('<img>', 'https://a.example/?ref=1'), 'letter@b.example'), 'a logo').to.deep.equal([url]);
    expect(extract(mail({ html: a('The Rice Letter', 'https://a.example/'), from: 'letter@a.example' })), 'alone').to.have.length(1);
  });

  it('leave out what follows “because you signed up”', () => {
    expect(inText('You get this because you signed up at https://a.example/.')).to.deep.equal([]);
  });

  it('leave out a “here” in a sentence about leaving', () => {
    expect(urlsOf(`<p>The end. ${a('Click here', 'https://click.a.example/x7')} to unsubscribe.</p>`)).to.deep.equal([]);
    expect(urlsOf(`<p>To unsubscribe, click ${a('here', 'https://click.a.example/x7')}.</p>`)).to.deep.equal([]);
    expect(urlsOf(`<p>To learn how rice is cooked, click ${a('here')}.</p>`)).to.deep.equal([url]);
  });

  it('leave out what List-Unsubscribe names, tracked or wrapped', () => {
    const unsubscribe = ['mailto:leave@a.example', 'https://a.example/l?u=1&utm_source=x'];
    const html = `${a('Goodbye', 'https://a.example/l?u=1#x')}${a('Rice')}`;
    expect(extract(mail({ html, unsubscribe })).map((link) => link.url)).to.deep.equal([url]);
  });

  const pages = ['@jane', '@jane/followers', 'me/settings', 'm/signin?x=1', 'settings', 'plans', 'membership', ''];
  for (const page of pages) {
    it(`leave out the page medium.com/${page}`, () => expect(urlsOf(a('Some text', `https://medium.com/${page}?source=email-1`))).to.deep.equal([]));
  }

  it('leave out the pages of a platform that the rules add', () => {
    const rules = { ...defaultRules, platforms: [{ hosts: ['p.example'], handles: [], pages: [/^p\.example\/people\//] }] };
    expect(extract(mail({ html: a('Jane', 'https://p.example/people/jane') }), rules)).to.deep.equal([]);
  });
});

describe('the title that extract finds', () => {
  it('is the text of the anchor, its white space collapsed, its entities decoded', () => {
    expect(titleOf(a('\n  How to <b>cook</b>&nbsp; rice &amp;\t&#8220;beans&#8221;\u200b '))).to.equal('How to cook rice & “beans”');
  });

  it('has its entities decoded once, also those that look like tags', () => {
    expect(titleOf(a('AT&T: &lt;b&gt; is not &amp;lt;b&amp;gt; &copy 2026'))).to.equal('AT&T: <b> is not &lt;b&gt; © 2026');
  });

  it('is else the nearest heading', () => {
    expect(titleOf(`<h2>How to cook rice</h2><p>Slowly.</p>${a('<img src="x.png" alt="a pot">')}`)).to.equal('How to cook rice');
  });

  it('is the heading of the same card, whichever comes first', () => {
    const card = (n: number) => `<div>${a('<img>', `https://a.example/${n}`)}<h3>Title ${n}</h3><p>Words.</p></div>`;
    expect(linksOf(card(1) + card(2)).map(({ title }) => title)).to.deep.equal(['Title 1', 'Title 2']);
  });

  it('is else the last segment of the path', () => {
    expect(titleOf(a('<img>', `${url}/?a=1`))).to.equal('how-to-cook-rice');
    expect(titleOf(a('', 'https://a.example/riz-%C3%A9tuv%C3%A9'))).to.equal('riz-étuvé');
  });

  it('is else the host', () => expect(titleOf(a('<img>', 'https://www.a.example/'))).to.equal('www.a.example'));

  it('is the best text where the same link is an image, a title and “read more”', () => {
    const html = `${a('<img>', `${url}?utm_content=image`)}<p>${a('Read more →', `${url}?utm_content=more`)}</p><h2>${a('How to cook rice')}</h2>${a('Slowly, with a lid on, and without stirring.')}`;
    expect(linksOf(html).map(({ title }) => title)).to.deep.equal(['How to cook rice']);
  });

  it('is the heading within an anchor that is a whole card', () => {
    expect(titleOf(a('<h2>How to cook rice</h2><p>Slowly.</p>'))).to.equal('How to cook rice');
  });

  for (const text of ['Read more', 'Read more of this post', 'here', 'Continue reading →', 'Weiterlesen', 'Lire la suite', 'Leer más', '5 min read', url]) {
    it(`is the heading where the text is “${text}”`, () => expect(titleOf(`<h2>Rice</h2><p>Words. ${a(text)}</p>`)).to.equal('Rice'));
  }

  it('is that of a text where the anchor shows its address', () => {
    const shown = a(url, `${url}?utm_source=x`);
    expect(titleOf(`<h2>Grain</h2><p>How to cook rice<br>${shown}</p>`), 'below a heading').to.equal('How to cook rice');
    expect(titleOf(`<div>How to cook rice:</div><div>${shown}</div>`), 'without headings').to.equal('How to cook rice');
    expect(urlsOf(`<p>To unsubscribe, visit ${a('https://a.example/?x=7', 'https://a.example/?x=7')}</p>`), 'noise').to.deep.equal([]);
  });

  it('is that of a card that is one link, by its class', () => {
    const card = '<div><div class="kg-bookmark-title">Rice in orbit</div><div>A field that floats.</div><span>Space Weekly</span></div>';
    expect(titleOf(a(card))).to.equal('Rice in orbit');
  });

  it('is a line in bold type, in a mail without headings', () => {
    const card = `<b>Rice</b><p><b>By Jane Doe</b></p><p>It is <b>old</b>. ${a('<b>Read more</b>')}</p>`;
    expect(linksOf(card)[0]).to.deep.include({ title: 'Rice', authors: [jane] });
    expect(titleOf(`<h2>Grain</h2>${card}`)).to.equal('Grain');
  });

  it('is what the text says, where there is no heading', () => expect(titleOf(`<p>Words. ${a('Read more')}</p>`)).to.equal('Read more'));

  it('is at most 500 characters long, and can be stored', () => {
    expect([...(titleOf(a('😀'.repeat(490) + '\u0000'.repeat(100))) ?? '')].length).to.be.at.most(500);
    expect(titleOf(a('a&#0;b\ud800'))).to.equal('a\ufffdb\ufffd');
  });
});

describe('the authors that extract finds', () => {
  const platforms = [
    ['https://medium.com/@jane/rice-1a2b', 'jane'],
    ['https://medium.com/%40jane/rice-1a2b', 'jane'],
    ['https://jane.medium.com/rice-1a2b', 'jane'],
    ['https://jane.substack.com/p/rice', 'jane'],
    ['https://open.substack.com/pub/jane/p/rice', 'jane'],
    ['https://dev.to/jane/rice-1a2b', 'jane'],
  ] as const;
  for (const [href, handle] of platforms) {
    it(`are the handle of ${href}, without @, without a byline too`, () => {
      expect(authorsOf(a('Rice', href))).to.deep.equal([{ name: handle, handle, customDomain: null }]);
    });
  }

  it('are named by the byline, with the handle of the platform', () => {
    expect(authorsOf(`<h2>${a('Rice', 'https://medium.com/@jd/rice-1a2b')}</h2><p>by Jane Doe</p>`)).to.deep.equal([
      { name: 'Jane Doe', handle: 'jd', customDomain: null },
    ]);
  });

  it('are of a domain with a byline only', () => {
    expect(authorsOf(`<h2>${a('Rice')}</h2><p>By Jane Doe</p>`)).to.deep.equal([jane]);
    expect(authorsOf(`<h2>${a('Rice')}</h2><p>Jane Doe</p>`)).to.deep.equal([]);
  });

  it('are none of a platform’s own page without a handle', () => {
    expect(authorsOf(`<h2>${a('Rice', 'https://medium.com/some-magazine/rice-1a2b')}</h2><p>By Jane Doe</p>`)).to.deep.equal([]);
  });

  const after = (...siblings: readonly string[]) => `<div><h2>${a('Rice')}</h2>${siblings.join('')}</div>`;
  const bylines = [
    ['in the first sibling', after('<p>by Jane Doe</p>')],
    ['in the third sibling', after('<p>Slowly.</p><p>With a lid on.</p><p>by Jane Doe</p>')],
    ['behind the link, in its own parent', `<p>${a('Rice')} by Jane Doe</p>`],
    ['as text between elements', `<div><b>${a('Rice')}</b> by Jane Doe<br>Slowly.</div>`],
    ['as a link', after(`<p>By ${a('Jane Doe', 'https://a.example/about')}</p>`)],
    ['in the next row of a table', `<table><tr><td>${a('Rice')}</td></tr><tr><td>By Jane Doe</td></tr></table>`],
    ['behind a reading time', after('<p>4 min read · by Jane Doe</p>')],
    ['before a date', after('<p>by Jane Doe on 3 May</p>')],
    ['after a sentence', after('<p>Slowly, with a lid on. By Jane Doe.</p>')],
    ['after a sentence, in lower case', `<p>${a('Rice')} Some text. by Jane Doe</p>`],
    ['of a review', `<p>${a('Rice')}, reviewed by Jane Doe</p>`],
    ['before a sentence', after('<p>by Jane Doe. With a map.</p>')],
    ['in German', after('<p>Von Jane Doe</p>')],
  ] as const;
  for (const [where, html] of bylines) it(`are read from a byline ${where}`, () => expect(authorsOf(html)).to.deep.equal([jane]));

  const none = [
    ['in the fourth sibling', after('<p>One.</p><p>Two.</p><p>Three.</p><p>by Jane Doe</p>')],
    ['beyond a heading', after('<h3>Beans</h3><p>by Jane Doe</p>')],
    ['of the next link', `<ul><li>${a('Rice')}</li><li>${a('Beans', 'https://b.example/')}<br>by Jane Doe</li></ul>`],
    ['of no name', after('<p>By the numbers: rice</p>')],
    ['of a day after a sentence', after('<p>It rained. By Monday</p>')],
    ['of a day', after('<p>By Monday, the rice was cooked</p>')],
    ['of a sender', after('<p>Powered by Mail Wind</p>')],
  ] as const;
  for (const [where, html] of none) it(`are none ${where}`, () => expect(authorsOf(html)).to.deep.equal([]));

  const names = [
    ['by Jane Doe and John Roe', ['Jane Doe', 'John Roe']],
    ['By Ana María de la Cruz, Seán O’Neill & Jean-Luc Roy', ['Ana María de la Cruz', 'Seán O’Neill', 'Jean-Luc Roy']],
    ['Written by J. R. Roe.', ['J. R. Roe']],
    ['BY JANE DOE | 5 MIN', ['JANE DOE']],
    ['by Jane Doe, Senior Editor', ['Jane Doe']],
    ['by Jane Doe, John Smith', ['Jane Doe', 'John Smith']],
    ['by Jane Doe, John Smith, Mary Roe · 5 min', ['Jane Doe', 'John Smith', 'Mary Roe']],
    ['by Jane Doe, Staff Writer', ['Jane Doe']],
    ['by Jane Doe, New York', ['Jane Doe']],
    ['by Jane Doe, Dublin, Ireland', ['Jane Doe']],
    ['by Jane Doe, The Irish Times', ['Jane Doe']],
    ['by Dr. Jane Doe Jr. and J.-L. Roe', ['Dr. Jane Doe Jr.', 'J.-L. Roe']],
    ['by Madonna', ['Madonna']],
  ] as const;
  for (const [byline, expected] of names) {
    it(`are all of “${byline}”`, () => expect(authorsOf(after(`<p>${byline}</p>`))?.map(({ name }) => name)).to.deep.equal(expected));
  }
});
