// Wrappers of links: each gives back the address it was made of, and nothing but http and https addresses ever comes out.
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { unwrap } from '../../../services/platform/mail/wrappers.ts';

const encode = encodeURIComponent;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const json = (value: unknown) => base64url(JSON.stringify(value));

/** Proofpoint's version 3 of an address: runs of characters that it removes, as the mask and what was removed. */
function proofpointV3(url: string): string {
  const lengths = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const removed: string[] = [];
  const masked = url.replaceAll(/[^\w./:?&=%,;~-]{1,65}/gu, (run) => {
    const characters = [...run];
    removed.push(...characters);
    return characters.length === 1 ? '*' : `**${lengths[characters.length - 2] ?? ''}`;
  });
  return `https://urldefense.com/v3/__${masked}__;${base64url(removed.join(''))}!!Abc!token$`;
}

/** How each service wraps an address. */
const wrapping: Readonly<Record<string, (url: string) => string>> = {
  Medium: (url) => `https://medium.com/r/?url=${encode(url)}`,
  'Medium’s login': (url) => `https://medium.com/m/global-identity-2?redirectUrl=${encode(url)}`,
  Substack: (url) => `https://substack.com/redirect/2/${json({ e: url, p: 1 })}.c2lnbmF0dXJl?j=x`,
  Google: (url) => `https://www.google.com/url?q=${encode(url)}&sa=D`,
  'Google Scholar': (url) => `https://scholar.google.ie/scholar_url?url=${encode(url)}&hl=en&sa=X`,
  WordPress: (url) => `https://public-api.wordpress.com/bar/?stat=x&redirect_to=${encode(url)}&sr=1`,
  'Google of a country': (url) => `https://www.google.co.uk/url?sa=t&url=${encode(url)}&usg=x`,
  YouTube: (url) => `https://www.youtube.com/redirect?event=video&q=${encode(url)}`,
  Facebook: (url) => `https://l.facebook.com/l.php?u=${encode(url)}&h=AT0`,
  Instagram: (url) => `https://l.instagram.com/?u=${encode(url)}&e=AT1`,
  LinkedIn: (url) => `https://www.linkedin.com/redir/redirect?url=${encode(url)}&urlhash=x`,
  'LinkedIn in mails': (url) => `https://www.linkedin.com/comm/redir/redirect?url=${encode(url)}&midToken=x`,
  Messenger: (url) => `https://l.messenger.com/l.php?u=${encode(url)}&h=AT0`,
  Threads: (url) => `https://l.threads.com/?u=${encode(url)}&e=AT1`,
  Bing: (url) => `https://www.bing.com/ck/a?!&&p=abc&ptn=3&u=a1${base64url(url)}&ntb=1`,
  Yahoo: (url) => `https://r.search.yahoo.com/_ylt=Awr;_ylu=c2Vj/RV=2/RE=1/RO=10/RU=${encode(url)}/RK=2/RS=x-`,
  Telegram: (url) => `https://t.me/iv?url=${encode(url)}&rhash=x`,
  Pinterest: (url) => `https://www.pinterest.com/offsite/?token=1-2&url=${encode(url)}&pin=3`,
  Steam: (url) => `https://steamcommunity.com/linkfilter/?u=${encode(url)}`,
  'href.li': (url) => `https://href.li/?${url}`,
  Slack: (url) => `https://slack-redir.net/link?url=${encode(url)}&v=3`,
  Reddit: (url) => `https://out.reddit.com/t3_x?url=${encode(url)}&token=y`,
  DuckDuckGo: (url) => `https://duckduckgo.com/l/?uddg=${encode(url)}&rut=x`,
  VK: (url) => `https://vk.com/away.php?to=${encode(url)}`,
  Tumblr: (url) => `https://t.umblr.com/redirect?z=${encode(url)}&t=x`,
  SafeLinks: (url) => `https://eur01.safelinks.protection.outlook.com/?url=${encode(url)}&data=05%7C02&reserved=0`,
  'SafeLinks in applications': (url) => `https://nam06.safelinks.protection.outlook.com/ap/w-59584e83/?url=${encode(url)}&data=x`,
  'SafeLinks of the government cloud': (url) => `https://gcc02.safelinks.protection.office365.us/?url=${encode(url)}&data=x`,
  'SafeLinks of China': (url) => `https://chn01.safelinks.protection.partner.outlook.cn/?url=${encode(url)}`,
  'SafeLinks of Teams': (url) => `https://statics.teams.cdn.office.net/evergreen-assets/safelinks/2/atp-safelinks.html?url=${encode(url)}&locale=en`,
  'Proofpoint 1': (url) => `https://urldefense.proofpoint.com/v1/url?u=${encode(url)}&k=x`,
  'Proofpoint 2': (url) =>
    `https://urldefense.proofpoint.com/v2/url?u=${encode(url)
      .replaceAll(/[-_~.!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%2F', '_')
      .replaceAll('%', '-')}&d=DwMFaQ&c=x`,
  'Proofpoint 3': proofpointV3,
  Barracuda: (url) => `https://linkprotect.cudasvc.com/url?a=${encode(url)}&c=E,1,x&typo=1`,
  Cisco: (url) => `https://secure-web.cisco.com/1fCCdfJv_BYjz-YqipX/${encode(url)}`,
  'Vade Secure': (url) => `https://mail1.vadesecure.com/safeproxy/v3?f=x&i=y&k=z&u=${encode(url)}`,
  Hornetsecurity: (url) => `https://atpscan.global.hornetsecurity.com/?d=x&f=y&i=&k=z&u=${encode(url)}`,
  Libraesva: (url) => `https://urlsand.esvalabs.com/?u=${encode(url)}&e=x&h=y`,
  TitanHQ: (url) => `https://linklock.titanhq.com/analyse?url=${encode(url)}&data=x`,
  Trellix: (url) => `https://protect2.trellix.com/v1/url?k=x&q=1&u=${encode(url)}`,
  Exclaimer: (url) => `https://eu.content.exclaimer.net/?url=${encode(url)}&tenantid=x`,
  'SafeLinks in escaped text': (url) => `https://nam12.safelinks.protection.outlook.com/?data=x&amp;url=${encode(url)}&amp;reserved=0`,
  'SafeLinks encoded again': (url) => `https://nam12.safelinks.protection.outlook.com/?url=${encode(encode(url))}&data=x`,
  'a publication of Medium': (url) => `https://publication.example/m/global-identity-2?redirectUrl=${encode(url)}`,
  'Facebook’s warning': (url) => `https://www.facebook.com/flx/warn/?u=${encode(url)}`,
  SparkPost: (url) => `https://click.mail.example/f/a/Zk1-2Q~~/AAAAARA~/xT_8~?target=${encode(url)}`,
  Pocket: (url) => `https://getpocket.com/redirect?url=${encode(url)}&h=x`,
  'Mail.ru': (url) => `https://checklink.mail.ru/proxy?es=x&url=${encode(url)}`,
  Zhihu: (url) => `https://link.zhihu.com/?target=${encode(url)}`,
  Skimlinks: (url) => `https://go.skimresources.com/?id=1X2&xs=1&url=${encode(url)}`,
  Awin: (url) => `https://www.awin1.com/cread.php?awinmid=1&awinaffid=2&ued=${encode(url)}`,
  Rakuten: (url) => `https://click.linksynergy.com/deeplink?id=x&mid=1&murl=${encode(url)}`,
  'Trend Micro': (url) => `https://imsva91-ctp.trendmicro.com:443/wis/clicktime/v1/query?url=${encode(url)}&umid=x&auth=y`,
  Sophos: (url) => `https://eu-central-1.protection.sophos.com/?d=a.example&u=${encode(base64(url))}&i=x&t=y`,
  FireEye: (url) => `https://protect2.fireeye.com/v1/url?k=x&q=1&e=y&u=${encode(url)}`,
  Symantec: (url) => `https://clicktime.symantec.com/3Abc?u=${encode(url)}`,
  VIPRE: (url) => `https://clicktime.cloud.postoffice.net/clicktime.php?U=${encode(url)}&E=x`,
  'SafeLinks of another cloud': (url) => `https://x01.safelinks.protection.eaglex.ic.gov/?url=${encode(url)}&data=x`,
  Zix: (url) => `https://link.zixcentral.com/u/9f3a/x?u=${encode(url)}`,
  AppsFlyer: (url) => `https://shop.onelink.me/abc?pid=mail&af_web_dp=${encode(url)}`,
  Branch: (url) => `https://shop.app.link/3p?%243p=e_et&%24original_url=${encode(url)}`,
  'Firebase links': (url) => `https://shop.page.link/?link=${encode(url)}&apn=com.shop`,
  Adjust: (url) => `https://app.adjust.com/abc?redirect=${encode(url)}`,
  'DoubleClick, encoded': (url) => `https://ad.doubleclick.net/ddm/clk/1;2;a?${encode(url)}`,
  'Google Ads': (url) => `https://googleads.g.doubleclick.net/aclk?sa=L&adurl=${encode(url)}`,
  CJ: (url) => `https://www.jdoqocy.com/click-1-2?url=${encode(url)}`,
  Partnerize: (url) => `https://prf.hn/click/camref:1/destination:${encode(url)}`,
  Webgains: (url) => `https://track.webgains.com/click.html?wgcampaignid=1&wgtarget=${encode(url)}`,
  eBay: (url) => `https://rover.ebay.com/rover/1/711-53200?mpre=${encode(url)}`,
  digidip: (url) => `https://shop.digidip.net/visit?url=${encode(url)}`,
  EdgePilot: (url) => `https://link.edgepilot.com/s/9f3a/x?u=${encode(url)}`,
  Trustwave: (url) => `https://scanmail.trustwave.com/?c=1&d=abc&u=${encode(url)}`,
  FortiMail: (url) => `https://mail.company.example/fmlurlsvc/?fewReq=:B:x&url=${encode(url)}`,
  'Check Point': (url) => `https://url.avanan.click/v2/___${url}___.YXAzOng6YTpvOjBh`,
  'Check Point, newer': (url) => `https://protect.checkpoint.com/v2/r01/___${url}___.YXAzOng6YTpvOjBh`,
  GMX: (url) => `https://deref-gmx.net/mail/client/abc/dereferrer/?redirectUrl=${encode(url)}`,
  'Amazon SES': (url) => `https://x1.r.us-east-1.awstrack.me/L0/${encode(url).replace('%3A', ':')}/1/0100-000000/sig=1`,
  'Amazon SES on a host of the sender': (url) => `https://tracking.news.example/CL0/${encode(url)}/1/0100-000000/sig=1`,
  'Customer.io': (url) => `https://e.customeriomail.com/e/c/${json({ email_id: 'x', href: url, link_id: 1 })}/66d296e7a577`,
  Mandrill: (url) => `https://mandrillapp.com/track/click/1/a.example?p=${json({ s: 'x', v: 1, p: JSON.stringify({ u: 1, v: 1, url, id: 'y' }) })}`,
  'Mandrill, older': (url) => `http://mandrillapp.com/track/click.php?u=1&id=x&url=${encode(url)}&url_id=y`,
  ActiveCampaign: (url) => `https://team.activehosted.com/Prod/link-tracker?redirectUrl=${encode(base64(url))}&sig=x&iat=1&a=2`,
  Drip: (url) => `https://news.dripemail2.com/c/eyJhbGciOiJIUzI1NiJ9.${json({ aud: 'detour', sub: 'detour_link', url })}.c2ln`,
  'beehiiv, of sponsors': (url) => `https://flight.beehiiv.net/v2/clicks/eyJhbGciOiJIUzI1NiJ9.${json({ url, post_id: 'x' })}.c2ln`,
  Mailspring: (url) => `https://link.getmailspring.com/link/local-60c11c93-aa52@host.local/0?redirect=${encode(url)}`,
  'Yet Another Mail Merge': (url) => `https://x2-dot-yamm-track.appspot.com/Redirect?ukey=1K-0&key=YAMMID-2&link=${encode(url)}&r=eA`,
  Mailtrack: (url) => `https://mailtrack.io/trace/link/9f3a?url=${encode(url)}&userId=1&signature=x`,
  Mailgun: (url) =>
    `https://email.mg.news.example/c/${deflateSync(new URLSearchParams({ h: 'abc', l: url, r: 'reader@a.example' }).toString()).toString('base64url')}`,
  Postmark: (url) => `https://click.pstmrk.it/${url.startsWith('https') ? '3s' : '3'}/${encode(url.replace(/^https?:\/\//, ''))}/token/AQ/uuid`,
  GovDelivery: (url) => `https://lnks.gd/l/eyJhbGciOiJIUzI1NiJ9.${json({ bulletin_link_id: 100, uri: 'bp2:click', url })}.sig-x/s/1/br/2-l`,
  'GovDelivery, older': (url) => `https://links.govdelivery.com:443/track?type=click&enid=ZWFz&&&101&&&${url}`,
  'HubSpot, older': (url) => `https://t.sidekickopen08.com/s3t/c/5/f18dQ?te=W3R5&t=${encode(url)}&si=1&pi=2`,
  iContact: (url) => `https://click.icptrack.com/icp/relay.php?r=1&msgid=2&destination=${encode(url)}`,
  Kit: (url) => `https://click.convertkit-mail4.com/d0uvkov9k4s0/p8hehqu9xxnm/${base64url(url)}`,
  Mailjet: (url) => `http://x4tlp.mjt.lu/lnk/EAAAAYNq/1/NSvifgbS3M8G/${base64url(url)}`,
  Intercom: (url) => `https://via.intercom.io/c?url=${encode(url)}&h=13f5-x_1&l=d215-8`,
  'Mailchimp, newer': (url) => `https://us21.mailchimp.com/mctx/clicks?url=${encode(url)}&h=x&v=1&xid=y&uid=1&pool=z`,
  Squarespace: (url) => `https://f69e.engage.squarespace-mail.com/r?m=x&u=${encode(url)}&w=y&l=en`,
  'Direct Mail': (url) => `https://x1.dmanalytics2.com/click?u=${encode(url)}&i=1&d=x`,
  'Elastic Email': (url) => `https://tracking.shop.example/tracking/click?msgid=x&target=${encode(url)}&v=y`,
  Streak: (url) => `https://abc.streak-link.com/BbCcDdEeFfGgHhIiJjKkLlMm/${encode(url)}`,
  ContactMonkey: (url) => `https://contactmonkey.com/api/v1/tracker?cm_session=x&cm_link=y&cm_destination=${encode(url)}`,
  Unisender: (url) => `https://usndr.com/ru/mail_link_tracker?hash=x&url=${encode(url)}&uid=1`,
  'Unisender in base64': (url) => `https://usndr.com/ru/mail_link_tracker?hash=x&url=${base64url(url)}~~&uid=1`,
  'PR Newswire': (url) => `https://c212.net/c/link/?t=0&l=en&o=1-1&h=2&u=${encode(url)}&a=x`,
  'Business Wire': (url) => `https://cts.businesswire.com/ct/CT?id=smartlink&url=${encode(url)}&esheet=1&index=2`,
  'Twitter in mails': (url) => `https://t.co/redirect?url=${encode(url)}&t=1&sig=x`,
  Bluesky: (url) => `https://go.bsky.app/redirect?u=${encode(url)}`,
  ResearchGate: (url) => `https://www.researchgate.net/deref/${encode(url)}?_tp=eyJjb250ZXh0`,
  'Proofpoint’s isolation': (url) => `https://urlisolation.com/browser?clickId=x&traceToken=1&url=${encode(url)}`,
  Mailinblack: (url) => `https://mibc-fr-01.mailinblack.com/securelink/?url=https://a.example&key=${json({ lang: 'FR', token: 'x', url })}`,
  'Exchange in the browser': (url) => `https://mail.company.example/owa/redir.aspx?C=x&URL=${encode(url)}`,
  'Yandex’ mail': (url) => `https://mail.yandex.ru/re.jsx?h=a,b&l=${base64url(url)}`,
  Sailthru: (url) => `https://link.news.example/click/27254434.1/${base64url(url)}/5f6d1f2eB1e9a`,
};

