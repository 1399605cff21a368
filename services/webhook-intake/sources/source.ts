// The description of a direct source: how its deliveries are verified, and what the log and a notification take from them.
import { parse as parseQuery } from 'node:querystring';
import type { Secret } from '../../platform/config/secret.ts';
import { credentialRefused, type Guard, type StaticCredential, staticGuard } from '../../platform/http/credentials.ts';
import type { SignatureForm } from '../../platform/http/signatures.ts';
import { memberAt, storable } from '../../platform/json.ts';
import type { Notice } from '../notifications/notice.ts';

export type SourceDelivery = {
  /** A JSON object; of a form its members. */
  readonly payload: unknown;
  /** One of those that the source names in `headers`. */
  readonly header: (name: string) => string | undefined;
};

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
  readonly verification: Verification;
  /** Request headers beside the credential that it reads, name to meaning; kept with the event. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it may send forms too. */
  readonly takesForms?: true;
  /** A delivery, made up by the members that its vendor documents; for the API description. */
  readonly example: { readonly headers?: Readonly<Record<string, string>>; readonly body: object };
  readonly read: (delivery: SourceDelivery) => SourceEvent;
  readonly notice: (payload: unknown) => Notice;
};

/** A source that is on, with its secrets, any of which is valid. */
export type ConfiguredSource = { readonly source: Source; readonly secrets: readonly Secret[] };

/** By a signature of the body, or by a credential that is looked at before the body is read. */
export type Verification =
  | {
      readonly by: 'signature';
      readonly header: string;
      readonly form: SignatureForm;
      /** Where a delivery without the signature may have the shared token. */
      readonly orToken?: true;
    }
  | {
      readonly by: 'credential';
      /** Whether it may come as `token` in the query. */
      readonly inQuery: boolean;
      readonly createGuard: (secrets: readonly Secret[]) => Guard;
    };

export type SignatureVerification = Extract<Verification, { readonly by: 'signature' }>;

export const signature = (header: string, form: Partial<SignatureForm> = {}): SignatureVerification => ({
  by: 'signature',
  header,
  form: { algorithm: 'sha256', prefix: '', ...form },
});

const tokenHeader = 'X-Source-Token';

/** In the header X-Source-Token or, for senders that cannot set headers, in the query as `token`; given twice it is refused. */
export const sharedToken: Extract<Verification, { readonly by: 'credential' }> = {
  by: 'credential',
  inQuery: true,
  createGuard: (secrets) =>
    guard(secrets, {
      header: tokenHeader,
      description: 'A value of the setting of the source, such as `Sources__HealthchecksSecrets`.',
      forms: [`${tokenHeader}: <value>`, '?token=<value>'],
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
  createGuard: (secrets) =>
    guard(secrets, {
      header: 'Authorization',
      description: 'The header as it was entered at the source: a value of its setting, such as `Sources__AppveyorSecrets`.',
      forms: ['Authorization: <value>'],
      present: ({ authorization }) => authorization,
    }),
};

type Shown = Pick<StaticCredential, 'forms' | 'present'> & { readonly header: string; readonly description: string };

const guard = (secrets: readonly Secret[], { header, description, ...sent }: Shown): Guard =>
  staticGuard(secrets, {
    name: header.toLowerCase(),
    scheme: { type: 'apiKey', in: 'header', name: header, description },
    challenge: header,
    ...sent,
  });

/** A signature, or the shared token. */
export const signatureOrToken = (header: string, form: Partial<SignatureForm> = {}): SignatureVerification => ({ ...signature(header, form), orToken: true });

/** @param header where the signature belongs */
export const refused = (header: string) => credentialRefused({ forms: [`${header}: <value>`], challenges: [header] });

/** More serves no title and no column. */
const maxLineLength = 500;

/** Text or a number at a path of members, on one line and storable; undefined where there is none. */
export function lineAt(payload: unknown, ...path: readonly string[]): string | undefined {
  const value = memberAt(payload, ...path);
  // A larger number loses its last digits: two of them may read alike, and the second delivery would count as the first.
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : undefined;
  if (typeof value !== 'string') return undefined;
  const text = storable(value.slice(0, maxLineLength)).replaceAll(/\s+/g, ' ').trim();
  return text === '' ? undefined : text;
}

/** An address that may be shown as a link: what is not http or https is none. */
export function urlAt(payload: unknown, ...path: readonly string[]): string | null {
  const { protocol, href = '' } = URL.parse(lineAt(payload, ...path) ?? '') ?? {};
  return protocol === 'https:' || protocol === 'http:' ? href : null;
}

/** How many there are; 0 where there is no list. */
export function countAt(payload: unknown, ...path: readonly string[]): number {
  const value = memberAt(payload, ...path);
  return Array.isArray(value) ? value.length : 0;
}
