// How a page, an action and a resource are declared: one declaration gives the route, its checks, and the types of its handler.
import { z } from 'zod';
import { type Faults, parseInto } from '../platform/faults.ts';
import { type AnyRoute, type Content, type Answer, rawBody, route, type RouteRequest, type Schema } from '../platform/http/route.ts';
import { Common, Problem } from '../platform/problem.ts';
import { Problems, type Role } from './contract.ts';
import { type Done, faultsOf, type Fields, isRefusal, isSecretField, type Kit, type PageArea, type Shown, type Visit } from './visits.ts';

export type { Done, Fields, Shown, Visit } from './visits.ts';

type Checked = {
  /** Parameters in braces: `/bookmarks/{id}`. */
  readonly path: `/${string}`;
  readonly area: PageArea;
  /** The least role in the area. Default: reader for pages and resources, editor for actions. */
  readonly role?: Role;
  /** Whether it needs a login of the last ten minutes. */
  readonly isRecentLoginNeeded?: true;
};

/** A declaration as the app runs it, and as tests look through all of them. */
export type Declared = Required<Pick<Checked, 'path' | 'area' | 'role'>> & {
  readonly kind: 'page' | 'action' | 'resource';
  readonly isRecentLoginNeeded: boolean;
  readonly routeBy: (kit: Kit) => AnyRoute;
};

type MaybeSchema = Schema | undefined;
type PageVisit<P extends MaybeSchema, Q extends MaybeSchema> = Visit & Pick<RouteRequest<P, Q, undefined>, 'params' | 'query'>;

export type PageDeclaration<P extends MaybeSchema, Q extends MaybeSchema> = Checked & {
  readonly params?: P;
  readonly query?: Q;
  /** Query parameters that may be given several times; their schema is `queryRepeated`. */
  readonly repeatable?: readonly string[];
  readonly show: (visit: PageVisit<P, Q>) => Promise<Shown> | Shown;
};

/** The status and headers of a page are decided by its handler. */
export const anyAnswer: Readonly<Record<number, Schema | null>> = {};

/** A page; it is shown, and changes nothing. */
export const page = <P extends MaybeSchema = undefined, Q extends MaybeSchema = undefined>(declared: PageDeclaration<P, Q>): Declared =>
  reading('page', declared, async (kit, visit) => kit.render(visit, await declared.show(visit)));

export type ResourceDeclaration<P extends MaybeSchema, Q extends MaybeSchema> = Omit<PageDeclaration<P, Q>, 'show'> & {
  readonly answer: (visit: PageVisit<P, Q>) => Promise<Answer<number, Content>>;
};

/** Bytes with a media type of their own, which a page loads, shows in a frame, follows or saves. It changes nothing. */
export const resource = <P extends MaybeSchema = undefined, Q extends MaybeSchema = undefined>(declared: ResourceDeclaration<P, Q>): Declared =>
  reading('resource', declared, (_, visit) => declared.answer(visit));

function reading<P extends MaybeSchema, Q extends MaybeSchema>(
  kind: 'page' | 'resource',
  declared: Omit<PageDeclaration<P, Q>, 'show'>,
  answerTo: (kit: Kit, visit: PageVisit<P, Q>) => Promise<Answer<number, Content>>,
): Declared {
  const checked = checkedBy(kind, declared, 'reader');
  const { path, params, query, repeatable = [] } = declared;
  return {
    ...checked,
    routeBy: (kit) =>
      route({
        method: 'get',
        path,
        summary: path,
        repeatable,
        answers: anyAnswer,
        ...(params && { params }),
        ...(query && { query }),
        handle(request: RouteRequest<P, Q, undefined>) {
          const visit = kit.visit(request, checked);
          kit.require(visit, checked, visit.path);
          if (kind === 'page') kit.countWaiting(visit);
          return answerTo(kit, { ...visit, params: request.params, query: request.query });
        },
      }),
  };
}

