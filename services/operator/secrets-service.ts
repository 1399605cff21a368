// The secrets service for the controllers: its clients, the meaning of its refusals for a condition, and its change feed.
import { createHmac, hkdfSync } from 'node:crypto';
import { createConsumerClient, createManagementClient, type ManagementClient, NoAnswer, Refusal, InvalidCredential, InvalidName } from '../secrets/client.ts';
import { backOffMs, sleepUntil } from '../platform/time.ts';
import type { Changes, Feed, FeedContext } from './manager.ts';
import type { Reason } from './contract.ts';

export type SecretsServiceOptions = {
  readonly baseUrl: string;
  readonly adminKey: string;
  /** Tokens that `adminKey` replaces: what was sealed by them is still believed. */
  readonly formerAdminKeys?: readonly string[];
};
export type SecretsService = ReturnType<typeof createSecretsService>;

export function createSecretsService({ baseUrl, adminKey, formerAdminKeys = [] }: SecretsServiceOptions) {
  const management = (signal: AbortSignal) => createManagementClient({ baseUrl, credential: adminKey, signal });
  const follow: Feed = (onChanges, context) => followChanges(management(context.signal), onChanges, context);
  const seal = createSealing(adminKey);
  const seals = [seal, ...formerAdminKeys.map(createSealing)];
  return {
    /** A MAC of the parts under a key derived from the administrator's token, which writers of Secrets cannot make. */
    seal,
    /** Whether it is the seal of the parts, by the token of now or a former one. */
    isSeal: (given: string | undefined, parts: readonly string[]): boolean => seals.some((sealOf) => given === sealOf(parts)),
    management,
    follow,
    /** @throws InvalidCredential */
    consumer: (apiKey: string, signal: AbortSignal) => createConsumerClient({ baseUrl, credential: apiKey, signal }),
  };
}

function createSealing(token: string): (parts: readonly string[]) => string {
  const key = Buffer.from(hkdfSync('sha256', token, '', 'signalbox operator: seals of Secrets', 32));
  return (parts) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex');
}

/** Undefined for any other error, such as a bug; the caller throws it on. */
export function serviceFailure(error: unknown): { readonly reason: Reason; readonly message: string } | undefined {
  if (error instanceof NoAnswer) return { reason: 'ServiceUnavailable', message: error.message };
  if (error instanceof InvalidCredential) return { reason: 'KeyRefused', message: error.message };
  if (error instanceof InvalidName) return { reason: 'ValueRefused', message: error.message };
  if (!(error instanceof Refusal)) return undefined;
  if (error.status === 401 || error.status === 403) return { reason: 'KeyRefused', message: error.message };
  if (error.status === 404) return { reason: 'NotFound', message: error.message };
  if (error.status === 429 || error.status >= 500) return { reason: 'ServiceUnavailable', message: error.message };
  return { reason: 'ValueRefused', message: error.message };
}

/** Undefined instead of a 404. */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined;
    throw error;
  }
}

const pauses = { firstMs: 1000, longestMs: 30_000 };

/** Follows the feed until the signal. After an outage, or when the cursor has expired, everything may have changed. */
async function followChanges(client: ManagementClient, onChanges: (changes: Changes) => void, context: FeedContext): Promise<void> {
  const { signal, log } = context;
  let cursor: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const page = await client.changes(cursor);
      if (cursor === undefined) onChanges('all');
      else if (page.changes.length > 0) onChanges(page.changes);
      cursor = page.cursor;
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal && error.status === 410) cursor = undefined;
      else {
        failures += 1;
        log.warn({ error }, 'reading the change feed of the secrets service failed; retrying');
        await sleepUntil(signal, backOffMs(failures, pauses));
      }
    }
  }
}
