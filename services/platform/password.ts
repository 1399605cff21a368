// Password hashes: scrypt of node:crypto, stored with parameters and salt.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { Common } from './problem.ts';
import { createKeyedSemaphore } from './semaphore.ts';

type Parameters = { readonly N: number; readonly r: number; readonly p: number };

/** 32 MiB and a tenth of a second, as the OWASP password storage cheat sheet recommends. */
const usual: Parameters = { N: 2 ** 15, r: 8, p: 3 };
const keyBytes = 32;
const leastMemoryFactor = 128;

// Without `$`, which shells and compose files read as a variable.
const pattern = /^scrypt:(\d{1,7}):(\d{1,2}):(\d{1,2}):([\w-]{16,128}):([\w-]{43})$/;

function read(hash: string) {
  const [, N, r, p, salt = '', key = ''] = pattern.exec(hash) ?? [];
  return { parameters: { N: Number(N), r: Number(r), p: Number(p) }, salt: Buffer.from(salt, 'base64url'), key: Buffer.from(key, 'base64url') };
}

/** Whether the text is a result of `hashPassword`, with parameters that a service can afford. */
export function isPasswordHash(text: string): boolean {
  const { N, r, p } = read(text).parameters;
  return pattern.test(text) && N >= 2 ** 14 && N <= 2 ** 18 && Number.isInteger(Math.log2(N)) && r >= 1 && r <= 16 && p >= 1 && p <= 16;
}

const derive = (password: string, salt: Buffer, { N, r, p }: Parameters): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const maxmem = 2 * leastMemoryFactor * N * r;
    scrypt(password.normalize('NFKC'), salt, keyBytes, { N, r, p, maxmem }, (error, key) => (error ? reject(error) : resolve(key)));
  });

/** @returns `scrypt:<N>:<r>:<p>:<salt>:<key>`, salt and key in base64url */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, usual);
  return ['scrypt', usual.N, usual.r, usual.p, salt.toString('base64url'), key.toString('base64url')].join(':');
}

/** @param hash as `isPasswordHash` takes it */
export async function isPassword(presented: string, hash: string): Promise<boolean> {
  const { parameters, salt, key } = read(hash);
  return timingSafeEqual(await derive(presented, salt, parameters), key);
}

/** Each hash takes 32 MiB and a thread; many at once would exhaust the service's memory, and the threads that look up host names. */
const hashesAtOnce = 2;
const hashWaitMs = 10_000;

/**
 * Compares a password with all hashes, also after a match, so that the time tells nothing. Two clients at once in the process, and one password of
 * a client: thousands of tries of one, under as many names, hold up no other.
 * @throws Problem 503 when too many wait
 */
export function createPasswordCheck(): (presented: Presented, hashes: readonly string[]) => Promise<boolean> {
  const turns = createKeyedSemaphore({ perKey: 1, total: hashesAtOnce });
  return async ({ password, client }, hashes) => {
    const leave = await turns.acquire(client, hashWaitMs);
    if (!leave) throw Common.unavailable({ headers: { 'Retry-After': '5' } });
    try {
      let isRight = false;
      for (const hash of hashes) isRight = (await isPassword(password, hash)) || isRight;
      return isRight;
    } finally {
      leave();
    }
  };
}

type Presented = { readonly password: string; /** As `clientIn` gives it. */ readonly client: string };
