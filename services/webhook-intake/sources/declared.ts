// A direct source as the file of sources declares it: verification and reading by its members.
import type { IncomingHttpHeaders } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import { createSignatures } from '../../platform/http/signatures.ts';
import { standardHeaders, svixId } from '../../platform/http/standard-webhooks.ts';
import { Content } from '../../platform/http/route.ts';
import { isCostly, jsonIn, memberAt, pointerPath } from '../../platform/json.ts';
import type { Declaration, Handshake, Hmac, Place, Token } from './declaration.ts';
import {
  type Asked,
  credentialGuard,
  headerOf,
  lineIn,
  maxValues,
  type SignatureVerification,
  type Source,
  type SourceDelivery,
  standardWebhooks,
  urlIn,
  type Verification,
} from './source.ts';

export function createDeclaredSource(declaration: Declaration): Source {
  const { name, label = name, verification, takesForms, takesText, handshake, failure } = declaration;
  const { event = [], action = [], repository = [], title = [], text = [], url = [] } = declaration;
  const { key = [] } = declaration;
  // Whichever was verified.
  const messageIds = verification.by === 'standard-webhooks' && key.length === 0 ? [standardHeaders.id, svixId] : [];
  const places = [...event, ...action, ...repository, ...key, ...title, ...text, ...url, ...(failure ? [failure.at] : [])];
  const isSigned = verification.by !== 'hmac' || key.every((place) => place.kind !== 'header' || isSignedHeader(verification, place.header));
  const failing = failure?.is.map((word) => word.toLowerCase()) ?? [];
  return {
    name,
    vendor: label,
    setting: 'Sources__File',
    verification: verificationOf(verification),
    headers: Object.fromEntries(
      [...messageIds, ...places.flatMap((place) => (place.kind === 'header' ? place.header : []))].map((header) => [
        header,
        'Read as the file of sources says',
      ]),
    ),
    ...(takesForms && { takesForms }),
    ...(takesText && { takesText }),
    ...(handshake && { handshake: (asked) => answerTo(handshake, asked) }),
    takesLists: true,
    example: { body: {} },
    read: (delivery) => ({
      event: firstAt(delivery, event),
      action: firstAt(delivery, action),
      repository: firstAt(delivery, repository),
      // Without a place the digest of the body is the key.
      key: key.length === 0 ? [messageIds.map(delivery.header).find((id) => id !== undefined)] : key.map((place) => lineOf(delivery, place)),
      ...(!isSigned && { isKeyUnsigned: true }),
      isFailure: failure !== undefined && failing.includes(lineOf(delivery, failure.at)?.toLowerCase() ?? ''),
    }),
    notice: (payload, header) => ({
      title: `${label}: ${allAt({ payload, header }, title) || (firstAt({ payload, header }, event) ?? 'event')}`,
      text: allAt({ payload, header }, text),
      url: url.map((place) => urlIn(lineOf({ payload, header }, place))).find((url) => url !== null) ?? null,
    }),
  };
}

const isSignedHeader = ({ signed }: Hmac, header: string) => signed.toLowerCase().includes(`{header:${header.toLowerCase()}}`);

function lineOf({ payload, header }: SourceDelivery, place: Place): string | undefined {
  if (place.kind === 'value') return place.value;
  const found = place.kind === 'header' ? header(place.header) : valueAt(payload, place.pointer);
  return lineIn(typeof found === 'boolean' ? String(found) : found);
}

const valueAt = (payload: unknown, pointer: string) => pointerPath(pointer).reduce(step, payload);

/** A member of an object, or an element of a list by its number from 0; of a text, those of the JSON in it. */
function step(value: unknown, name: string): unknown {
  const inner = typeof value === 'string' && !isCostly(Buffer.from(value), maxValues) ? jsonIn(value) : value;
  return Array.isArray(inner) ? inner[/^\d{1,6}$/.test(name) ? Number(name) : -1] : memberAt(inner, name);
}

/** Bodies above it are deliveries. */
const maxHandshakeBytes = 16 * 1024;

function answerTo({ at, member }: Handshake, { method, url, headers, body = Buffer.alloc(0) }: Asked): Content | undefined {
  const found = at && challengeAt(at, { url, headers, body: body.length > maxHandshakeBytes ? Buffer.alloc(0) : body });
  const challenge = typeof found === 'string' && found !== '' ? found : undefined;
  if (challenge === undefined) return method === 'get' ? new Content('text/plain', '') : undefined;
  return member === undefined ? new Content('text/plain', challenge) : new Content('application/json', JSON.stringify({ [member]: challenge }));
}

function challengeAt(at: NonNullable<Handshake['at']>, { url, headers, body }: Required<Omit<Asked, 'method'>>): unknown {
  if (at.kind === 'query') return parseQuery(url.split('?').slice(1).join('?'))[at.query];
  return at.kind === 'header' ? headerOf(headers, at.header) : valueAt(jsonIn(body.toString()), at.pointer);
}

