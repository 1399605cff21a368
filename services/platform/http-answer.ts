// Puts an answer or a refusal on the wire.
import type { Context } from 'koa';
import type { Problem } from './problem.ts';
import type { OpenApiParts } from './openapi.ts';
import { Answer, Content } from './route.ts';

/** How a service words its refusals: problem documents, or an envelope of its own. */
export type Refusals = OpenApiParts['refusals'] & { readonly render: (problem: Problem) => unknown };

export function sendAnswer(context: Context, returned: unknown): void {
  const { status, body, headers } = returned instanceof Answer ? (returned as Answer) : new Answer(200, returned, {});
  context.status = status;
  context.set(headers);
  if (body instanceof Content) send(context, body.mediaType, body.data);
  else if (body === null || body === undefined) context.body = null;
  else send(context, 'application/json; charset=utf-8', JSON.stringify(body));
  // Koa makes 204 of an empty body; an empty 200 or 202 was meant as it is.
  context.status = status;
}

export function sendProblem(context: Context, problem: Problem, refusals: Pick<Refusals, 'mediaType' | 'render'>): void {
  if (context.headerSent) {
    context.req.destroy();
    return;
  }
  context.status = problem.status; // also when nobody is left to read it: the access line has it
  if (!context.writable) return;
  context.set(problem.headers);
  send(context, refusals.mediaType, JSON.stringify(refusals.render(problem)));
}

function send(context: Context, mediaType: string, data: Content['data']): void {
  context.set('Content-Type', mediaType); // first, or Koa looks for a type to guess
  context.body = data;
}
