// Sessions: 256 random bits in a cookie, and their SHA-256 in the database.
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { v7 as newId } from 'uuid';
import { allRights, type Guard, type Principal } from '../../platform/http/credentials.ts';
import type { ConsoleConfig } from '../config.ts';
import type { ConsoleStore, Entered, Person } from '../store.ts';
import { readCookie, writeCookie } from './cookies.ts';
import { requireSameOrigin } from './same-origin.ts';

type SessionParts = {
  readonly store: Pick<ConsoleStore, 'addSession' | 'findSession' | 'touchSession' | 'endSession'>;
  readonly config: Pick<ConsoleConfig, 'idleMinutes' | 'sessionHours'>;
  readonly clock: () => Date;
};

const tokenPattern = /^[\w-]{43}$/;
const digest = (token: string) => createHash('sha256').update(token).digest();
const minuteMs = 60_000;
/** An action that may do harm needs a password that was given within this time. */
const recentMs = 10 * minuteMs;
const longestBrowser = 300;

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ store, config, clock }: SessionParts) {
  const lifeMs = config.sessionHours * 60 * minuteMs;
  const living = (now = clock().getTime()) => ({ createdAfter: new Date(now - lifeMs), seenAfter: new Date(now - config.idleMinutes * minuteMs) });

  async function find(headers: IncomingHttpHeaders): Promise<Entered | undefined> {
    const token = readCookie(headers) ?? '';
    if (!tokenPattern.test(token)) return undefined;
    const now = clock();
    const entered = await store.findSession(digest(token), living());
    if (entered && now.getTime() - entered.session.seenAt.getTime() > minuteMs) await store.touchSession(entered.session.id, now);
    return entered;
  }

  /** As `find`, without making the session last longer. */
  async function look(headers: IncomingHttpHeaders): Promise<Entered | undefined> {
    const token = readCookie(headers) ?? '';
    return tokenPattern.test(token) ? store.findSession(digest(token), living()) : undefined;
  }

  const entries = new WeakMap<Principal, Entered>();
  const guard = (check: (headers: IncomingHttpHeaders) => void): Guard => ({
    schemes: { session: { type: 'apiKey', in: 'cookie', name: '__Host-signalbox', description: 'The session of a login.' } },
    forms: ['Cookie: __Host-signalbox=<session>'],
    challenges: ['Cookie'],
    async check(headers) {
      check(headers);
      const entered = await find(headers);
      if (!entered) return undefined;
      const principal = { id: entered.person.id, credential: 'session', rights: allRights };
      entries.set(principal, entered);
      return principal;
    },
  });

  return {
    find,
    look,
    /** Takes requests with a session. */
    guard: guard(() => undefined),
    /** As `guard`, and refuses what another site asks for. */
    changeGuard: guard(requireSameOrigin),
    /** The session of a principal that a guard here gave. */
    enteredBy(principal: Principal): Entered {
      const entered = entries.get(principal);
      if (!entered) throw new TypeError('principal must be one that a guard of these sessions gave');
      return entered;
    },
    isRecent: ({ session }: Entered) => clock().getTime() - session.authenticatedAt.getTime() < recentMs,
    living,
    /**
     * A new session, whatever the browser had before: an identifier from before the login is worth nothing after it. The session before is ended.
     * @returns the header `Set-Cookie`
     */
    async open({ id: personId }: Pick<Person, 'id'>, { headers, address }: { headers: IncomingHttpHeaders; address: string }): Promise<string> {
      const before = await find(headers);
      if (before) await store.endSession(before.session.id, before.person.id);
      const token = randomBytes(32).toString('base64url');
      const now = clock();
      const browser = (headers['user-agent'] ?? '').slice(0, longestBrowser);
      const times = { createdAt: now, seenAt: now, authenticatedAt: now };
      await store.addSession({ id: newId(), personId, tokenSha256: digest(token), ...times, address, browser });
      return writeCookie(headers, token, lifeMs / 1000);
    },
    /** @returns the header `Set-Cookie` that removes the cookie */
    async close({ session, person }: Entered, headers: IncomingHttpHeaders): Promise<string> {
      await store.endSession(session.id, person.id);
      return writeCookie(headers, '', 0);
    },
  };
}