export type ActionVisit<P extends MaybeSchema, F extends Schema> = Visit &
  Pick<RouteRequest<P, undefined, undefined>, 'params'> & { readonly form: z.output<F> };

export type ActionDeclaration<P extends MaybeSchema, F extends Schema> = Checked & {
  readonly params?: P;
  /** The fields of its form, texts by name; several of one name are a list (`fieldList`). `noFields` where there are none. */
  readonly form: F;
  /** Forms above it are 413. Default: 256 KiB. */
  readonly maxFormBytes?: number;
  /** Whether the form has a file (`fieldFile`). */
  readonly hasFile?: true;
  readonly run: (visit: ActionVisit<P, F>) => Promise<Done>;
  /** For a choice of how pages look: the record would hold little else. */
  readonly isUnrecorded?: true;
  /** The page with the form once more, where its entries are not valid. Default: an error page that lists the faults. */
  readonly again?: (visit: AgainVisit<P>) => Promise<Shown> | Shown;
};

type AgainVisit<P extends MaybeSchema> = Visit & Pick<RouteRequest<P, undefined, undefined>, 'params'> & Refilled;

/** A form that came back: what was entered, and what is wrong with it. */
export type Refilled = { readonly fields: Fields; readonly faults: Readonly<Record<string, readonly string[]>> };
export const noFields = z.object({});

export const ById = z.object({ id: z.string() });
/** Rows of a list on one page. */
export const pageRows = 50;

/** Several fields of one name, such as the boxes of selected rows. */
export const fieldList = (max = 1000) => z.preprocess((value) => (value === undefined ? [] : [value].flat()), z.array(z.string()).max(max));
/** The entry of a field of one text. */
export const fieldText = (fields: Fields, name: string): string => [fields[name] ?? ''].flat()[0] ?? '';
/** A file, as its bytes; among `Fields` it is a text with a character for each. */
export const fieldFile = z.string().transform((text) => Buffer.from(text, 'latin1'));
/** A box: there when it is ticked. */
export const fieldCheck = z
  .literal('true')
  .optional()
  .transform((value) => value === 'true');

/** A bookmark of the longest text, each of whose characters is nine bytes in a form. */
const usualFormBytes = 262_144;
/** The media type of a form without a file. */
export const usualForm = 'application/x-www-form-urlencoded';
const withFile = 'multipart/form-data';
const formMs = 20_000;

/** A change, by a form. */
export const action = <P extends MaybeSchema = undefined, F extends Schema = typeof noFields>(declared: ActionDeclaration<P, F>): Declared => ({
  ...checkedBy('action', declared, 'editor'),
  routeBy: (kit) => {
    const { path, params, maxFormBytes = usualFormBytes, hasFile } = declared;
    return route({
      method: 'post',
      path,
      summary: path,
      guard: kit.changeGuard,
      body: rawBody({ mediaTypes: [usualForm, ...(hasFile ? [withFile] : [])], maxBytes: maxFormBytes, timeoutMs: formMs }),
      answers: anyAnswer,
      ...(params && { params }),
      handle: (request: RouteRequest<P, undefined, ReturnType<typeof rawBody>>) => act(kit, declared, request),
    });
  },
});

