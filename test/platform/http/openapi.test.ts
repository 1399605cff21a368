import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { z } from 'zod';
import type { Area } from '../../../services/platform/http/credentials.ts';
import { authorization } from '../../../services/platform/http/credentials.ts';
import { problems } from '../../../services/platform/problem.ts';
import { rawBody, route } from '../../../services/platform/http/route.ts';
import { queryChoice, queryInteger, text, Timestamp, TimestampInput } from '../../../services/platform/schema.ts';
import { startApp, stopApps } from './app-fixture.ts';

const Notes = problems({
  noteLocked: { status: 409, title: 'The note is locked', members: z.object({ lockedBy: z.string() }) },
  noteStale: { status: 409, title: 'The note has changed' },
});
const Note = z.object({ id: z.uuidv7(), title: text({ min: 1, max: 10 }), createdAt: Timestamp, dueAt: Timestamp.nullable() }).meta({ id: 'Note' });
const NewNote = z.object({ title: text({ min: 1, max: 10 }), dueAt: TimestampInput.optional() }).meta({ id: 'NewNote' });
const limit = { count: () => Promise.resolve({}) };
const areas: Area[] = [
  { prefix: '/api', guard: authorization('Bearer', []), limit },
  { prefix: '/hooks', guard: { name: 'x-token', scheme: { type: 'apiKey', in: 'header', name: 'X-Token' }, check: () => undefined } },
];
const routes = [
  route({
    method: 'get',
    path: '/api/notes',
    summary: 'Lists notes',
    query: z.object({
      limit: queryInteger({ min: 1, max: 100, default: 20 }),
      state: queryChoice(['Open', 'Done']).optional(),
      since: TimestampInput.optional(),
    }),
    headers: z.object({ 'X-Owner': z.string(), 'X-Pages': queryInteger({ min: 1, max: 9 }) }),
    answers: { 200: z.array(Note) },
    handle: () => [],
  }),
  route({
    method: 'put',
    path: '/api/notes/{id}',
    summary: 'Changes a note',
    params: z.object({ id: z.string() }),
    body: NewNote,
    answers: { 200: Note, 204: null },
    problems: [Notes.noteLocked, Notes.noteStale],
    handle: () => {
      throw Notes.noteLocked();
    },
  }),
  route({
    method: 'post',
    path: '/hooks',
    summary: 'Takes a delivery',
    body: rawBody({ mediaTypes: ['application/json'], maxBytes: 9, timeoutMs: 9 }),
    answers: { 200: z.string(), 202: null },
    describedHeaders: { 'X-Signature': 'The HMAC' },
    describedAnswerHeaders: { 202: { 'X-Turn': 'Its place in the queue' } },
    describedMediaTypes: ['text/plain'],
    handle: () => {
      throw Notes.noteLocked();
    },
  }),
];

// A document is asked about by path here, as one reads it.
const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined), value);
const document = async (): Promise<unknown> => JSON.parse(JSON.stringify((await startApp({ routes, areas })).app.openapi));
const statuses = (operation: unknown) => Object.keys(at(operation, 'responses') ?? {}).map(Number);

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (name === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner)));
}

