// Unwraps links that mail services, security gateways and platforms put in the place of a link, where the wrapper carries its target. Pure: nothing is fetched.
// A wrapper whose target only its server knows stays: most of Mailchimp, those of SendGrid, Klaviyo, most of beehiiv, HubSpot (since 2021), Mimecast and t.co.
import { constants, inflateSync } from 'node:zlib';
import { memberAt } from '../json.ts';

/** `at` sees host and path, `example.org/a/b`, without a trailing slash. `target` gets the match and the whole address. */
type Wrapper = { readonly at: RegExp; readonly target: (match: RegExpExecArray, url: URL) => string | undefined };

const mostWrappers = 5;
/** In characters; longer addresses are no links. */
const longestUrl = 8192;

/** An absolute http or https address; undefined for any other text. */
export function readUrl(written: string): URL | undefined {
  const text = written.trim();
  return text.length <= longestUrl && /^https?:\/\//i.test(text) ? (URL.parse(text) ?? undefined) : undefined;
}

/** A URL between `<` and `>` may go on in the next line of a text (RFC 3986, appendix C). */
export const joinUrls = (text: string): string => text.replace(/<\s*https?:[^<>]{0,4000}>/gi, (url) => url.replace(/\s+/g, ''));

/** The address that a link leads to once wrappers are removed, at most 5 within each other; undefined for a text that is no http or https address. */
export function unwrap(written: string): URL | undefined {
  let url = readUrl(written);
  for (let times = 0; url && times < mostWrappers; times += 1) {
    const target = targetOf(url);
    if (!target) break;
    url = target;
  }
  return url;
}

function targetOf(url: URL): URL | undefined {
  const place = placeOf(url);
  if (!anyWrapper.test(place)) return undefined;
  for (const { at, target } of wrappers) {
    const match = at.exec(place);
    const found = match && readUrl(target(match, url) ?? '');
    if (found) return found;
  }
  return undefined;
}

/** Host and path without trailing slashes. */
export const placeOf = (url: URL): string => `${url.host}${withoutTrailingSlashes(url.pathname)}`;

export function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/** Percent-decoded; as it is where the escapes are malformed. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Not URLSearchParams, which reads a `+` of the address within as a space.
export const parametersOf = (url: URL): readonly string[] => url.search.slice(1).split('&');
export const nameOf = (parameter: string): string => decode(parameter.split('=', 1)[0] ?? '');

/** The first http or https address among the values of these parameters; names are in lower case. A forwarded text may keep `&amp;`. */
const valueOf = (url: URL, ...names: readonly string[]): string | undefined =>
  names
    .flatMap((name) => parametersOf(url).filter((parameter) => nameOf(parameter).toLowerCase().replace(/^amp;/, '') === name))
    .map((parameter) => decode(parameter.slice(parameter.indexOf('=') + 1)))
    // Encoded twice by one gateway behind the other.
    .map((value) => (/^https?%3a/i.test(value) ? decode(value) : value))
    .find((value) => readUrl(value) !== undefined);

const rawValueOf = (url: URL, name: string): string =>
  parametersOf(url)
    .find((parameter) => nameOf(parameter) === name)
    ?.slice(name.length + 1) ?? '';

const parameter =
  (...names: readonly string[]): Wrapper['target'] =>
  (_, url) =>
    valueOf(url, ...names);

/** Standard and URL-safe alphabet, with and without padding; empty where the bytes are no text. */
function fromBase64(encoded: string): string {
  const text = Buffer.from(decode(encoded), 'base64').toString();
  return text.includes('\ufffd') ? '' : text;
}

/** The first group of the match is the address, percent-encoded or in base64. */
const percentEncoded: Wrapper['target'] = ([, encoded = '']) => decode(encoded);
const base64: Wrapper['target'] = ([, encoded = '']) => fromBase64(encoded);

/** The first group is JSON in base64. */
const base64Member =
  (member: string): Wrapper['target'] =>
  ([, encoded = '']) =>
    textAt(fromBase64(encoded), member);

