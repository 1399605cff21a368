// The description of a direct source: how its deliveries are verified, and what the log and a notification take from them.
import type { IncomingHttpHeaders } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import type { Secret } from '../../platform/config/secret.ts';
import { credentialRefused, type Guard, type StaticCredential, staticGuard } from '../../platform/http/credentials.ts';
import type { Content } from '../../platform/http/route.ts';
import { createSignatures, type SignatureForm } from '../../platform/http/signatures.ts';
import { createStandardVerifier, standardHeaders, toleranceSeconds } from '../../platform/http/standard-webhooks.ts';
import { memberAt, storable } from '../../platform/json.ts';
import { Common } from '../../platform/problem.ts';
import type { Notice } from '../notifications/notice.ts';

/** A payload of a direct source has a few hundred values; as many as these cost some 7 MB once parsed. */
export const maxValues = 100_000;

export type SourceDelivery = {
  /** A JSON object; of a form its members. */
  readonly payload: unknown;
  /** One of those that the source names in `headers`. */
  readonly header: (name: string) => string | undefined;
};

/** A request that may ask, as it came. */
export type Asked = { readonly method: 'get' | 'post'; readonly url: string; readonly headers: IncomingHttpHeaders; readonly body?: Buffer };

/** The members of a delivery for the log, in the source's own words. The log replaces a missing one. */
export type SourceEvent = {
  readonly event: string | undefined;
  readonly action?: string | undefined;
  /** owner/name, as the source spells it. */
  readonly repository?: string | undefined;
  /** Together unique to a delivery and the same when it is sent again. If one is undefined, the key is the body's digest. */
  readonly key: readonly (string | undefined)[];
  /** Something broke and needs attention. */
  readonly isFailure: boolean;
  /** The key comes from unsigned headers: the same body under another key is a duplicate, too. */
  readonly isKeyUnsigned?: true;
};

export type Source = {
  /** Its path, and its name in the event log: small letters. */
  readonly name: string;
  readonly vendor: string;
  /** The setting that switches it on; `Sources__<Name>Secrets` unless given. */
  readonly setting?: string;
  readonly verification: Verification;
  /** Request headers beside the credential that it reads, name to meaning; kept with the event. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it may send forms too. */
  readonly takesForms?: true;
  /** Whether it may send JSON as plain text. */
  readonly takesText?: true;
  /** For a sender that asks before it delivers: what it wants to read. Undefined for a POST that delivers. */
  readonly handshake?: (asked: Asked) => Content | undefined;
  /** Whether it may send a list of events in one body, which is one delivery. */
  readonly takesLists?: true;
  /** A delivery, made up by the members that its vendor documents; for the API description. */
  readonly example: { readonly headers?: Readonly<Record<string, string>>; readonly body: object };
  readonly read: (delivery: SourceDelivery) => SourceEvent;
  readonly notice: (payload: unknown, header: SourceDelivery['header']) => Notice;
};

/** A source that is on, with its secrets, any of which is valid. */
export type ConfiguredSource = { readonly source: Source; readonly secrets: readonly Secret[] };

/** `late`: the signature is valid, but its time is too far from now. */
export type Verified = 'valid' | 'wrong' | 'late';

/** By a signature of the body, or by a credential that is looked at before the body is read. */
export type Verification =
  | {
      readonly by: 'signature';
      /** Where it belongs; the 401 names it. */
      readonly header: string;
      /** The content of the header, and other headers that are checked with it, for the API description. */
      readonly meaning: string;
      readonly otherHeaders?: Readonly<Record<string, string>>;
      readonly createVerifier: (secrets: readonly Secret[], clock: () => Date) => (body: Buffer, headers: IncomingHttpHeaders) => Verified;
      /** Where a delivery without the signature may have the shared token. */
      readonly orToken?: true;
    }
  | {
      readonly by: 'credential';
      /** Whether it may come as `token` in the query. */
      readonly inQuery: boolean;
      /** @param setting has the secrets; the 401 names it */
      readonly createGuard: (secrets: readonly Secret[], setting: string) => Guard;
    };

export type SignatureVerification = Extract<Verification, { readonly by: 'signature' }>;