describe('the API description', () => {
  after(stopApps);

  it('is valid OpenAPI 3.1', async () => {
    const written = await document();
    if (typeof written !== 'object' || written === null) throw new TypeError('the description must be an object');
    const { valid, errors } = await new Validator().validate({ ...written });
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
    expect(at(written, 'openapi')).to.equal('3.1.0');
  });

  it('refers only to what is in it', async () => {
    const written = await document();
    const references = referencesIn(written);
    expect(references).to.include('#/components/schemas/Note');
    for (const reference of references) expect(at(written, ...reference.split('/').slice(1)), reference).to.be.an('object');
  });

  it('describes every route and the health of the service, not its own pages', async () => {
    const written = await document();
    expect(Object.keys(at(written, 'paths') ?? {})).to.have.members(['/api/notes', '/api/notes/{id}', '/hooks', '/health', '/health/ready']);
    expect(at(written, 'info')).to.deep.equal({ title: 'test', summary: 'A service of a test', version: '1.2.3' });
  });

  it('lists every answer and refusal of a route', async () => {
    const written = await document();
    expect(statuses(at(written, 'paths', '/api/notes', 'get'))).to.have.members([200, 400, 401, 429]);
    expect(statuses(at(written, 'paths', '/api/notes/{id}', 'put'))).to.have.members([200, 204, 400, 401, 408, 409, 413, 415, 429]);
    expect(statuses(at(written, 'paths', '/hooks', 'post'))).to.have.members([200, 202, 400, 401, 408, 413, 415]);
    expect(statuses(at(written, 'paths', '/health', 'get'))).to.have.members([200]);
    expect(at(written, 'paths', '/api/notes/{id}', 'put', 'responses', '409', 'description')).to.equal('The note is locked; The note has changed');
  });

  it('says which credential a route needs, and that open ones need none', async () => {
    const written = await document();
    expect(at(written, 'paths', '/api/notes', 'get', 'security')).to.deep.equal([{ bearer: [] }]);
    expect(at(written, 'paths', '/hooks', 'post', 'security')).to.deep.equal([{ 'x-token': [] }]);
    expect(at(written, 'paths', '/health', 'get', 'security')).to.equal(undefined);
    expect(at(written, 'components', 'securitySchemes')).to.deep.equal({
      bearer: { type: 'http', scheme: 'bearer' },
      'x-token': { type: 'apiKey', in: 'header', name: 'X-Token' },
    });
  });

  it('describes times, texts, numbers and choices as they are on the wire', async () => {
    const written = await document();
    expect(at(written, 'components', 'schemas', 'Note', 'properties', 'createdAt')).to.deep.equal({ type: 'string', format: 'date-time' });
    expect(at(written, 'components', 'schemas', 'Note', 'properties', 'title')).to.deep.include({ type: 'string', minLength: 1, maxLength: 10 });
    expect(at(written, 'components', 'schemas', 'NewNote', 'required')).to.deep.equal(['title']);
    const parameters = at(written, 'paths', '/api/notes', 'get', 'parameters');
    expect(parameters).to.deep.include.members([
      { in: 'query', name: 'limit', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
      { in: 'query', name: 'state', schema: { type: 'string', enum: ['Open', 'Done'] } },
      { in: 'query', name: 'since', schema: { type: 'string', format: 'date-time' } },
      { in: 'header', name: 'X-Owner', schema: { type: 'string' }, required: true },
      { in: 'header', name: 'X-Pages', schema: { type: 'integer', minimum: 1, maximum: 9 } },
    ]);
    expect(at(written, 'paths', '/api/notes/{id}', 'put', 'parameters')).to.deep.equal([
      { in: 'path', name: 'id', schema: { type: 'string' }, required: true },
    ]);
  });

  it('closes no answer, so that members can be added to it', async () => {
    const written = await document();
    expect(at(written, 'components', 'schemas', 'Note'))
      .to.be.an('object')
      .and.to.not.have.property('additionalProperties');
    expect(JSON.stringify(written)).to.not.include('"additionalProperties":false');
  });

  it('describes further members of problems, optional where another kind has none; so are `errors` of what could not be read', async () => {
    const written = await document();
    const problem = at(written, 'paths', '/api/notes/{id}', 'put', 'responses', '409', 'content', 'application/problem+json', 'schema');
    expect(at(problem, 'properties', 'lockedBy')).to.deep.equal({ type: 'string' });
    expect(at(problem, 'required')).to.deep.equal(['type', 'title', 'status']);
    expect(at(written, 'components', 'schemas', 'ValidationProblem', 'required')).to.deep.equal(['type', 'title', 'status']);
    expect(at(written, 'components', 'schemas', 'ValidationProblem', 'properties')).to.have.property('errors');
  });

  it('describes headers of answers, headers that a handler reads itself, and what is text', async () => {
    const written = await document();
    expect(at(written, 'paths', '/api/notes', 'get', 'responses', '401', 'headers')).to.have.all.keys('WWW-Authenticate');
    expect(at(written, 'paths', '/api/notes', 'get', 'responses', '429', 'headers')).to.include.keys('Retry-After');
    expect(at(written, 'paths', '/hooks', 'post', 'responses', '202', 'headers', 'X-Turn', 'description')).to.equal('Its place in the queue');
    expect(at(written, 'paths', '/hooks', 'post', 'responses', '200', 'headers')).to.equal(undefined);
    expect(at(written, 'paths', '/hooks', 'post', 'parameters')).to.deep.equal([
      { in: 'header', name: 'X-Signature', schema: { type: 'string', description: 'The HMAC' }, description: 'The HMAC' },
    ]);
    expect(at(written, 'paths', '/hooks', 'post', 'responses', '200', 'content')).to.have.all.keys('application/json', 'text/plain');
  });
});
