// The description of a forge: what differs between forges in the deliveries of their webhooks. GitHub's words and payloads are the common form.
import type { SignatureForm } from '../platform/http/signatures.ts';
import type { JsonObject } from '../platform/json.ts';

/** The names of headers, in lower case; where a list has several, the first that is present counts. */
export type ForgeHeaders = {
  readonly event: readonly string[];
  /** The event in the forge's finer words, such as `issue_label`; some forges send it alone. */
  readonly eventType: readonly string[];
  readonly deliveryId: readonly string[];
  readonly hookId: readonly string[];
  readonly targetId: readonly string[];
  readonly targetType: readonly string[];
  /** The host of the forge's own installation. */
  readonly host: readonly string[];
};

/** The forge's own words for a delivery; empty where it has none. */
export type ForgeWords = { readonly event: string; readonly eventType: string; readonly action: string };

export type Forge = {
  /** Stored with events and sent with messages. */
  readonly kind: string;
  readonly name: string;
  /** Headers that this forge sends and the ones before it in the list do not; in lower case. */
  readonly recognisedBy: readonly string[];
  readonly headers: ForgeHeaders;
  /** The header that holds the HMAC of the body, as the forge spells it, and its form. */
  readonly signature: { readonly header: string; readonly form: SignatureForm };
  /** Headers with signatures that are not verified, as the forge spells them, and why not: the answer to a delivery with nothing else says it. */
  readonly otherSignatures: Readonly<Record<string, string>>;
  /** The event in GitHub's word for it; an unknown one stays as it is. Absent where all words are GitHub's. */
  readonly eventOf?: (words: ForgeWords) => string;
  /**
   * The payload in GitHub's form: `action`, `sender.type` and the members that are read of it have GitHub's names and words; all others stay.
   * Absent where it is that form. Total: members of another kind than expected stay as they are.
   * @param event the word of `eventOf`
   */
  readonly payloadOf?: (event: string, payload: JsonObject) => JsonObject;
};