const linesAt = (delivery: SourceDelivery, places: readonly Place[]) => places.flatMap((place) => lineOf(delivery, place) ?? []);
const firstAt = (delivery: SourceDelivery, places: readonly Place[]) => linesAt(delivery, places)[0];
const allAt = (delivery: SourceDelivery, places: readonly Place[]) => linesAt(delivery, places).join(' ');

function verificationOf(verification: Declaration['verification']): Verification {
  if (verification.by === 'hmac') return hmacOf(verification);
  if (verification.by === 'token') return tokenOf(verification);
  return verification.by === 'basic' ? basic : standardWebhooks;
}

function hmacOf({ header, algorithm, encoding, prefix, separator, signed, time }: Hmac): SignatureVerification {
  const parts = signed.split(/(\{[^}]+\})/);
  const digestOf = (content: string) => `HMAC-${algorithm.toUpperCase()} of ${content} in ${encoding === 'hex' ? 'hexadecimal' : encoding}`;
  return {
    by: 'signature',
    header,
    meaning: `\`${prefix}\` and the ${digestOf(`\`${signed}\``)}, by one of the secrets; without it 401`,
    ...(time &&
      time.header.toLowerCase() !== header.toLowerCase() && {
        otherHeaders: { [time.header]: `When it was sent; more than ${time.toleranceSeconds} s from now 401` },
      }),
    createVerifier(secrets, clock) {
      const signatures = createSignatures(secrets, { algorithm, prefix, encoding });
      return (body, headers) => {
        const sentAt =
          time &&
          itemsOf(headers, { ...time, separator })
            .find((item) => item.startsWith(time.prefix))
            ?.slice(time.prefix.length);
        const content = parts.map((part) => contentOf(part, { body, headers, time: sentAt ?? '' }));
        const isSigned = itemsOf(headers, { header, separator }).some((item) => signatures.isValid(content, item));
        if (!isSigned || !time) return isSigned ? 'valid' : 'wrong';
        const ms = millisecondsOf(sentAt ?? '');
        if (ms === undefined) return 'wrong';
        return Math.abs(clock().getTime() - ms) > time.toleranceSeconds * 1000 ? 'late' : 'valid';
      };
    },
  };
}

/** Items of one header that are looked at. */
const mostItems = 20;

const itemsOf = (headers: IncomingHttpHeaders, { header, separator }: { readonly header: string; readonly separator: string | undefined }) => {
  const value = headerOf(headers, header) ?? '';
  return separator === undefined ? [value] : value.split(separator, mostItems).map((item) => item.trim());
};

function contentOf(
  part: string,
  { body, headers, time }: { readonly body: Buffer; readonly headers: IncomingHttpHeaders; readonly time: string },
): Buffer | string {
  if (part === '{body}') return body;
  if (part === '{time}') return time;
  const [, header] = /^\{header:(.+)\}$/.exec(part) ?? [];
  return header === undefined ? part : (headerOf(headers, header) ?? '');
}

/** Seconds or milliseconds since 1970, or a date. */
function millisecondsOf(time: string): number | undefined {
  if (/^\d{1,11}$/.test(time)) return Number(time) * 1000;
  if (/^\d{12,14}$/.test(time)) return Number(time);
  const ms = /^\d{4}-\d\d-\d\dT/.test(time) ? Date.parse(time) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

const described = 'A secret of the source, as the file of sources names it.';

const tokenOf = ({ header, prefix, inQuery }: Token): Verification => ({
  by: 'credential',
  inQuery,
  createGuard: (secrets, setting) =>
    credentialGuard(secrets, {
      header,
      description: described,
      forms: [`${header}: ${prefix}<secret of ${setting}>`, ...(inQuery ? [`?token=<secret of ${setting}>`] : [])],
      present(headers, query) {
        const inHeader = headerOf(headers, header);
        const given = [
          ...(inHeader === undefined ? [] : [inHeader.toLowerCase().startsWith(prefix.toLowerCase()) ? inHeader.slice(prefix.length).trim() : '']),
          ...[(inQuery ? parseQuery(query, undefined, undefined, { maxKeys: 0 })['token'] : undefined) ?? []].flat(),
        ];
        return given.length === 1 ? given[0] : undefined;
      },
    }),
});

/** RFC 7617; a secret is `user:password`. */
const basic: Verification = {
  by: 'credential',
  inQuery: false,
  createGuard: (secrets, setting) =>
    credentialGuard(secrets, {
      header: 'Authorization',
      description: described,
      forms: [`Authorization: Basic <secret of ${setting}>`],
      challenge: 'Basic realm="signalbox"',
      present({ authorization }) {
        const [, encoded] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '') ?? [];
        return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
      },
    }),
};
