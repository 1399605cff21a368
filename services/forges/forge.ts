// The description of a forge: how the deliveries of its webhooks differ from GitHub's, whose event names and payloads are the common form.
import type { SignatureForm } from '../platform/http/signatures.ts';
import type { JsonObject } from '../platform/json.ts';

/** The names of headers, in lower case; where a list has several, the first that is present counts. */
export type ForgeHeaders = {
  readonly event: readonly string[];
  /** A more detailed event name, such as `issue_label`; some forges send no other. */
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
  /** Signature headers that are not verified, as the forge spells them → why not: the refusal of a delivery with no other signature says it. */
  readonly otherSignatures: Readonly<Record<string, string>>;
  /** GitHub's name of the event; an unknown event keeps its name. Absent for a forge that uses GitHub's names. */
  readonly eventOf?: (words: ForgeWords) => string;
  /**
   * The payload in GitHub's form: `action`, `sender.type` and the members that the services read have GitHub's names and values; all others stay.
   * Absent for a forge that sends that form. Never throws: members of an unexpected type stay as they are.
   * @param event the result of `eventOf`
   */
  readonly payloadOf?: (event: string, payload: JsonObject) => JsonObject;
};
