// Deliveries with a valid signature, and what became of them in the workers and the dead letters.
import { createHmac, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { startProcess } from '../support/processes.ts';
import type { House, Running } from './house.ts';

export const sign = (secret: string, body: Buffer): string => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

export const secretOf = ({ settings }: House): string => settings['Forge__WebhookSecrets'] ?? '';

export type Delivered = { readonly status: number; readonly deliveryId: string; readonly ms: number };

/** On a connection of its own; status 0 when no answer came. */
export function deliver(house: House, body: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<Delivered> {
  const deliveryId = randomUUID();
  const begun = performance.now();
  const all = {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'X-GitHub-Event': 'issues',
    'X-GitHub-Delivery': deliveryId,
    'X-GitHub-Hook-ID': '7',
    'X-Hub-Signature-256': sign(secretOf(house), body),
    ...headers,
  };
  return new Promise((resolve) => {
    const done = (status: number) => resolve({ status, deliveryId, ms: performance.now() - begun });
    request({ port: house.service('webhook-relay').port, host: '127.0.0.1', method: 'POST', path: '/Forge', agent: false, headers: all })
      .on('response', (response) => response.resume().once('close', () => done(response.statusCode ?? 0)))
      .on('error', () => done(0))
      .end(body);
  });
}

/** The sum of the series that match. */
export async function metric({ metricsUrl }: Pick<Running, 'metricsUrl'>, pattern: RegExp): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^${pattern.source} (\\S+)$`, 'gm'))].reduce((sum, found) => sum + Number(found.at(-1)), 0);
}

/** A line each, as the command lists them. */
export async function deadLetters({ settings }: Pick<House, 'settings'>): Promise<readonly string[]> {
  const listing = startProcess(['webhook-intake', 'dead-letters', '--limit', '1000000'], { env: settings });
  const { code } = await listing.exited;
  if (code !== 0) throw new Error(`dead-letters failed:\n${listing.lines.join('\n')}`);
  return listing.lines.filter((line) => /^\d{4}-\d\d-\d\dT/.test(line.trim()));
}
