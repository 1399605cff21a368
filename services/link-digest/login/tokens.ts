// Access tokens: JSON web tokens signed with HS256, and the guard that asks for one.
import { errors, jwtVerify, SignJWT } from 'jose';
import { v7 as newId } from 'uuid';
import { allRights, type Guard } from '../../platform/http/credentials.ts';
import type { TokenConfig } from './settings.ts';

type TokenParts = { readonly config: Pick<TokenConfig, 'keys' | 'issuer' | 'audience'>; readonly clock: () => Date };

/** The largest difference of clocks that is accepted. */
const toleranceSeconds = 60;
const algorithm = 'HS256';

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens({ config: { keys, issuer, audience }, clock }: TokenParts) {
  const secrets = keys.map((key) => new TextEncoder().encode(key.reveal()));
  const [signing] = secrets;
  if (!signing) throw new TypeError('keys must hold at least one');
  const rules = { algorithms: [algorithm], issuer, audience, clockTolerance: toleranceSeconds, requiredClaims: ['sub', 'exp', 'iat'] };

  async function subjectBy(secret: Uint8Array, token: string): Promise<string | undefined> {
    try {
      const { payload } = await jwtVerify(token, secret, { ...rules, currentDate: clock() });
      const isIssued = (payload.iat ?? Infinity) <= clock().getTime() / 1000 + toleranceSeconds;
      // The library looks at the types of all claims but this one.
      return isIssued && typeof payload.sub === 'string' ? payload.sub : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  return {
    /** @param subject the user's id */
    async issue({ subject, username, minutes }: { subject: string; username: string; minutes: number }): Promise<{ token: string; expiresAt: Date }> {
      const issuedAt = Math.floor(clock().getTime() / 1000);
      const expiresAt = issuedAt + minutes * 60;
      const token = await new SignJWT({ unique_name: username })
        .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
        .setSubject(subject)
        .setJti(newId())
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .setIssuer(issuer)
        .setAudience(audience)
        .sign(signing);
      return { token, expiresAt: new Date(expiresAt * 1000) };
    },
    /** The subject of a token that any of the keys signed; undefined when it is not valid. */
    async subjectOf(token: string): Promise<string | undefined> {
      for (const secret of secrets) {
        const subject = await subjectBy(secret, token);
        if (subject !== undefined) return subject;
      }
      return undefined;
    },
  };
}

/** RFC 6750 section 2.1, the scheme in any case; only the characters of JSON web tokens, which have no padding. */
const pattern = /^Bearer +([\w.-]+) *$/i;

export const bearer = ({ subjectOf }: Pick<Tokens, 'subjectOf'>): Guard => ({
  schemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The `token` of the answer to `POST /api/auth/login`.' } },
  forms: ['Authorization: Bearer <token>'],
  challenges: ['Bearer'],
  async check(headers) {
    const token = pattern.exec(headers.authorization ?? '')?.[1];
    const id = token === undefined ? undefined : await subjectOf(token);
    return id === undefined ? undefined : { id, credential: 'bearer', rights: allRights };
  },
});
