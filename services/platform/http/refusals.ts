// How refusals read on the wire: problem documents of RFC 9457, unless a service has a form of its own.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { Common, nameOf, type Problem, type ProblemKind, toDocument } from '../problem.ts';

/** The request that was refused. */
export type AskedRequest = { readonly method: string; readonly url: string; readonly headers: IncomingHttpHeaders; readonly requestId: string };

export type WrittenRefusal = {
  readonly mediaType: string;
  readonly text: string;
  /** Instead of the status of the problem, such as 303 with `Location` to a login page. */
  readonly status?: number;
  /** Beside those of the problem. */
  readonly headers?: Readonly<Record<string, string>>;
};

export type RefusalForm = {
  /** How a caller recognises a refusal, in Markdown. */
  readonly description: string;
  readonly mediaType: string;
  /** The body, sent as JSON. */
  readonly toBody: (problem: Problem) => object;
  /** Writes the answer where it is not, or not always, `toBody` as JSON; undefined where it is. Where it throws, the body is `toBody`. */
  readonly write?: (problem: Problem, asked: AskedRequest) => Promise<WrittenRefusal | undefined>;
  /** For the API description: a body of any of these kinds. */
  readonly schemaOf: (kinds: readonly ProblemKind[]) => z.ZodType;
};

const ProblemDocument = z
  .looseObject({
    type: z.string().meta({ description: 'Names the kind of problem: `about:blank` where the status says all, else a URN that never changes' }),
    title: z.string().meta({ description: 'The kind of problem in words' }),
    status: z.int().meta({ description: 'The HTTP status of the answer' }),
    detail: z.string().optional().meta({ description: 'The fault of this request, and what to do about it' }),
  })
  .meta({ id: 'Problem', description: 'A problem document, RFC 9457.' });
const Errors = z.object({
  errors: z.record(z.string(), z.array(z.string())).meta({ description: 'Every member that is not valid, such as `routingKeys[0]`, with the reasons' }),
});
const ValidationProblem = ProblemDocument.extend(Errors.partial().shape).meta({
  id: 'ValidationProblem',
  description: 'All faults of a request, member name to messages; without `errors` where it could not be read at all.',
});

/** A document of one of these kinds: what only some of them have is optional. */
function schemaOf(kinds: readonly ProblemKind[]): z.ZodType {
  const distinct = [...new Set(kinds)];
  const further = distinct.flatMap(({ members }) => (members ? [members] : []));
  if (further.length === 0) return distinct.includes(Common.invalid) ? ValidationProblem : ProblemDocument;
  const all = distinct.includes(Common.invalid) ? [Errors, ...further] : further;
  const shape = Object.assign({}, ...all.map((members) => (distinct.length > 1 ? members.partial() : members).shape)) as z.ZodRawShape; // shapes are what it is made of
  const id = distinct.flatMap((kind) => (kind.members ? [nameOf(kind)] : [])).join('Or');
  return ProblemDocument.extend(shape).meta({ id: `${id}Problem`, description: 'A problem document, RFC 9457, with members of its kind.' });
}

export const problemDocuments: RefusalForm = {
  description: 'Refusals are problem documents (RFC 9457); `errors` names every member that is not valid, with the reasons.',
  mediaType: 'application/problem+json',
  toBody: toDocument,
  schemaOf,
};