const article = 'https://a.example/2026/11/post-title_x?id=7&q=a%20b';

describe('unwrap', () => {
  for (const [name, wrap] of Object.entries(wrapping)) {
    it(`gives back the address that ${name} carries`, () => {
      expect(unwrap(wrap(article))?.href).to.equal(article);
      expect(unwrap(wrap('http://a.example/'))?.href).to.equal('http://a.example/');
    });
  }

  // Without an apostrophe, which is escaped in a query and not in a path, and without the marks at which wrappers end.
  const address = fc
    .webUrl({ withQueryParameters: true })
    .map((url) => new URL(url).href)
    .filter((url) => !/'|___\.|__;|aHR0c|\/C?L0\/|\/track\/click|\/e\/c\/|\/c\/eJ/.test(url));
  it('gives back any address, whichever service wraps it', () => {
    fc.assert(
      fc.property(address, fc.constantFrom(...Object.keys(wrapping)), (url, name) => {
        expect(unwrap(wrapping[name]?.(url) ?? '')?.href, name).to.equal(url);
      }),
      { numRuns: 3000 },
    );
  });

  it('unwraps up to five within each other, of different services', () => {
    const names = ['SafeLinks', 'Amazon SES', 'Barracuda', 'Sophos', 'Google', 'Trend Micro'] as const;
    const within = (count: number) => names.slice(0, count).reduce((url, name) => wrapping[name]?.(url) ?? '', article);
    expect(unwrap(within(5))?.href).to.equal(article);
    expect(unwrap(within(6))?.href).to.equal(new URL(within(1)).href);
  });

  for (const [name, url, target] of [
    [
      'Proofpoint 2 as it came',
      'https://urldefense.proofpoint.com/v2/url?u=http-3A__www.example.org_url-3Fa-3Db&d=BwdwBAg&c=TIwfCwd',
      'http://www.example.org/url?a=b',
    ],
    ['Proofpoint 3 with a fragment', 'https://urldefense.com/v3/__https://a.example/x*part__;Iw!!AbC!xyz$', 'https://a.example/x#part'],
    ['Proofpoint 3 that lost a slash', 'https://urldefense.com/v3/__https:/a.example/x__;!!AbC!xyz$', 'https://a.example/x'],
    ['Check Point that lost a slash', 'https://url.avanan.click/v2/___https:/a.example/x?y=1___.YXAz', 'https://a.example/x?y=1'],
    ['Barracuda with escapes in lower case', 'https://linkprotect.cudasvc.com/url?a=https%3a%2f%2fa.example%2fx&c=E,1', 'https://a.example/x'],
    [
      'Cisco with a rest that is not encoded',
      'https://secure-web.cisco.com/18tzQ-k/https%3A%2F%2Fa.example%2Fapi/send?x=1#y',
      'https://a.example/api/send?x=1#y',
    ],
    ['an AMP page of Google', 'https://www.google.com/amp/s/www.a.example/x?y=1', 'https://www.a.example/x?y=1'],
    ['an AMP page of Google without TLS', 'https://www.google.com/amp/www.a.example/x/z', 'http://www.a.example/x/z'],
    ['CJ, as it is', 'https://www.anrdoezrs.net/links/1/type/dlg/https://a.example/x?y=1', 'https://a.example/x?y=1'],
    ['ShareASale', 'https://shareasale.com/r.cfm?b=1&u=2&urllink=a.example%2Fx%3Fy', 'https://a.example/x?y'],
    [
      'Postmark on a host of its customer',
      'https://links.shop.example/3s/a.example%2Fx%3Fy/PpQk/AQ/0f9c9d3e-1b2a-4d5e-8f00-1234567890ab/1/abc',
      'https://a.example/x?y',
    ],
    ['FeedBlitz', 'https://feeds.feedblitz.com/~/t/0/0/blog/~https://a.example/~ann/x?y=1', 'https://a.example/~ann/x?y=1'],
    ['Yesware', `http://t.yesware.com/tt/${'a1'.repeat(20)}/${'b2'.repeat(16)}/${'c3'.repeat(16)}/a.example/x?y=1`, 'http://a.example/x?y=1'],
    ['Postmark without a scheme', 'https://click.pstmrk.it/3s/a.example%2Fx%3Fy/abc/def', 'https://a.example/x?y'],
    [
      'Sophos with the alphabet of addresses',
      'https://us-west-2.protection.sophos.com/?d=a.example&u=aHR0cHM6Ly9hLmV4YW1wbGUveD95PT8_&i=z',
      'https://a.example/x?y=??',
    ],
  ] as const)
    it(`reads ${name}`, () => expect(unwrap(url)?.href).to.equal(target));

  for (const url of [
    'https://eur01.safelinks.protection.outlook.com/?url=mailto%3Aa@a.example',
    'https://eur01.safelinks.protection.outlook.com/?url=javascript%3Aalert(1)',
    'https://url.uk.m.mimecastprotect.com/s/YP9XCWQRPfDXo1NIKijuVb2y7?domain=a.example',
    'https://u1.ct.sendgrid.net/ls/click?upn=u001.abc',
    'https://news.us1.list-manage.com/track/click?u=1&id=2&e=3',
    'https://evil.example/safelinks.protection.outlook.com/?url=https%3A%2F%2Fa.example',
    'https://safelinks.protection.outlook.com.evil.example/?url=https%3A%2F%2Fa.example',
    'https://notlinkprotect.cudasvc.com.evil.example/url?a=https%3A%2F%2Fa.example',
    'https://shop.example/owa/redir.aspx?URL=mailto%3Aa@a.example',
    'https://a.example/tracking/click?target=phones',
    'https://a.example/securelink/?url=https://b.example&key=x',
    'https://t.co/AbC',
    'https://a.example/share?url=https%3A%2F%2Fb.example',
    'https://email.mg.news.example/c/eJwlzzzzzzzzzzzzzzzzzzzz',
    'https://urldefense.com/v3/__ftp://a.example/x__;!!AbC!xyz$',
    'https://x1.r.us-east-1.awstrack.me/L0/ftp:%2F%2Fa.example/1/x/y',
    `https://click.kit.example/a/b/${base64url('http is a protocol')}`,
  ])
    it(`leaves ${url.slice(0, 70)}`, () => expect(unwrap(url)?.href).to.equal(new URL(url).href));

  it('is undefined for a text that is no http or https address, or longer than 8192 characters', () => {
    for (const text of ['mailto:a@a.example', 'javascript:alert(1)', '/post', '', 'https://', `${article}${'x'.repeat(8192)}`])
      expect(unwrap(text), text.slice(0, 40)).to.equal(undefined);
  });

  it('reads the post that an address of Substack’s application opens', () =>
    expect(unwrap('https://open.substack.com/pub/jane/p/how-to-cook?r=1&token=x')?.href).to.equal('https://jane.substack.com/p/how-to-cook'));

  it('reads no more of a compressed query than a link may be long', () => {
    const bomb = deflateSync(`l=https://a.example/${'x'.repeat(5_000_000)}`).toString('base64url');
    const url = `https://email.mg.news.example/c/${bomb}`;
    expect(unwrap(url)?.href).to.equal(url);
  });

  it('never fails and takes little time, whatever is written', () => {
    const parts = fc.constantFrom('/L0/', '___', '__;', '/v3/', 'https:', '%2f', '/aHR0c', '/c/eJ', '?u=', '&url=', '*', '**A', '-3A', '!', '/e/c/eyJ', 'x');
    const host = fc.constantFrom('urldefense.com', 'url.avanan.click', 'secure-web.cisco.com', 'a.example', 'lnks.gd', 'x.protection.sophos.com');
    fc.assert(
      fc.property(host, fc.array(fc.oneof(parts, fc.string()), { maxLength: 200 }), (at, texts) => {
        const begun = performance.now();
        const found = unwrap(`https://${at}/v2/${texts.join('')}`);
        expect(found === undefined || /^https?:$/.test(found.protocol)).to.equal(true);
        expect(performance.now() - begun).to.be.below(500);
      }),
      { numRuns: 2000 },
    );
  });
});
