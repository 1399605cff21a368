// The form of Vault's API: its errors, its envelope, and the token of a request.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { throwingGuard } from '../../platform/http/credentials.ts';
import type { RefusalForm } from '../../platform/http/refusals.ts';
import { answer, Content } from '../../platform/http/route.ts';
import { Common } from '../../platform/problem.ts';
import type { SecretReader } from '../consumer/reader.ts';
import { describedUnkept, unkept } from '../contract.ts';

export type VaultParts = { readonly reader: SecretReader; readonly clock: () => Date };

const VaultErrors = z.object({ errors: z.array(z.string()).describe('The errors in words; empty where nothing was found') }).meta({ id: 'VaultErrors' });

/** `{"errors": […]}`: for what is not there without a word, as Vault does it. */
export const refusals: RefusalForm = {
  description: "Errors of Vault's API.",
  mediaType: 'application/json',
  toBody: ({ status, detail, kind }) => ({ errors: status === 404 ? [] : [status === 403 ? 'permission denied' : (detail ?? kind.title)] }),
  schemaOf: () => VaultErrors,
};

/** The one answer to a token that is missing, wrong, replaced or of a deleted application. */
export const permissionDenied = () => Common.forbidden();

export const tokenIn = (headers: IncomingHttpHeaders): string =>
  [headers['x-vault-token']?.toString(), /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]].find(Boolean) ?? '';

/** Whether the client asks for a token in place of the answer, which it then could not read. */
const isWrapped = (headers: IncomingHttpHeaders) => !/^(?:0+[a-z]*)?$/.test(headers['x-vault-wrap-ttl']?.toString() ?? '');

/** The hash that the application is found by. @throws Problem 403 where there is no token, or one that is not valid, 400 for an answer to be wrapped */
export async function hashIn(reader: SecretReader, headers: IncomingHttpHeaders): Promise<Buffer> {
  const keyHash = await reader.hashOf(tokenIn(headers));
  if (!keyHash) throw permissionDenied();
  if (isWrapped(headers) && (await reader.keyIdOf(keyHash)) !== undefined) throw Common.malformed({ detail: 'response wrapping is not supported' });
  return keyHash;
}

/** Members that all routes but the login have; each checks the token in the statement that reads, and before any other refusal. */
export const ofVault = (reader: SecretReader) =>
  ({
    access: 'checkedByHandler',
    guard: throwingGuard((headers) => requireKey(reader, headers)),
    refusals,
    describedHeaders: { 'X-Vault-Token': { description: 'The key of an application; `Authorization: Bearer` is accepted as well', isRequired: true } },
    describedAnswerHeaders: { 200: describedUnkept },
  }) as const;

export const Envelope = z
  .looseObject({ data: z.looseObject({}).describe('The answer itself') })
  .meta({ id: 'VaultAnswer', description: "An answer of Vault's API." });

/** The id of the key. @throws Problem 403 */
export async function requireKey(reader: SecretReader, headers: IncomingHttpHeaders): Promise<string> {
  const keyId = await reader.keyIdOf(await hashIn(reader, headers));
  if (keyId === undefined) throw permissionDenied();
  return keyId;
}

/** An envelope as Vault has it around `data`, which is JSON text: a value is given as it was stored, to the last digit of a number. */
export const enveloped = (requestId: string, data: string, auth: object | null = null) =>
  answer(
    200,
    new Content(
      'application/json',
      `{"request_id":${JSON.stringify(requestId)},"lease_id":"","renewable":false,"lease_duration":0,"data":${data},"wrap_info":null,"warnings":null,"auth":${JSON.stringify(auth)}}`,
    ),
    unkept,
  );