function textAt(json: string, member: string): string | undefined {
  try {
    const value = memberAt(JSON.parse(json), member);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined; // it is no JSON
  }
}

/** Mailgun compresses a query string, whose `l` is the address. The stream is cut short: it has no checksum. */
const compressedQuery: Wrapper['target'] = ([, encoded = '']) => {
  try {
    const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 2 * longestUrl };
    return new URLSearchParams(inflateSync(Buffer.from(encoded, 'base64url'), options).toString()).get('l') ?? undefined;
  } catch {
    return undefined; // it is not compressed, or longer than a link
  }
};

/** Cisco encodes the address up to some point, and appends the rest as it is. */
const ciscoTarget: Wrapper['target'] = ([, encoded = ''], { search, hash }) => `${decode(encoded)}${search}${hash}`;

/** Check Point leaves the address as it is between two runs of underscores; a slash may be lost on the way. */
const underscored: Wrapper['target'] = (_, { href }) =>
  /^https?:\/\/[^/]+\/v2\/(?:[a-z\d]+\/)?___(https?:.*?)___\./i.exec(href)?.[1]?.replace(/^(https?:)\/(?!\/)/i, '$1//');

/** Proofpoint version 2 writes `-` for `%` and `_` for `/`. */
const proofpointV2: Wrapper['target'] = (_, url) => decode(rawValueOf(url, 'u').replaceAll('-', '%').replaceAll('_', '/'));

const runLengths = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Proofpoint version 3 takes out characters, which follow in base64: `*` is the next of them, `**A` the next two, `**B` the next three … */
const proofpointV3: Wrapper['target'] = (_, { href }) => {
  const [, masked = '', removed = ''] = /^https?:\/\/[^/]+\/v3\/__(.+?)__;([\w=-]*)!/.exec(href) ?? [];
  const characters = [...fromBase64(removed)];
  let at = 0;
  return masked
    .replaceAll(/\*(?:\*([\w-]))?/g, (_token, length?: string) => {
      const from = at;
      at += length === undefined ? 1 : runLengths.indexOf(length) + 2;
      return characters.slice(from, at).join('');
    })
    .replace(/^(https?:)\/(?!\/)/i, '$1//');
};

