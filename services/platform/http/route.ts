// How a route is declared: one declaration gives the handler's types, validation, the API description and the list of refusals.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { Common, type Problem, type ProblemKind } from '../problem.ts';
import type { BodyMemory } from './body-memory.ts';
import type { Guard, Principal } from './credentials.ts';
import type { RefusalForm } from './refusals.ts';

export type Schema = z.ZodType;

/** A body taken as bytes; the handler gets a Buffer. */
export type RawBody = {
  readonly kind: 'raw';
  readonly mediaTypes: readonly string[];
  /** Whether a body without a Content-Type is read, too: clients of another product send none. */
  readonly isTypeOptional?: true;
  readonly maxBytes: number;
  /** Slower than this is answered 408; the wait for memory counts. */
  readonly timeoutMs: number;
  /** Bodies of all requests together stay within it; a request that gets no room in `waitMs` is answered 503. */
  readonly memory?: { readonly shared: BodyMemory; readonly waitMs: number };
};
export const rawBody = (body: Omit<RawBody, 'kind'>): RawBody => ({ kind: 'raw', ...body });

/** A body that the handler reads as it comes, such as a long import; the service gives its `listen` the time that one may take. */
export type StreamedBody = { readonly kind: 'streamed'; readonly mediaTypes: readonly string[]; readonly maxBytes: number };
export const streamedBody = (body: Omit<StreamedBody, 'kind'>): StreamedBody => ({ kind: 'streamed', ...body });

/** A streamed body as the handler gets it. `bytes` fails with the problem to throw: 413 above `maxBytes`, 400 when the sender goes away. */
export type Streamed = { readonly mediaType: string; readonly bytes: Readable };

/** An object with a member for each header, as the header is spelled: `X-Timezone`. */
export type HeaderSchema = z.ZodObject;

type Parsed<S> = S extends Schema ? z.output<S> : S extends RawBody ? Buffer : S extends StreamedBody ? Streamed : undefined;

export type RouteRequest<P, Q, B, H = undefined> = {
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
  /** The headers that the route declares, as it spells them; all headers, in lower case, when it declares none. */
  readonly headers: H extends Schema ? z.output<H> : IncomingHttpHeaders;
  /** Whether a header, by its name in lower case, came more than once. Node joins such values with a comma. */
  readonly isRepeated: (header: string) => boolean;
  /** The first of the media types that the client prefers, by the qualities of its `Accept`; false when it takes none of them. */
  readonly accepts: (...types: string[]) => string | false;
  /** As `accepts`, of content codings by `Accept-Encoding`; name `identity` last. */
  readonly acceptsEncodings: (...codings: string[]) => string | false;
  /** From the guard of the route or of its area; `anonymous` where `access` is declared. */
  readonly principal: Principal;
  /** Behind trusted proxies that of the client. */
  readonly clientAddress: () => string;
  /** Aborted when the connection of the client ends before its answer; for handlers that wait. */
  readonly left: () => AbortSignal;
  /** Calls back when the answer has been sent, or its caller is gone. */
  readonly onEnd: (work: () => void) => void;
  readonly requestId: string;
  /** The path and query as they were asked for. */
  readonly url: string;
  /** `performance.now()` when the request's head was read: the zero of its deadlines. */
  readonly startedAtMs: number;
  /** Additions of the handler to the line of the access log. Nothing that may be long or secret. */
  readonly logged: Record<string, string>;
};

type SentHeaders = Readonly<Record<string, string | readonly string[]>>;

/** An answer with a status or headers of its own. */
export class Answer<S extends number = number, B = unknown> {
  readonly status: S;
  readonly body: B;
  /** A list is sent as a header each: `Set-Cookie`. */
  readonly headers: SentHeaders;

  constructor(status: S, body: B, headers: SentHeaders) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}
export const answer = <const S extends number, B>(status: S, body: B, headers: SentHeaders = {}) => new Answer(status, body, headers);

/** Bytes that are not JSON, sent as they are with their media type. */
export class Content {
  readonly mediaType: string;
  readonly data: string | Buffer | Readable;

  constructor(mediaType: string, data: string | Buffer | Readable) {
    this.mediaType = mediaType;
    this.data = data;
  }
}

type Answers = Readonly<Record<number, Schema | null>>;
type BodyFor<S> = S extends Schema ? z.input<S> | Content : null;

/** The body itself when 200 is declared, or `answer(status, body, headers)` with a declared status and its body. */
export type Returned<A> = { [S in keyof A & number]: Answer<S, BodyFor<A[S]>> }[keyof A & number] | (A extends { 200: infer Body } ? BodyFor<Body> : never);

/**
 * The check of a route's credential. Default: the guard of the protected prefix, before anything of the request is read.
 * - open: nothing; every request is answered.
 * - checkedByHandler: the handler, by a signature of the body, or in the statement that reads the rows. A request that is refused before
 *   the handler runs passes the guard of its prefix first, where there is one.
 */
export type Access = 'open' | 'checkedByHandler';

/** A group of operations in the API description. */
export type Tag = { readonly name: string; readonly description: string };

