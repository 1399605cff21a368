// Refusals a caller can meet: problem documents of RFC 9457, declared by kind.
import { z } from 'zod';

/** One refusal, thrown by a service's rules and rendered once, in http/app.ts. */
export class Problem extends Error {
  readonly kind: ProblemDefinition;
  readonly detail: string | undefined;
  /** Further members of the document: `errors`, `spooled`, … */
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: ProblemDefinition, { detail, headers = {}, ...members }: ProblemDetails = {}) {
    super(detail ?? kind.title);
    this.kind = kind;
    this.detail = detail;
    this.members = members;
    this.headers = headers;
  }

  get status(): number {
    return this.kind.status;
  }
}

export type ProblemDefinition = {
  readonly status: number;
  readonly title: string;
  readonly type: string;
  /** Further members of its documents, for the API description. */
  readonly members?: z.ZodObject;
};
export type ProblemDetails = {
  readonly detail?: string | undefined;
  /** Answer headers that belong to the refusal: `Retry-After`, `Allow`, … */
  readonly headers?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
};
export type ProblemKind = ProblemDefinition & ((details?: ProblemDetails) => Problem);

export type ProblemDocument = { readonly type: string; readonly title: string; readonly status: number; readonly [member: string]: unknown };

/** How a problem reads on the wire, RFC 9457 section 3. */
export function toDocument(problem: Problem): ProblemDocument {
  const { type, title, status } = problem.kind;
  return { type, title, status, ...(problem.detail !== undefined && { detail: problem.detail }), ...problem.members };
}

/** `urn:signalbox:problem:note-locked` → `NoteLocked` */
export const nameOf = ({ type }: ProblemDefinition): string => type.replace(/^.*:/, '').replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * Declares a service's refusals.
 * A kind without a `type` of its own gets `urn:signalbox:problem:<its name>`.
 */
export function problems<const D extends Readonly<Record<string, { status: number; title: string; type?: string; members?: z.ZodObject }>>>(
  definitions: D,
): { readonly [K in keyof D]: ProblemKind } {
  const kinds = Object.entries(definitions).map(([name, definition]) => {
    const kind = { type: `urn:signalbox:problem:${kebab(name)}`, ...definition };
    return [name, Object.assign((details?: ProblemDetails) => new Problem(kind, details), kind)] as const;
  });
  return Object.fromEntries(kinds) as { readonly [K in keyof D]: ProblemKind }; // one kind was made for each name
}

const plain = (status: number, title: string) => ({ status, title, type: 'about:blank' });

/** Refusals of any service; the titles are the status phrases of RFC 9110. */
export const Common = problems({
  invalid: { ...plain(400, 'Bad Request'), type: 'urn:signalbox:problem:invalid' },
  malformed: plain(400, 'Bad Request'),
  unauthorized: plain(401, 'Unauthorized'),
  forbidden: plain(403, 'Forbidden'),
  notFound: plain(404, 'Not Found'),
  methodNotAllowed: plain(405, 'Method Not Allowed'),
  timeout: plain(408, 'Request Timeout'),
  preconditionFailed: plain(412, 'Precondition Failed'),
  tooLarge: plain(413, 'Content Too Large'),
  mediaType: plain(415, 'Unsupported Media Type'),
  tooMany: plain(429, 'Too Many Requests'),
  failure: plain(500, 'Internal Server Error'),
  unavailable: plain(503, 'Service Unavailable'),
});

const ProblemBody = z.looseObject({ title: z.string(), detail: z.string().optional(), errors: z.record(z.string(), z.array(z.string())).optional() });

/** The reason in the body of a refusal, for a command that shows it to its user: the faults of the request, where it has some. */
export function saidIn(text: string): string {
  try {
    const { title, detail, errors = {} } = ProblemBody.parse(JSON.parse(text));
    const faults = Object.entries(errors).map(([member, reasons]) => `${member} ${reasons.join(', ')}`);
    return faults.length > 0 ? faults.join('; ') : (detail ?? title);
  } catch {
    return 'no problem document';
  }
}
