// How long the certificate of a server is valid: of an HTTPS address, a broker, Redis or Postgres.
import { once } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { dayMs } from '../../platform/time.ts';
import type { Finding } from './finding.ts';

const usualPorts: Readonly<Record<string, number>> = { 'https:': 443, 'amqps:': 5671, 'rediss:': 6379, 'postgres:': 5432, 'postgresql:': 5432 };
const connectMs = 8000;
const soonDays = 21;

/** @param url may hold a password, which is not repeated */
export async function certificateFinding(subject: string, url: string): Promise<Finding> {
  const { protocol, hostname, port } = new URL(url);
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? (usualPorts[protocol] ?? 443) : Number(port) };
  const validTo = await endOf(target, protocol.startsWith('postgres'));
  return judge(subject, validTo, new Date());
}

export function judge(subject: string, validTo: Date, now: Date): Finding {
  const days = Math.floor((validTo.getTime() - now.getTime()) / dayMs);
  const toDo = 'renew it; where cert-manager renews it, its Certificate says why it did not';
  if (days < 0) return { subject, state: 'wrong', detail: `its certificate ended on ${validTo.toISOString().slice(0, 10)}`, toDo };
  const detail = `its certificate ends in ${days} days`;
  return days < soonDays ? { subject, state: 'warning', detail, toDo } : { subject, state: 'ok', detail };
}

type Target = { readonly host: string; readonly port: number };

/** The signer does not matter here: whether the certificate is trusted shows where it is used. */
async function endOf(target: Target, isPostgres: boolean): Promise<Date> {
  const plain = connectPlain({ ...target, timeout: connectMs });
  plain.once('timeout', () => plain.destroy(new Error(`no answer within ${connectMs / 1000} s`)));
  try {
    await once(plain, 'connect');
    if (isPostgres) await askForTls(plain);
    const secure: TLSSocket = connect({ socket: plain, rejectUnauthorized: false, ...(isIP(target.host) === 0 && { servername: target.host }) });
    await once(secure, 'secureConnect');
    return new Date(secure.getPeerCertificate().valid_to);
  } finally {
    plain.destroy();
  }
}

/** SSLRequest of the Postgres protocol, section 54.7 of its documentation: eight bytes, answered by S or N. */
async function askForTls(socket: Socket): Promise<void> {
  const request = Buffer.alloc(8);
  request.writeInt32BE(8, 0);
  request.writeInt32BE(80_877_103, 4);
  socket.write(request);
  const answer = await new Promise<string>((resolve, reject) => socket.once('data', (bytes) => resolve(bytes.toString())).once('error', reject));
  if (answer !== 'S') throw new Error('Postgres offers no TLS');
}