async function act<P extends MaybeSchema, F extends Schema>(
  kit: Kit,
  declared: ActionDeclaration<P, F>,
  request: RouteRequest<P, undefined, ReturnType<typeof rawBody>>,
): Promise<Answer<number, Content | null>> {
  const fields = readForm(request.body, request.headers['content-type'] ?? '');
  const back = kit.backOf(request, fields);
  const checked = checkedBy('action', declared, 'editor');
  // A browser that leaves before the action is recorded has no address any more.
  const address = request.clientAddress();
  const visit = { ...kit.visit(request, checked), params: request.params, clientAddress: () => address };
  const isJson = request.accepts('text/html', 'application/json') === 'application/json';
  const record = async (outcome: 'done' | 'refused' | 'failed', { target, name }: Pick<Done, 'target' | 'name'> = { target: visit.path }) => {
    if (!declared.isUnrecorded) await kit.record(visit, { area: declared.area, action: declared.path, target, name, outcome });
  };
  let isAllowed = false;
  let done: Done;
  try {
    kit.require(visit, checked, back);
    isAllowed = true;
    const faults: Faults = new Map();
    const form = parseInto(declared.form, fields, { root: 'form', faults });
    if (form === undefined) throw Common.invalid({ detail: visit.locale.t.access.formFaults, errors: Object.fromEntries(faults) });
    done = await declared.run({ ...visit, form });
  } catch (error) {
    await record(isRefusal(error) ? 'refused' : 'failed');
    if (!isJson && !declared.hasFile && error instanceof Problem && error.kind.type === Problems.loginTooOld.type) await kit.keepEntries(visit, fields);
    if (isJson || !isAllowed || !(error instanceof Problem)) throw error;
    const faults = faultsOf(error, visit.locale);
    const again = faults && (await formAgain(declared, { ...visit, fields, faults }));
    if (again) return kit.render(visit, { status: 400, ...again });
    if (!isShownAgain(declared, fields)) throw error;
    return kit.renderRefusal(visit, error, fields);
  }
  await record('done', done);
  kit.changed(declared.area);
  return isJson
    ? kit.json(200, { message: done.message, undo: done.undo ?? null, link: done.link ?? null, to: done.to ?? null })
    : kit.showDone(visit, done, back);
}

/** Undefined where there is no such page, or a service that it needs does not answer: the error page has the entries as well. */
async function formAgain<P extends MaybeSchema>({ again }: Pick<ActionDeclaration<P, Schema>, 'again'>, visit: AgainVisit<P>): Promise<Shown | undefined> {
  try {
    return await again?.(visit);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** Secrets go no way back to a browser; a file is there still. */
const isShownAgain = ({ area, hasFile }: Pick<ActionDeclaration<MaybeSchema, Schema>, 'area' | 'hasFile'>, fields: Fields) =>
  hasFile === undefined && area !== 'secrets' && !Object.keys(fields).some(isSecretField);

/** The fields of a form: a text, or a list where a name comes several times. */
function readForm(bytes: Buffer, type: string): Fields {
  const pairs = type.toLowerCase().startsWith(withFile) ? readParts(bytes, type) : [...new URLSearchParams(bytes.toString('utf8'))];
  const all = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries(
    [...all].map(([name, found]) => {
      const values = found.map(([, value]) => value);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
}

/** The parts of multipart/form-data (RFC 7578): a text, or of a file a character for each byte. @throws Problem 400 for a body that is none */
function readParts(bytes: Buffer, type: string): (readonly [string, string])[] {
  const [, boundary] = /;\s*boundary="?([\w'()+,./:=?-]{1,70})"?/i.exec(type) ?? [];
  const [before, ...parts] = `\r\n${bytes.toString('latin1')}`.split(`\r\n--${boundary}`);
  if (boundary === undefined || before !== '' || !parts.pop()?.startsWith('--')) throw Common.malformed();
  return parts.map((part) => {
    const end = part.indexOf('\r\n\r\n');
    const head = part.slice(0, Math.max(0, end));
    const [, name] = /; name="([^"\r\n]*)"/i.exec(head) ?? [];
    if (name === undefined) throw Common.malformed();
    const value = part.slice(end + 4);
    return [name, /; filename\*?=/i.test(head) ? value : Buffer.from(value, 'latin1').toString('utf8')] as const;
  });
}

const checkedBy = (
  kind: Declared['kind'],
  { path, area, role, isRecentLoginNeeded = false }: Omit<Checked, 'isRecentLoginNeeded'> & { isRecentLoginNeeded?: boolean },
  least: Role,
) => ({
  kind,
  path,
  area,
  role: role ?? least,
  isRecentLoginNeeded,
});
