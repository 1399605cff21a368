// Logins with a name and a password: the first person by the settings, others by the hash in the table.
import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { clientIn } from '../../platform/client-address.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { createPasswordCheck, hashPassword } from '../../platform/password.ts';
import { named } from '../../platform/json.ts';
import { Common } from '../../platform/problem.ts';
import type { ConsoleConfig } from '../config.ts';
import type { ConsoleStore, Person, Preferences } from '../store.ts';
import { everywhere } from './roles.ts';

type LoginParts = {
  readonly store: Pick<ConsoleStore, 'passwordOf' | 'enterPerson' | 'enterLocal'>;
  readonly config: Pick<ConsoleConfig, 'adminUsername' | 'adminPasswords' | 'adminPasswordHashes'>;
  /** Counts failed logins. */
  readonly limit: Pick<RateLimit, 'attempt'>;
  readonly clock: () => Date;
};

type Login = { readonly name: string; readonly password: string; readonly address: string; readonly preferences: Preferences };

type Given = { readonly subject: string; readonly password: string; readonly address: string };

/** Names are one in any case and spelling of Unicode. */
export const subjectOf = (name: string): string => named(name).normalize('NFKC').trim().toLowerCase();

export type Logins = ReturnType<typeof createLogins>;

export function createLogins({ store, config, limit, clock }: LoginParts) {
  const { adminUsername, adminPasswords = [], adminPasswordHashes } = config;
  const admin = subjectOf(adminUsername);
  const isPassword = createPasswordCheck();
  let hashes: Promise<{ readonly admin: readonly string[]; readonly nobody: string }> | undefined;

  /** Made at the first login: each takes a tenth of a second. */
  async function makeHashes() {
    const made = adminPasswordHashes?.map((hash) => hash.reveal()) ?? (await Promise.all(adminPasswords.map((password) => hashPassword(password.reveal()))));
    return { admin: made, nobody: await hashPassword(randomBytes(32).toString('base64url')) };
  }

  /** As many as for a known name, so that the time tells nothing of which are known. */
  async function hashesOf(subject: string): Promise<readonly string[]> {
    const made = await (hashes ??= makeHashes());
    if (subject === admin) return made.admin;
    return [(await store.passwordOf(subject)) ?? made.nobody];
  }

  function enter(subject: string, preferences: Preferences): Promise<Person | undefined> {
    const at = clock();
    if (subject !== admin) return store.enterLocal(subject, at, preferences.language);
    const person = { id: newId(), source: 'local', subject, name: adminUsername, email: null, roles: everywhere('admin') } as const;
    return store.enterPerson({ ...person, ...preferences, createdAt: at, lastLoginAt: at, disabledAt: null });
  }

  /** @returns that of `work`, which is called for the right password only */
  const attempt = <T>({ subject, password, address }: Given, work: () => Promise<T | undefined>): Promise<T> =>
    limit.attempt(`${clientIn(address)} ${subject}`, async () => {
      const isRight = await isPassword({ password, client: clientIn(address) }, await hashesOf(subject));
      const result = isRight ? await work() : undefined;
      if (result === undefined) throw Common.unauthorized({ headers: { 'WWW-Authenticate': 'Cookie' } });
      return result;
    });

  return {
    /** The person whose password is a setting. */
    first: { subject: admin, name: adminUsername },
    /** Whether a person of this name may have a password here. */
    isKnown: async (name: string) => subjectOf(name) === admin || (await store.passwordOf(subjectOf(name))) !== undefined,
    /** @throws Problem 401 for a wrong name or password alike, 429 above the limit of failures */
    logIn: ({ name, password, address, preferences }: Login): Promise<Person> => {
      const subject = subjectOf(name);
      return attempt({ subject, password, address }, () => enter(subject, preferences));
    },
    /** As `logIn`, for a person who is logged in and gives the password once more. */
    confirm: (given: Given): Promise<true> => attempt(given, async () => true as const),
  };
}
