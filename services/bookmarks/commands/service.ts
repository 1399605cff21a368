// Requests of the commands to the service; failures are explained in words.
import { describeError } from '../../platform/errors.ts';
import { saidIn } from '../../platform/problem.ts';
import { exportSettings } from './settings.ts';

/** The catalogue, for messages on answers that are none of it. */
export const catalogueAt = (address: string) => ({ address, service: 'the bookmark catalogue', setting: exportSettings.address.name });

/** @returns a successful answer @throws Error that names the cause */
export async function ask(url: string, init: RequestInit): Promise<Response> {
  // A redirect is not followed: it would take the key to another host.
  const response = await fetch(url.replace(/([^:])\/\/+/g, '$1/'), { ...init, redirect: 'manual' }).catch((error: unknown) => {
    if (init.signal?.aborted === true) throw new Error('interrupted; the same command may be given again', { cause: error });
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new Error(`the bookmark catalogue at ${new URL(url).origin} cannot be reached, or broke off: ${describeError(cause)}`, { cause: error });
  });
  if (response.ok) return response;
  if (response.status === 401) throw new Error(`the service at ${new URL(url).origin} refuses Bookmarks__ApiKeys`);
  throw new Error(`the service answered ${response.status} (${saidIn(await response.text())})`);
}
