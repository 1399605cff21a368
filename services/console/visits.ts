// A request by a person: who asks, in which language, what may be asked of the services, and how the answer becomes a page.
import type { IncomingHttpHeaders } from 'node:http';
import type { ComponentChildren } from './view/elements.ts';
import { answer, type Answer, Content, type RouteRequest } from '../platform/http/route.ts';
import { Problem } from '../platform/problem.ts';
import type { ActionRecord } from './access/actions.ts';
import { ownPath } from './access/own-path.ts';
import { allows } from './access/roles.ts';
import type { Sessions } from './access/sessions.ts';
import type { ConsoleConfig } from './config.ts';
import { type Area, areas, Problems, type Role, type ServiceName } from './contract.ts';
import { errorPage } from './error-page.ts';
import { policyOf } from './policy.ts';
import type { ConsoleStore, Entered, Outcome, Person, Preferences, Session } from './store.ts';
import { isLanguage, type Language } from './texts/texts.ts';
import type { Asked } from './upstream/client.ts';
import type { Upstreams } from './upstream/upstreams.ts';
import type { AssetPaths, Frame, NoticeLink, Undo } from './view/frame.ts';
import { createLocale, type Locale } from './view/locale.ts';
import { renderPage } from './view/shell.ts';
import type { Waiting } from './waiting.ts';

type AnyRequest = Pick<RouteRequest<undefined, undefined, undefined>, 'principal' | 'headers' | 'requestId' | 'url' | 'clientAddress' | 'left'>;

/** Now and the own account are open to everyone who is logged in. */
export type PageArea = Area | 'now' | 'me';

/** A page without its frame. */
export type Shown = {
  readonly title: string;
  readonly body: ComponentChildren;
  /** Default: 200. */
  readonly status?: number;
  /** Whether it has the map with tiles, which needs a script, a style and an origin of pictures of its own. */
  readonly hasTiles?: boolean;
};

/** The outcome of an action. */
export type Done = {
  /** For the person, in the person's language. */
  readonly message: string;
  /** The name of a thing whose target is an id: in the record, and in no log. */
  readonly name?: string;
  /** The thing that was changed, for the record: a name or an id, never a value. */
  readonly target: string;
  readonly undo?: Undo;
  /** Where the outcome is seen, of what goes on after the answer. */
  readonly link?: NoticeLink | undefined;
  /** The page to go to. Default: the one that the form was on. */
  readonly to?: string;
  /** Instead of going to a page, for what is shown once and never again: a new key. */
  readonly page?: Shown;
};

/** The fields of a form: a text, or a list where a name comes several times. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** Every handler of a page or an action gets it. */
export type Visit = {
  readonly person: Person;
  readonly session: Session;
  /** Whether a message waits to be shown. */
  readonly hasNotice: boolean;
  readonly area: PageArea;
  readonly locale: Locale;
  /** Path and query of this page. */
  readonly path: string;
  readonly requestId: string;
  readonly clientAddress: () => string;
  /** The header of a browser that reads a stream again. */
  readonly lastEventId: string | undefined;
  /** Whether session and role go on; for answers that stay open. */
  readonly isStillAllowed: () => Promise<boolean>;
  /** Calls back when that may have changed. @returns what ends it */
  readonly onAccessChange: (check: () => void) => () => void;
  /** Aborted when the person leaves. */
  readonly signal: AbortSignal;
  /** Whether the person may do in an area what needs this role. */
  readonly may: (area: Area, role?: Role) => boolean;
  /** Whether this console has the service. */
  readonly has: (service: ServiceName) => boolean;
  /** The address before the path of a runbook, where people have one. */
  readonly runbookUrl: string | undefined;
  /** The tiles of the map, where there are such. */
  readonly tiles: Tiles | undefined;
  /** Whether the policy of pages lets them show a picture of this address. */
  readonly isPictureShown: (url: string) => boolean;
  /** The API of a service, asked for this person. */
  readonly ask: (service: ServiceName) => Asked;
};

const needsRole = (area: PageArea): area is Area => area !== 'now' && area !== 'me';

/** The areas that are pages of one service. */
const serviceOf: Readonly<Partial<Record<PageArea, ServiceName>>> = {
  events: 'intake',
  links: 'digest',
  listings: 'listings',
  bookmarks: 'bookmarks',
  secrets: 'secrets',
};

export function isSwitchedOn(area: PageArea, upstreams: Pick<Upstreams, 'has'>): boolean {
  const service = serviceOf[area];
  return service === undefined || upstreams.has(service);
}

export type KitParts = {
  readonly sessions: Sessions;
  readonly store: Pick<ConsoleStore, 'putNotice' | 'takeNotice'>;
  readonly upstreams: Upstreams;
  readonly areasWithPages: ReadonlySet<PageArea>;
  readonly actions: ActionRecord;
  readonly assets: AssetPaths;
  readonly config: Pick<ConsoleConfig, 'imageOrigins' | 'runbookUrl' | 'tileUrl' | 'tileAttribution'>;
  readonly waiting: Waiting;
  readonly clock: () => Date;
};

