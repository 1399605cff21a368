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
  readonly store: Pick<ConsoleStore, 'addSession' | 'findSession' | 'touchSession' | 'endSession' | 'endOthers' | 'endAll' | 'takeNotice'>;
  readonly config: Pick<ConsoleConfig, 'idleMinutes' | 'sessionHours'>;
  /** The person as the request shows it; undefined where the way that it logged in by is switched off, or speaks of another person now. */
  readonly confirm: (person: Person, headers: IncomingHttpHeaders) => Person | undefined;
  readonly clock: () => Date;
};

const tokenPattern = /^[\w-]{43}$/;
const digest = (token: string) => createHash('sha256').update(token).digest();
const minuteMs = 60_000;
/** An action that may do harm needs a password that was given within this time. */
export const recentMs = 10 * minuteMs;
const longestBrowser = 300;

type Opening = {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** The time at which the password was given, where that was not now. */
  readonly authenticatedAt?: Date;
};

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ store, config, confirm, clock }: SessionParts) {
  const lifeMs = config.sessionHours * 60 * minuteMs;
  const living = (now = clock().getTime()) => ({ createdAfter: new Date(now - lifeMs), seenAfter: new Date(now - config.idleMinutes * minuteMs) });

  /** Without making the session last longer. */
  async function look(headers: IncomingHttpHeaders): Promise<Entered | undefined> {
    const token = readCookie(headers) ?? '';
    const entered = tokenPattern.test(token) ? await store.findSession(digest(token), living()) : undefined;
    const person = entered && confirm(entered.person, headers);
    return person && { ...entered, person };
  }

  async function find(headers: IncomingHttpHeaders): Promise<Entered | undefined> {
    const entered = await look(headers);
    const now = clock();
    if (entered && now.getTime() - entered.session.seenAt.getTime() > minuteMs) await store.touchSession(entered.session.id, now);
    return entered;
  }

  const { watch, changed } = createWatchers();
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
    isRecent: ({ session }: Pick<Entered, 'session'>) => clock().getTime() - session.authenticatedAt.getTime() < recentMs,
    living,
    watch,
    /** For those who change a person otherwise than by ending sessions. */
    changed,
    /** @returns whether the person had such a session */
    async end(id: string, personId: string): Promise<boolean> {
      const isEnded = await store.endSession(id, personId);
      changed(personId);
      return isEnded;
    },
    /** Ends all sessions of the person but one. @returns how many */
    async endOthers(id: string, personId: string): Promise<number> {
      const count = await store.endOthers(id, personId);
      changed(personId);
      return count;
    },
    async endAll(personId: string): Promise<void> {
      await store.endAll(personId);
      changed(personId);
    },
    /**
     * A new session, whatever the browser had before: an identifier from before the login is worth nothing after it. The session before is ended.
     * @returns the header `Set-Cookie`
     */
    async open({ id: personId }: Pick<Person, 'id'>, { headers, address, authenticatedAt = clock() }: Opening): Promise<string> {
      const before = await look(headers);
      const notice = before?.hasNotice && before.person.id === personId ? await store.takeNotice(before.session.id) : undefined;
      if (before) {
        await store.endSession(before.session.id, before.person.id);
        changed(before.person.id);
      }
      const token = randomBytes(32).toString('base64url');
      const now = clock();
      const browser = (headers['user-agent'] ?? '').slice(0, longestBrowser);
      const times = { createdAt: now, seenAt: now, authenticatedAt };
      const ended = await store.addSession({ id: newId(), personId, tokenSha256: digest(token), ...times, address, browser }, notice);
      if (ended > 0) changed(personId);
      return writeCookie(headers, { value: token, seconds: lifeMs / 1000 });
    },
    /** @returns the header `Set-Cookie` that removes the cookie */
    async close({ session, person }: Entered, headers: IncomingHttpHeaders): Promise<string> {
      await store.endSession(session.id, person.id);
      changed(person.id);
      return writeCookie(headers, { value: '', seconds: 0 });
    },
  };
}

/** By person: what of this process depends on the person's sessions and roles. */
function createWatchers() {
  const watchers = new Map<string, Set<() => void>>();
  return {
    /** Calls back when sessions of the person have ended, or its roles have changed, by a request to this process. @returns what ends it */
    watch(personId: string, onChange: () => void): () => void {
      const own = watchers.get(personId) ?? new Set();
      watchers.set(personId, own.add(onChange));
      return () => {
        if (own.delete(onChange) && own.size === 0) watchers.delete(personId);
      };
    },
    changed: (personId: string) => watchers.get(personId)?.forEach((onChange) => onChange()),
  };
}
