// Deliveries that a Gitea 1.26.0 made, trimmed to the members that matter; without their signatures.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'deliveries');

/** @param name of its files, such as `push-many` @returns headers in lower case */
export function giteaDelivery(name: string) {
  const lines = readFileSync(join(folder, `${name}.headers`), 'utf8')
    .trim()
    .split('\n');
  const headers = Object.fromEntries(lines.map((line) => line.split(': ')).map(([header = '', value = '']) => [header.toLowerCase(), value]));
  const body = readFileSync(join(folder, `${name}.json`));
  const payload: unknown = JSON.parse(body.toString('utf8'));
  return { headers, body, payload };
}
