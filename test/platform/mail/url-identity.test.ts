// One identity for each address: every rule of "URL identity", and that applying it again changes nothing.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { hashOf, identityOf } from '../../../services/platform/mail/url-identity.ts';

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const safeLink = (url: string) => `https://eur01.safelinks.protection.outlook.com/?url=${encodeURIComponent(url)}&data=05%7C02&reserved=0`;
const wrapped = (url: string, times: number): string => (times === 0 ? url : wrapped(safeLink(url), times - 1));
const article = 'https://a.example/post';

const cases: Readonly<Record<string, readonly (readonly [written: string, identity: string | undefined])[]>> = {
  'lower-cases scheme and host, not the path': [['HTTPS://A.Example/Post?Q=X', 'https://a.example/Post?Q=X']],
  'drops the default port, and no other': [
    ['https://a.example:443/post', article],
    ['http://a.example:80/post', 'http://a.example/post'],
    ['https://a.example:8443/post', 'https://a.example:8443/post'],
  ],
  'drops the fragment': [[`${article}#comments`, article]],
  'drops user info': [['https://jane:pass@a.example/post', article]],
  'drops trailing slashes, but the root’s': [
    [`${article}/`, article],
    [`${article}///?a=1`, `${article}?a=1`],
    ['https://a.example/', 'https://a.example/'],
    ['https://a.example', 'https://a.example/'],
    ['https://a.example//', 'https://a.example/'],
  ],
  'removes utm_* and source': [[`${article}?utm_source=mail&a=1&UTM_Medium=x&source=rss&utm%5Fterm=y`, `${article}?a=1`]],
  'removes the families of tracking parameters, in any case':
    'mtm_kwd pk_campaign gclid gbraid wbraid dclid fbclid fb_action_ids fb_source msclkid yclid ysclid twclid ttclid igshid mc_cid mc_eid _hsenc _hsmi __hstc mkt_tok _kx bsft_uid ml_subscriber ml_subscriber_hash oly_enc_id vero_id elqTrack elq ck_subscriber_id s_cid cmpid XTOR _branch_match_id Source'
      .split(' ')
      .map((name) => [`${article}?a=1&${name}=x&b=2`, `${article}?a=1&b=2`] as const),
  'keeps what only begins or ends as one of them': [
    [`${article}?gclids=1&sources=2&mysource=3&_hsmiles=4`, `${article}?gclids=1&sources=2&mysource=3&_hsmiles=4`],
  ],
  'keeps other parameters in order, as they are spelled': [[`${article}?b=2&a=1%20x+y&b&c=&id=%C3%A9`, `${article}?b=2&a=1%20x+y&b&c=&id=%C3%A9`]],
  'leaves no question mark where nothing is kept': [
    [`${article}?utm_id=1`, article],
    [`${article}?`, article],
    [`${article}?&&`, article],
  ],
  'keeps all parameters of github.com': [['https://github.com/a/b?source=x&tab=y', 'https://github.com/a/b?source=x&tab=y']],
  'keeps those of no other host for that': [['https://docs.github.com/a?source=x', 'https://docs.github.com/a']],
  'does not merge http with https, nor www': [
    ['http://a.example/post', 'http://a.example/post'],
    ['https://www.a.example/post', 'https://www.a.example/post'],
  ],
  'unwraps the redirects of the platform': [
    [`https://medium.com/r/?url=${encodeURIComponent(`${article}?utm_source=m`)}`, article],
    [`https://medium.com/m/global-identity-2?redirectUrl=${encodeURIComponent(article)}`, article],
  ],
  'unwraps SafeLinks': [[safeLink(`${article}?a=1&b=2`), `${article}?a=1&b=2`]],
  'unwraps Google': [
    [`https://www.google.com/url?q=${encodeURIComponent(article)}&sa=D`, article],
    [`https://www.google.co.uk/url?sa=t&url=${article}&usg=x`, article],
    [`https://google.com/url/?q=${article}`, article],
  ],
  'unwraps Substack': [[`https://substack.com/redirect/2/${base64({ e: `${article}?utm_campaign=x`, p: 1 })}.c2lnbmF0dXJl?j=x`, article]],
  'unwraps mail services and security gateways, and removes tracking from what they carry': [
    [`https://x1.r.us-east-1.awstrack.me/L0/${encodeURIComponent(`${article}?utm_source=ses&a=1`)}/1/0100-000000/sig=1`, `${article}?a=1`],
    [`https://click.convertkit-mail4.com/d0uv/p8he/${Buffer.from(`${article}?ck_subscriber_id=7`).toString('base64')}`, article],
    [safeLink('https://urldefense.proofpoint.com/v2/url?u=https-3A__a.example_post&d=DwMF'), article],
  ],
  'keeps a plus sign of an address within': [[`https://www.google.com/url?url=${article}?q=a+b`, `${article}?q=a+b`]],
  'leaves a wrapper that carries no address': [
    ['https://www.google.com/url?q=rice', 'https://www.google.com/url?q=rice'],
    ['https://www.google.com/url?q=%E0%A4%A', 'https://www.google.com/url?q=%E0%A4%A'],
    ['https://substack.com/redirect/2/bm90IGpzb24', 'https://substack.com/redirect/2/bm90IGpzb24'],
    ['https://substack.com/redirect/0b4c?j=eyJ1IjoiMSJ9', 'https://substack.com/redirect/0b4c?j=eyJ1IjoiMSJ9'],
    ['https://eur01.safelinks.protection.outlook.com/?url=mailto%3Aa@a.example', 'https://eur01.safelinks.protection.outlook.com/?url=mailto%3Aa@a.example'],
  ],
  'is undefined for what is no absolute http or https URL': [
    'mailto:a@a.example',
    'tel:+3531',
    'javascript:alert(1)',
    'data:text/html,x',
    'cid:logo@a',
    '/post',
    '//a.example/post',
    'https:a.example',
    'https://',
    'https://a b/',
    '#top',
    '',
  ].map((written) => [written, undefined] as const),
};

