// Why a delivery counts as unsigned: each fault has another remedy.
import type { IncomingHttpHeaders } from 'node:http';
import type { Forge } from '../forges/forge.ts';

/** A header that tells of a sender whose deliveries are not taken here. */
const elsewhere = new Map([
  ['x-gitlab-event', 'GitLab'],
  ['x-event-key', 'Bitbucket'],
]);

const digits = /^[0-9a-f]{64}$/i;

export function describeFault({ name, signature: { header, form }, otherSignatures }: Forge, headers: IncomingHttpHeaders): string {
  const valueOf = (named: string) => String(headers[named.toLowerCase()] ?? '');
  const value = valueOf(header);
  if (value !== '' && value !== form.prefix) {
    const isOfForm = value.toLowerCase().startsWith(form.prefix) && digits.test(value.slice(form.prefix.length));
    return isOfForm
      ? 'The signature matches none of Forge__WebhookSecrets: the secret at the forge is another one, or a proxy changed the body.'
      : `The header ${header} is not ${form.prefix} and 64 hexadecimal digits.`;
  }
  for (const [named, sender] of elsewhere) {
    if (headers[named] !== undefined) return `${sender} does not deliver to /Forge, but to the intake, as a source of your own: docs/sources.md.`;
  }
  // Without a secret some forges send the headers with an algorithm and no digest.
  const other = Object.keys(otherSignatures).find((named) => valueOf(named).replace(/^\w+=/, '') !== '');
  if (other !== undefined) return `The header ${header} is missing; ${other} came, which is not verified: ${otherSignatures[other]}.`;
  return `The header ${header} ${value === '' ? 'is missing' : 'has no value'}: set a secret at the webhook of ${name}, one of Forge__WebhookSecrets.`;
}