type Needed = { readonly area: PageArea; readonly role: Role; readonly isRecentLoginNeeded: boolean };

export const htmlType = 'text/html; charset=utf-8';
export const html = (status: number, page: Buffer, headers: Readonly<Record<string, string>> = {}): Answer<number, Content> =>
  answer(status, new Content(htmlType, page), headers);

/** Entries above it are not kept over a login. */
const mostKept = 16_384;
/** Whether a field may hold what goes no way back to a browser. */
export const isSecretField = (name: string) => /password|secret|^(value|current)$/i.test(name);

type Alone = Pick<AnyRequest, 'headers' | 'url'> & { readonly preferences?: Preferences | undefined };
type Rendered = { readonly status: number; readonly page: Buffer };

/** For a page that is shown before anyone has logged in. */
export const usualPreferences = ({ 'accept-language': accepted = '' }: IncomingHttpHeaders): Preferences => ({
  language: languageOf(accepted),
  zone: 'UTC',
  theme: 'auto',
  density: 'normal',
  hasKeys: true,
});

/** The first language of the header that there are texts in; the qualities of browsers only repeat their order. */
function languageOf(accepted: string): Language {
  const wanted = accepted.split(',').map((one) => one.trim().slice(0, 2).toLowerCase());
  return wanted.find(isLanguage) ?? 'en';
}

/** The frame around the content of a person's pages. */
function createFrames({ areasWithPages, waiting, assets }: Pick<KitParts, 'areasWithPages' | 'waiting' | 'assets'>) {
  const seenBy = ({ roles }: Person) => areas.filter((area) => areasWithPages.has(area) && allows(roles, area, 'reader'));
  return {
    seenBy,
    frameOf: ({ person, locale, path }: Pick<Visit, 'person' | 'locale' | 'path'>): Frame => ({
      locale,
      appearance: person,
      assets,
      path,
      person: { id: person.id, name: person.name, isAdmin: allows(person.roles, 'system', 'admin') },
      navigation: [{ area: 'now' }, ...seenBy(person).map((area) => ({ area, waiting: waiting.of(area) }))],
    }),
  };
}

export type Tiles = {
  readonly url: string;
  readonly origin: string;
  readonly attribution: string;
  /** The path of the library that shows them. */
  readonly library: string;
};

/** The settings were checked together: with an address there is an attribution. */
function tilesIn({ tileUrl, tileAttribution = '' }: Pick<ConsoleConfig, 'tileUrl' | 'tileAttribution'>, { map }: AssetPaths): Tiles | undefined {
  return tileUrl === undefined ? undefined : { url: tileUrl, origin: new URL(tileUrl).origin, attribution: tileAttribution, library: map.library };
}

export type Kit = ReturnType<typeof createKit>;

