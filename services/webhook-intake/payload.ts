// The payload of a delivery: unpacked and parsed, or the reason why it never can be.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Delivery } from '../platform/broker/broker.ts';

export type Unreadable = { readonly unreadable: string };
export type Payload = { readonly value: unknown; readonly bytes: number } | Unreadable;

const unpack = promisify(gunzip);

/** The relay takes 25 MiB unless told otherwise; a packed body that grows beyond this is an attack on our memory. */
const maxBytes = 128 * 1024 * 1024;

export async function readPayload({ body, contentEncoding }: Pick<Delivery, 'body' | 'contentEncoding'>): Promise<Payload> {
  let bytes = body;
  if (contentEncoding === 'gzip') {
    try {
      bytes = await unpack(body, { maxOutputLength: maxBytes });
    } catch (error) {
      return { unreadable: `the payload cannot be unpacked: ${reason(error)}` };
    }
  }
  try {
    return { value: JSON.parse(bytes.toString('utf8')), bytes: bytes.length };
  } catch (error) {
    return { unreadable: `the payload is not JSON: ${reason(error)}` };
  }
}

const reason = (error: unknown) => (error instanceof Error ? error.message : 'unknown reason');