/** An HMAC of the bytes of the body. */
export function signature(header: string, form: Partial<SignatureForm> = {}): SignatureVerification {
  const whole: SignatureForm = { algorithm: 'sha256', prefix: '', ...form };
  return {
    by: 'signature',
    header,
    meaning: `${whole.prefix === '' ? 'The' : `\`${whole.prefix}\` and the`} HMAC-${whole.algorithm.toUpperCase()} of the bytes of the body in hexadecimal, by one of the secrets; without it 401`,
    createVerifier(secrets) {
      const signatures = createSignatures(secrets, whole);
      return (body, headers) => (signatures.isValid(body, headerOf(headers, header)) ? 'valid' : 'wrong');
    },
  };
}

/** Besides, a header that the signature does not cover must have a time near now, which stops plain repeats of a captured request. */
export const nearNow = (verification: SignatureVerification, timeHeader: string): SignatureVerification => ({
  ...verification,
  otherHeaders: { [timeHeader]: 'When it was sent, in Unix seconds; more than 5 minutes from now 401' },
  createVerifier(secrets, clock) {
    const verify = verification.createVerifier(secrets, clock);
    return (body, headers) => {
      const seconds = Number(/^\d{1,12}$/.exec(headerOf(headers, timeHeader) ?? '')?.[0]);
      const verified = verify(body, headers);
      if (verified !== 'valid' || Number.isNaN(seconds)) return 'wrong';
      return Math.abs(clock().getTime() / 1000 - seconds) > toleranceSeconds ? 'late' : 'valid';
    };
  },
});

/** Undefined where it is missing; Node joins the values of one that came twice, which no verification accepts. */
export const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
};

/** https://www.standardwebhooks.com/ */
export const standardWebhooks: SignatureVerification = {
  by: 'signature',
  header: standardHeaders.signature,
  meaning: 'Signatures as Standard Webhooks has them: `v1,` and base64, several with a space between; without a valid one 401',
  otherHeaders: {
    [standardHeaders.id]: 'The id of the message',
    [standardHeaders.timestamp]: 'When it was sent, in Unix seconds; more than 5 minutes from now 401',
  },
  createVerifier: (secrets, clock) => createStandardVerifier(secrets, clock),
};

const tokenHeader = 'X-Source-Token';

/** In the header X-Source-Token or, for senders that cannot set headers, in the query as `token`; given twice it is refused. */
export const sharedToken: Extract<Verification, { readonly by: 'credential' }> = {
  by: 'credential',
  inQuery: true,
  createGuard: (secrets, setting) =>
    credentialGuard(secrets, {
      header: tokenHeader,
      description: 'A value of the setting of the source, such as `Sources__HealthchecksSecrets`.',
      forms: [`${tokenHeader}: <secret of ${setting}>`, `?token=<secret of ${setting}>`],
      present(headers, query) {
        const inQuery = parseQuery(query, undefined, undefined, { maxKeys: 0 })['token'];
        const given = [headers[tokenHeader.toLowerCase()] ?? [], inQuery ?? []].flat();
        return given.length === 1 ? given[0] : undefined;
      },
    }),
};

/** The whole value of the header Authorization, whatever it looks like. */
export const authorizationValue: Verification = {
  by: 'credential',
  inQuery: false,
  createGuard: (secrets, setting) =>
    credentialGuard(secrets, {
      header: 'Authorization',
      description: 'The header as it was entered at the source: a value of its setting, such as `Sources__AppveyorSecrets`.',
      forms: [`Authorization: <secret of ${setting}>`],
      present: ({ authorization }) => authorization,
    }),
};

type Shown = Pick<StaticCredential, 'forms' | 'present'> & {
  readonly header: string;
  readonly description: string;
  /** The name of the header unless given. */
  readonly challenge?: string;
};

export const credentialGuard = (secrets: readonly Secret[], { header, description, ...sent }: Shown): Guard =>
  staticGuard(secrets, {
    name: header.toLowerCase(),
    scheme: { type: 'apiKey', in: 'header', name: header, description },
    challenge: header,
    ...sent,
  });

/** A signature, or the shared token. */
export const signatureOrToken = (header: string, form: Partial<SignatureForm> = {}): SignatureVerification => ({ ...signature(header, form), orToken: true });

/** For missing and wrong signatures alike. @param header where the signature belongs @param setting has the secrets */
export const refused = (header: string, setting: string) =>
  credentialRefused({ forms: [`${header}: <signature by a secret of ${setting}>`], challenges: [header] });

export const refusedAsLate = (header: string) =>
  Common.unauthorized({
    detail: 'The signature is valid, but its time is too far from the time here: it is a repeat, or one of the two clocks is wrong.',
    headers: { 'WWW-Authenticate': header },
  });

/** More serves no title and no column. */
const maxLineLength = 500;

/** Text or a number, on one line and storable; undefined for anything else. */
export function lineIn(value: unknown): string | undefined {
  // A larger number loses its last digits: two of them may read alike, and the second delivery would count as the first.
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : undefined;
  if (typeof value !== 'string') return undefined;
  const text = storable(value.slice(0, maxLineLength)).replaceAll(/\s+/g, ' ').trim();
  return text === '' ? undefined : text;
}

/** The line at a path of members. */
export const lineAt = (payload: unknown, ...path: readonly string[]): string | undefined => lineIn(memberAt(payload, ...path));

/** An address that may be shown as a link: what is not http or https is none. */
export function urlIn(line: string | undefined): string | null {
  const { protocol, href = '' } = URL.parse(line ?? '') ?? {};
  return protocol === 'https:' || protocol === 'http:' ? href : null;
}

/** The address at a path of members. */
export const urlAt = (payload: unknown, ...path: readonly string[]): string | null => urlIn(lineAt(payload, ...path));

/** How many there are; 0 where there is no list. */
export function countAt(payload: unknown, ...path: readonly string[]): number {
  const value = memberAt(payload, ...path);
  return Array.isArray(value) ? value.length : 0;
}