export function createKit({ sessions, store, upstreams, areasWithPages, actions, assets, config, waiting, clock }: KitParts) {
  const localeOf = ({ language, zone }: Pick<Preferences, 'language' | 'zone'>) => createLocale({ language, zone, now: clock() });

  const tiles = tilesIn(config, assets);
  const { seenBy, frameOf } = createFrames({ areasWithPages, waiting, assets });

  function visitOf({ person, session, hasNotice }: Entered, { area, role }: Pick<Needed, 'area' | 'role'>, request: Omit<AnyRequest, 'principal'>): Visit {
    const { requestId, url, clientAddress, left, headers } = request;
    const lastEventId = headers['last-event-id'];
    const signal = left();
    return {
      person,
      session,
      hasNotice,
      area,
      locale: localeOf(person),
      path: url,
      requestId,
      clientAddress,
      lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
      async isStillAllowed() {
        const now = await sessions.look(headers);
        return now !== undefined && (!needsRole(area) || allows(now.person.roles, area, role));
      },
      onAccessChange: (check) => sessions.watch(person.id, check),
      signal,
      may: (asked, role = 'reader') => allows(person.roles, asked, role),
      has: upstreams.has,
      runbookUrl: config.runbookUrl,
      tiles,
      isPictureShown: (picture) => config.imageOrigins.includes(URL.parse(picture)?.origin ?? ''),
      ask: (service) => upstreams.ask(service, { person: person.name, requestId, signal }),
    };
  }

  async function render(visit: Visit, { status = 200, ...page }: Shown): Promise<Answer<number, Content>> {
    const [notice] = await Promise.all([visit.hasNotice ? store.takeNotice(visit.session.id) : undefined, waiting.ready()]);
    const headers = page.hasTiles && tiles ? { 'Content-Security-Policy': policyOf(config, { images: tiles.origin, hasDefaultPolicy: true }) } : {};
    return html(status, renderPage({ ...frameOf(visit), notice }, { ...page, area: visit.area === 'me' ? undefined : visit.area }), headers);
  }

  return {
    changeGuard: sessions.changeGuard,
    /** The person who asks; what it may do is not checked. */
    visit: (request: AnyRequest, needed: Pick<Needed, 'area' | 'role'>): Visit => visitOf(sessions.enteredBy(request.principal), needed, request),
    /** Begins to ask for the numbers of the navigation, beside the work on a page. */
    countWaiting: ({ person, requestId }: Pick<Visit, 'person' | 'requestId'>) => waiting.begin(seenBy(person), { person: person.name, requestId }),
    /** @param back the page to come back to after a login @throws Problem 403 where the role is too small or the login too old */
    require({ person, session }: Pick<Visit, 'person' | 'session'>, { area, role, isRecentLoginNeeded }: Needed, back: string): void {
      if (needsRole(area) && !allows(person.roles, area, role)) throw Problems.roleMissing({ area, role });
      if (isRecentLoginNeeded && !sessions.isRecent({ session })) throw Problems.loginTooOld({ login: `/login?to=${encodeURIComponent(back)}&again=true` });
    },
    render,
    /** A page without navigation, in the language of the browser unless the person is known. */
    renderAlone: ({ headers, url: path, preferences = usualPreferences(headers) }: Alone, show: (locale: Locale) => Shown): Rendered => {
      const locale = localeOf(preferences);
      const { status = 200, ...shown } = show(locale);
      return { status, page: renderPage({ locale, appearance: preferences, assets, path }, shown) };
    },
    /** The error page of an action, with what was entered and the way to send it once more. */
    async renderRefusal(visit: Visit, problem: Problem, fields: Fields): Promise<Answer<number, Content>> {
      const { path: url, requestId, runbookUrl } = visit;
      const page = errorPage(visit.locale, problem, { url, method: 'POST', requestId, runbookUrl, entered: fields });
      const { status, body } = await render(visit, page);
      return answer(status, body, problem.headers);
    },
    /** An error page for a request that no handler took, with the navigation of the person who asked. */
    renderFor(found: Entered, url: string, show: (locale: Locale) => Shown): Rendered {
      const locale = localeOf(found.person);
      const { status = 200, ...shown } = show(locale);
      return { status, page: renderPage(frameOf({ person: found.person, locale, path: url }), shown) };
    },
    localeOf,
    json: (status: number, body: object): Answer<number, Content> => answer(status, new Content('application/json; charset=utf-8', JSON.stringify(body))),
    backOf,
    keepEntries: keepEntriesIn(store),
    /** The page that follows an action, with its message. */
    async showDone(visit: Visit, { message, undo, link, to, page }: Done, back: string): Promise<Answer<number, Content | null>> {
      if (page) return render(visit, page);
      await store.putNotice(visit.session.id, { message, ...(undo && { undo }), ...(link && { link }) });
      return answer(303, null, { Location: to ?? back });
    },
    record: (
      { person, clientAddress, requestId }: Visit,
      what: { area: string; action: string; target: string; name?: string | undefined; outcome: Outcome },
    ): Promise<void> => actions.add({ person: person.name, address: clientAddress(), requestId, ...what }),
    /** Call after a change in an area: another number waits there now. */
    changed: (area: PageArea) => needsRole(area) && waiting.changed(area),
  };
}

/** For the page behind the login that an action needs: its form, to be sent then. Passwords and secrets are not kept. */
const keepEntriesIn =
  (store: KitParts['store']) =>
  async ({ session, path, locale }: Visit, fields: Fields): Promise<void> => {
    const kept = Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'back' && !isSecretField(name)));
    const text = JSON.stringify(kept);
    // The column is jsonb, which holds no null character.
    if (text.length > mostKept || text.includes('\\u0000')) return;
    await store.putNotice(session.id, { message: locale.t.access.entered.kept, again: { path, fields: kept } });
  };

/** The page that a form was on: as its field `back` says, else as the browser does. */
function backOf({ headers }: Pick<AnyRequest, 'headers'>, { back }: Fields): string {
  if (typeof back === 'string') return ownPath(back);
  const from = URL.parse(headers.referer ?? '');
  return from?.host === headers.host ? ownPath(`${from?.pathname ?? '/'}${from?.search ?? ''}`) : '/';
}

export const isRefusal = (error: unknown): boolean => error instanceof Problem && error.status < 500;

/** The faults of entries, by the names of their fields. */
export function faultsOf(error: unknown, { faultText }: Locale): Readonly<Record<string, readonly string[]>> | undefined {
  const errors = error instanceof Problem ? error.members['errors'] : undefined;
  if (!isFaults(errors) || Object.keys(errors).length === 0) return undefined;
  return Object.fromEntries(Object.entries(errors).map(([name, messages]) => [name, messages.map(faultText)]));
}

const isFaults = (value: unknown): value is Readonly<Record<string, readonly string[]>> =>
  typeof value === 'object' && value !== null && Object.values(value).every((messages) => Array.isArray(messages));