/** A header of a request, for the API description. */
export type DescribedHeader = { readonly description: string; readonly example?: string | undefined; readonly isRequired?: boolean };

/** Headers of an answer, name to meaning; an optional one is not always sent. */
export type AnswerHeaders = Readonly<Record<string, string | { readonly description: string; readonly isOptional: true }>>;

const headersByStatus: Readonly<Record<number, AnswerHeaders>> = {
  201: { Location: 'The URL of the new resource' },
  301: { Location: 'The URL to use instead' },
  401: { 'WWW-Authenticate': 'The credentials that are accepted' },
  408: { Connection: { description: '`close`: the rest of the body is not read', isOptional: true } },
  415: { 'Accept-Encoding': { description: '`identity`, where the coding was refused', isOptional: true } },
  429: { 'Retry-After': 'Seconds until the window ends', RateLimit: 'The rest of the window', 'RateLimit-Policy': 'The size of the window' },
  503: { 'Retry-After': { description: 'Seconds until a further try makes sense', isOptional: true } },
};

/** The headers that answers of a status have beside those of all answers. */
export const headersOfStatus = ({ describedAnswerHeaders }: Pick<Declaration, 'describedAnswerHeaders'>, status: number): AnswerHeaders =>
  describedAnswerHeaders?.[status] ?? headersByStatus[status] ?? {};

/** @see Declaration.onRefused */
export type RefusedRequest = { readonly headers: IncomingHttpHeaders; readonly problem: Problem };

type Declaration = {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Parameters in braces: `/api/notes/{id}`. `{+name}` takes the rest of the path, slashes included. */
  readonly path: `/${string}`;
  /** Verb and noun, unique in its service: the function's name in clients that are generated from the API description. */
  readonly operationId?: string;
  readonly tag?: Tag;
  /** One line of plain text. */
  readonly summary: string;
  /** Further sentences, in Markdown. */
  readonly description?: string;
  readonly access?: Access;
  /** Instead of the guard of the protected prefix. */
  readonly guard?: Guard;
  /**
   * Whether a query parameter that the route does not declare is refused: a filter whose name is misspelled would answer everything. Where an
   * interface document describes the route, a client may send what that does not speak of, and such a parameter is ignored.
   */
  readonly isQueryClosed?: true;
  /** Query parameters that may be given several times; their schema is `queryRepeated`. */
  readonly repeatable?: readonly string[];
  /** JSON bodies above this are 413; 1 MiB unless given. */
  readonly maxBodyBytes?: number;
  /** Told of a request that was refused before its handler: its credential, body or parameters. Must not throw or wait. */
  readonly onRefused?: (refused: RefusedRequest) => void;
  /** The form of this route's refusals, where it is not that of the app: a route in the wire form of another product. */
  readonly refusals?: RefusalForm;
  /** Refusals beyond those every route has (validation, credentials, sizes). */
  readonly problems?: readonly ProblemKind[];
  /** For the API description alone: request headers that the handler reads by itself. */
  readonly describedHeaders?: Readonly<Record<string, DescribedHeader>>;
  /** For the API description alone: what the bytes of a raw or streamed body are, media type to schema. */
  readonly describedBody?: Readonly<Record<string, Schema>>;
  /** Headers of the answers of a status, instead of those that any answer of that status has. A test that causes an answer with others fails. */
  readonly describedAnswerHeaders?: Readonly<Record<number, AnswerHeaders>>;
  /** For the API description alone: what an answer with a body is where it is not, or not always, JSON; media type to schema. */
  readonly describedContent?: Readonly<Record<string, Schema>>;
};

export type Route<P, Q, B, A, H = undefined> = Declaration & {
  readonly params?: P;
  readonly query?: Q;
  readonly headers?: H;
  readonly body?: B;
  /** The schema of a JSON body where the query decides it; `body` describes both for the API description. */
  readonly bodyFor?: (query: Parsed<Q>) => z.ZodType<Parsed<B>>;
  /** Schema of the body for each status; null where there is none. */
  readonly answers: A;
  readonly handle: (request: RouteRequest<P, Q, B, H>) => Promise<Returned<A>> | Returned<A>;
};

/** A route as the app runs it, after its types have done their work. */
export type AnyRoute = Omit<Route<Schema, Schema, Schema | RawBody | StreamedBody, Answers, HeaderSchema>, 'handle'> & {
  readonly handle: (request: RouteRequest<Schema, Schema, Schema, Schema>) => unknown;
};

export function route<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | RawBody | StreamedBody | undefined = undefined,
  const A extends Answers = Answers,
  H extends HeaderSchema | undefined = undefined,
>(declaration: Route<P, Q, B, A, H>): AnyRoute {
  // The app parses params, query, headers and body with these very schemas before it calls the handler.
  return declaration as unknown as AnyRoute;
}

/** Routes in one group of the API description, which shows the groups in the order of the routes. */
export const tagged = (tag: Tag, routes: readonly AnyRoute[]): AnyRoute[] => routes.map((one) => ({ ...one, tag }));

/** A route that answers 503 where the database is away. */
export const asksDatabase = (asking: AnyRoute): AnyRoute => ({ ...asking, problems: [...(asking.problems ?? []), Common.unavailable] });
