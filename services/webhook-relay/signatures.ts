// Whether a delivery is signed with one of our secrets, and if not, why.
import type { IncomingHttpHeaders } from 'node:http';
import type { Forge } from '../forges/forge.ts';
import { forges } from '../forges/forges.ts';
import type { Secret } from '../platform/config/secret.ts';
import { createSignatures } from '../platform/http/signatures.ts';

type Signed = { readonly forge: Forge; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

export type ForgeSignatures = ReturnType<typeof createForgeSignatures>;

export function createForgeSignatures(secrets: readonly Secret[]) {
  const byForge = new Map(forges.map((forge) => [forge, createSignatures(secrets, forge.signature.form)]));
  return {
    /** Undefined when the signature is right; else the fault, since each has another remedy. */
    faultOf({ forge, headers, body }: Signed): string | undefined {
      const given = headers[forge.signature.header.toLowerCase()];
      const isValid = byForge.get(forge)?.isValid(body, typeof given === 'string' ? given : undefined) ?? false;
      return isValid ? undefined : describeFault(forge, headers);
    },
  };
}

const digits = /^[0-9a-f]{64}$/i;

function describeFault({ name, signature: { header, form }, otherSignatures }: Forge, headers: IncomingHttpHeaders): string {
  const valueOf = (named: string) => String(headers[named.toLowerCase()] ?? '');
  const value = valueOf(header);
  if (value !== '' && value !== form.prefix) {
    const isOfForm = value.toLowerCase().startsWith(form.prefix) && digits.test(value.slice(form.prefix.length));
    return isOfForm
      ? 'The signature matches none of Forge__WebhookSecrets: the secret at the forge is another one, or a proxy changed the body.'
      : `The header ${header} is not ${form.prefix} and 64 hexadecimal digits.`;
  }
  // Without a secret some forges send the headers with an algorithm and no digest.
  const other = Object.keys(otherSignatures).find((named) => valueOf(named).replace(/^\w+=/, '') !== '');
  if (other !== undefined) return `The header ${header} is missing; ${other} came, which is not verified: ${otherSignatures[other]}.`;
  return `The header ${header} ${value === '' ? 'is missing' : 'has no value'}: set a secret at the webhook of ${name}, one of Forge__WebhookSecrets.`;
}