/** A line each. Patterns are tried in this order; the first that finds an http or https address wins. */
const wrappers: readonly Wrapper[] = [
  // Platforms.
  { at: /^medium\.com\/r$/, target: parameter('url') },
  { at: /^[^/]+\/m\/global-identity(?:-\d)?$/, target: parameter('redirecturl') }, // Medium, on domains of publications too
  { at: /^substack\.com\/redirect\/\d+\/([\w-]+)/i, target: base64Member('e') },
  { at: /^open\.substack\.com\/pub\/([\w-]+)\/p\/([\w-]+)$/, target: ([, name = '', post = '']) => `https://${name}.substack.com/p/${post}` },
  { at: /^(?:www\.)?google\.(?:com?\.)?[a-z]{2,3}\/url$/, target: parameter('q', 'url') },
  { at: /^scholar\.google\.(?:com?\.)?[a-z]{2,3}\/scholar_url$/, target: parameter('url') },
  { at: /^public-api\.wordpress\.com\/bar$/, target: parameter('redirect_to') }, // mails of WordPress about posts
  { at: /^(?:www\.|m\.)?youtube\.com\/redirect$/, target: parameter('q') },
  { at: /^(?:www\.)?bing\.com\/ck\/a$/, target: (_, url) => fromBase64(rawValueOf(url, 'u').replace(/^a1/, '')) },
  { at: /^r\.search\.yahoo\.com\/.*\/RU=([^/]+)/, target: percentEncoded },
  { at: /^lm?\.(?:facebook|instagram|messenger|workplace|threads)\.(?:com|net)(?:\/l\.php)?$/, target: parameter('u') },
  { at: /^(?:www\.)?linkedin\.com\/(?:(?:comm\/)?(?:redir\/)?redirect|safety\/go)$/, target: parameter('url') },
  { at: /^t\.me\/iv$/, target: parameter('url') },
  { at: /^(?:[a-z]{2,3}\.)?pinterest\.[a-z.]{2,6}\/offsite$/, target: parameter('url') },
  { at: /^steamcommunity\.com\/linkfilter$/, target: parameter('url', 'u') },
  { at: /^(?:href\.li|anonym\.to)$/, target: (_, { search }) => search.slice(1) },
  { at: /^(?:out\.reddit\.com|slack-redir\.net|disq\.us)\//, target: parameter('url') },
  { at: /^(?:html\.)?duckduckgo\.com\/l$/, target: parameter('uddg') },
  { at: /^(?:www\.|m\.)?vk\.com\/away\.php$/, target: parameter('to') },
  { at: /^t\.umblr\.com\/redirect$/, target: parameter('z') },
  {
    at: /^(?:www\.)?google\.(?:com?\.)?[a-z]{2,3}\/amp\/(?:(s)\/)?((?:[^/.]+\.)+[^/.]+\/.+)$/,
    target: ([, secure = '', page = ''], { search }) => `http${secure}://${page}${search}`,
  },
  { at: /^(?:www\.)?facebook\.com\/flx\/warn$/, target: parameter('u') },
  { at: /^(?:www\.)?tiktok\.com\/link\/v2$/, target: parameter('target') },
  { at: /^getpocket\.com\/redirect$/, target: parameter('url') },
  { at: /^(?:checklink|click)\.mail\.ru\//, target: parameter('url', 'u') },
  { at: /^(?:link\.(?:zhihu\.com|juejin\.cn|csdn\.net)|(?:gitee|sspai)\.com\/link)$/, target: parameter('target') },
  { at: /^go\.bsky\.app\/redirect$/, target: parameter('u') },
  { at: /^t\.co\/redirect$/, target: parameter('url') }, // mails of Twitter
  { at: /^(?:www\.)?researchgate\.net\/deref\/(https?(?::|%3a).+)/i, target: percentEncoded },

  // Links to applications, with the page for those who have none.
  {
    at: /^[\w-]+[.-](?:onelink\.me|(?:app|page|go)\.link)(?:\/|$)|^app\.adjust\.(?:com|io)\//,
    target: parameter('af_web_dp', 'af_r', '$original_url', '$desktop_url', '$fallback_url', 'link', 'redirect', 'adj_redirect', 'adj_fallback'),
  },

  // Advertisements and affiliate networks.
  { at: /^ad\.doubleclick\.net\/ddm\/clk\//, target: (_, { search }) => decode(search.slice(1)) },
  { at: /^(?:googleads\.g\.doubleclick\.net|www\.googleadservices\.com\/pagead)\/aclk$/, target: parameter('adurl') },
  {
    at: /^www\.(?:anrdoezrs|dpbolvw|jdoqocy|kqzyfj|tkqlhce)\.(?:com|net)\/links\/.*?\/(https?:\/\/.+)/,
    target: ([, page = ''], { search }) => `${page}${search}`,
  },
  { at: /^www\.(?:anrdoezrs|dpbolvw|jdoqocy|kqzyfj|tkqlhce)\.(?:com|net)\/click-/, target: parameter('url') },
  { at: /^prf\.hn\/click\/.*?destination:(https?(?::|%3a).+)/i, target: ([, page = ''], { search }) => `${decode(page)}${search}` },
  { at: /^(?:www\.)?shareasale\.com\/r\.cfm$/, target: (_, url) => `https://${decode(rawValueOf(url, 'urllink')).replace(/^https?:\/\//i, '')}` },
  { at: /^rover\.ebay\.com\/rover\//, target: parameter('mpre') },
  { at: /^track\.webgains\.com\/click\.html$/, target: parameter('wgtarget') },
  { at: /^[\w-]+\.digidip\.net\/visit$/, target: parameter('url') },
  { at: /^go\.(?:skimresources|redirectingat)\.com$|^(?:clk|clkuk)\.tradedoubler\.com\/click$/, target: parameter('url') },
  { at: /^(?:www\.)?awin1\.com\/cread\.php$/, target: parameter('ued', 'p') },
  { at: /^click\.linksynergy\.com\/deeplink$/, target: parameter('murl') },
  { at: /^redirect\.viglink\.com$|^[\w-]+\.(?:pxf|sjv|evyy|ojrq)\.(?:io|net)\/c\/[\d/]+$/, target: parameter('u') },

  // Security gateways.
  { at: /(?:^|\.)safelinks\.protection\.(?:(?:partner\.)?outlook\.(?:com|de|cn)|office365\.us|eaglex\.ic\.gov)(?:\/|$)/, target: parameter('url') },
  { at: /^statics\.teams\.cdn\.office\.net\/.*safelinks/, target: parameter('url') },
  { at: /^urldefense(?:\.proofpoint)?\.(?:com|us)\/v1\/url$/, target: parameter('u') },
  { at: /^urldefense(?:\.proofpoint)?\.(?:com|us)\/v2\/url$/, target: proofpointV2 },
  { at: /^urldefense(?:\.proofpoint)?\.(?:com|us)\/v3\/__/, target: proofpointV3 },
  { at: /^linkprotect\.cudasvc\.com\/url$/, target: parameter('a') },
  { at: /^secure-web\.cisco\.com\/[^/]+\/(https?(?::|%3a).+)/i, target: ciscoTarget },
  { at: /\.trendmicro\.com\/wis\/clicktime\//, target: parameter('url') },
  { at: /\.protection\.sophos\.com$/, target: (_, url) => fromBase64(rawValueOf(url, 'u')) },
  { at: /^protect[\w-]*\.(?:fireeye|trellix)\.com\/(?:v\d\/)?url$/, target: parameter('u') },
  { at: /^clicktime\.(?:symantec\.com|cloud\.postoffice\.net)(?:\/|$)/, target: parameter('u') },
  { at: /^link\.(?:edgepilot\.com\/s|zixcentral\.com\/u)\//, target: parameter('u') },
  { at: /^scanmail\.trustwave\.com$/, target: parameter('u') },
  { at: /^[^/]+\/fmlurlsvc$/, target: parameter('url') },
  {
    at: /\.vadesecure\.com\/(?:safeproxy\/)?v\d$|^atpscan(?:\.[\w-]+)?\.hornetsecurity\.com(?:\/|$)|^urlsand\.(?:esvalabs\.)?com(?:\/|$)/,
    target: parameter('u'),
  },
  { at: /^linklock\.titanhq\.com\/analyse$|^[\w-]+\.content\.exclaimer\.net$/, target: parameter('url') },
  { at: /^(?:url\.avanan\.click|protect\.checkpoint\.com)\/v2\//, target: underscored },
  { at: /^urlisolation\.com\/browser$/, target: parameter('url') }, // Proofpoint
  { at: /\/securelink$/, target: (_, url) => textAt(fromBase64(rawValueOf(url, 'key')), 'url') }, // Mailinblack
  { at: /\/owa\/(?:[^/]+\/)*redir\.aspx$/i, target: parameter('url') }, // Exchange
  { at: /^mail\.yandex\.[a-z.]{2,6}\/re\.jsx$/, target: (_, url) => fromBase64(rawValueOf(url, 'l')) },
  { at: /^deref-(?:gmx|web|mail|1und1)\.(?:net|com|de)\//, target: parameter('redirecturl') },

  // Mail services; most count clicks on hosts of their customers.
  { at: /\/C?L0\/(https?(?::|%3a)%2f%2f[^/]+)/i, target: percentEncoded }, // Amazon SES
  { at: /\/e\/c\/(eyJ[\w%=-]+)/, target: base64Member('href') }, // Customer.io
  { at: /\/track\/click(?:\/|$)/, target: (_, url) => textAt(textAt(fromBase64(rawValueOf(url, 'p')), 'p') ?? '', 'url') }, // Mandrill
  { at: /^mandrillapp\.com\/track\/click\.php$/, target: parameter('url') },
  { at: /^[^/]+\/f\/\w+\/[\w~-]+\/AA[\w~-]*\/[\w~-]+$/, target: parameter('target') }, // SparkPost, where the sender has it added
  { at: /\/prod\/link-tracker$/i, target: (_, url) => fromBase64(rawValueOf(url, 'redirectUrl')) }, // ActiveCampaign
  { at: /\.dripemail\d*\.com\/c\/[\w-]+\.([\w-]+)\./, target: base64Member('url') }, // Drip
  { at: /^mailtrack\.io\/(?:trace\/)?link\//, target: parameter('url') },
  { at: /^link\.(?:nylas|getmailspring)\.com\/link\//, target: parameter('redirect') }, // Mailspring
  { at: /yamm-track\.appspot\.com\/Redirect$/i, target: parameter('link') }, // Yet Another Mail Merge
  { at: /\/c\/(eJ[\w-]{20,})$/, target: compressedQuery }, // Mailgun
  {
    at: /^(?:(?:click|track)\.pstmrk\.it|[^/]+(?=\/\ds?\/[^/]+\/[\w-]+\/\w+\/[\da-f-]{36}\/))\/\d(s?)\/([^/]+)/,
    target: ([, secure = '', encoded = '']) => `http${secure}://${decode(encoded)}`,
  }, // Postmark
  { at: /^lnks\.gd\/l\/[\w-]+\.([\w-]+)\./, target: base64Member('url') }, // GovDelivery
  { at: /^links\.govdelivery\.com(?::\d+)?\/track$/, target: (_, { search }) => /&&&\d+&&&(https?:\/\/.+)$/i.exec(search)?.[1] },
  { at: /^flight\.beehiiv\.net\/v\d\/clicks\/[\w-]+\.([\w-]+)\./, target: base64Member('url') }, // beehiiv, of sponsors
  { at: /^t\.sidekickopen\d*\.com\//, target: parameter('t') }, // HubSpot, until 2021
  { at: /^click\.icptrack\.com\/icp\/relay\.php$/, target: parameter('destination') }, // iContact
  {
    at: /^feeds\.feedblitz\.com\/~\/t\/0\/[0_]\/[^/]+(?:\/full)?\/~(https?:\/\/.+)/,
    target: ([, page = ''], { search }) => `${page}${search}`,
  },
  {
    at: /^t\.yesware\.com\/tt\/[\da-f]{40}\/[\da-f]{32}\/[\da-f]{32}\/(.+)/,
    target: ([, page = ''], { search }) => `http://${page}${search}`,
  },
  { at: /(?:^|\.)streak(?:links|-link)\.com\/[\w-]{24}\/(https?(?::|%3a).+)/i, target: percentEncoded },
  { at: /^via\.intercom\.io\/c$|\.mailchimp\.com\/mctx\/clicks?$/, target: parameter('url') },
  { at: /(?:^|\.)engage\.squarespace-mail\.com\/r$|\.dmanalytics\d\.com\/click$/, target: parameter('u') }, // Squarespace, Direct Mail
  { at: /\/tracking\/click$/, target: parameter('target') }, // Elastic Email
  { at: /^contactmonkey\.com\/api\/v\d\/tracker$/, target: parameter('cm_destination') },
  { at: /\/(?:ru|ua)\/(?:mail|go2|eu1)_link_tracker$/, target: (_, url) => valueOf(url, 'url') ?? fromBase64(rawValueOf(url, 'url').replaceAll('~', '')) }, // Unisender
  { at: /^(?:c212\.net|edge\.prnewswire\.com)\/c\/link$/, target: parameter('u') },
  { at: /^cts\.businesswire\.com\/ct\/CT$/i, target: parameter('url') },
  { at: /\/(aHR0c[\w%+=-]{8,})(?:\/|$)/, target: base64 }, // Kit, Mailjet, Sailthru: base64 of `http…` as a segment of the path
];

/** Matches where one of them does, and seldom elsewhere: for most addresses one pattern is tried, not all. */
const anyWrapper = new RegExp(wrappers.map(({ at }) => `(?:${at.source})`).join('|'), 'i');