describe('identityOf', () => {
  for (const [name, table] of Object.entries(cases)) {
    it(name, () => {
      for (const [written, identity] of table) expect(identityOf(written), written).to.equal(identity);
    });
  }

  it('unwraps up to 5 times', () => {
    expect(identityOf(wrapped(article, 5))).to.equal(article);
    expect(identityOf(wrapped(article, 6))).to.equal(new URL(safeLink(article)).href);
  });

  it('is undefined for what has more than 8192 characters, as it is found or as it is spelled', () => {
    const most = `${article}?${'a'.repeat(8192 - article.length - 1)}`;
    expect(identityOf(most)).to.equal(most);
    expect(identityOf(` ${most} `)).to.equal(most);
    expect(identityOf(`${most}a`)).to.equal(undefined);
    expect(identityOf(`${article}#${'a'.repeat(8192)}`)).to.equal(undefined);
    expect(identityOf(`${article}?${'é'.repeat(3000)}`)).to.equal(undefined);
  });

  const segment = fc.stringMatching(/^[\w.~%/ @:+-]{0,12}$/);
  const parameter = fc.tuple(fc.constantFrom('utm_x', 'a', 'source', 'url', 'q', 'redirectUrl', ''), fc.webUrl({ withQueryParameters: true }));
  const odd = fc
    .record({
      scheme: fc.constantFrom('http', 'HTTPS'),
      host: fc.constantFrom('a.example', 'GitHub.com', 'medium.com', 'www.google.com', 'x.safelinks.protection.outlook.com', 'jane:p@b.example:443'),
      path: fc.array(segment, { maxLength: 4 }),
      parameters: fc.array(parameter, { maxLength: 3 }),
    })
    .map(
      ({ scheme, host, path, parameters }) =>
        `${scheme}://${host}/${path.join('/')}?${parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}#f`,
    );

  it('applied to an identity changes nothing', () => {
    fc.assert(
      fc.property(fc.oneof(odd, fc.webUrl({ withFragments: true, withQueryParameters: true })), (written) => {
        const identity = identityOf(written);
        return identity === undefined || identityOf(identity) === identity;
      }),
      { numRuns: 2000 },
    );
  });

  it('never fails, whatever is written', () => {
    fc.assert(fc.property(fc.string(), fc.constantFrom('', 'https://', 'https://medium.com/r?url='), (text, before) => void identityOf(`${before}${text}`)));
  });
});

describe('hashOf', () => {
  it('is the SHA-256 of an identity', () => {
    expect(hashOf(article)).to.deep.equal(createHash('sha256').update('https://a.example/post').digest());
  });
});
