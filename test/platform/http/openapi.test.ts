import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { z } from 'zod';
import type { Area } from '../../../services/platform/http/credentials.ts';
import { anyOf, authorization, headerGuard } from '../../../services/platform/http/credentials.ts';
import { problems } from '../../../services/platform/problem.ts';
import { rawBody, route, tagged } from '../../../services/platform/http/route.ts';
import { queryChoice, queryInteger, text, Timestamp, TimestampInput } from '../../../services/platform/schema.ts';
import { startApp, stopApps } from './app-fixture.ts';

const Notes = problems({
  noteLocked: { status: 409, title: 'The note is locked', members: z.object({ lockedBy: z.string() }) },
  noteStale: { status: 409, title: 'The note has changed' },
});
const Note = z.object({ id: z.uuidv7(), title: text({ min: 1, max: 10 }), createdAt: Timestamp, dueAt: Timestamp.nullable() }).meta({ id: 'Note' });
const NewNote = z.object({ title: text({ min: 1, max: 10 }), dueAt: TimestampInput.optional() }).meta({ id: 'NewNote' });
const limit = { counter: { count: () => Promise.resolve({}) }, by: () => undefined };
const areas: Area[] = [
  { prefix: '/api', guard: authorization('Bearer', [], { name: 'reader', description: 'A value of `Notes__Tokens`.' }), limit },
  { prefix: '/hooks', guard: anyOf(headerGuard([], 'X-Token', { description: 'Any' }), headerGuard([], 'X-Other', { description: 'Any other' })) },
];
const routes = tagged({ name: 'Notes', description: 'What is not to be forgotten' }, [
  route({
    method: 'get',
    path: '/api/notes',
    operationId: 'listNotes',
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
    description: 'The signature is over the *bytes*.',
    describedBody: { 'application/json': z.looseObject({}).meta({ examples: [{ count: 1 }] }) },
    body: rawBody({ mediaTypes: ['application/json'], maxBytes: 9, timeoutMs: 9 }),
    answers: { 200: z.string(), 202: null },
    describedHeaders: { 'X-Signature': { description: 'The HMAC', isRequired: true } },
    describedAnswerHeaders: { 202: { 'X-Turn': 'Its place in the queue' } },
    describedContent: { 'application/json': z.string(), 'text/plain': z.string() },
    handle: () => {
      throw Notes.noteLocked();
    },
  }),
]);

// A document is asked about by path here, as one reads it.
const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined), value);
const document = async (): Promise<unknown> => JSON.parse(JSON.stringify((await startApp({ routes, areas })).app.openapi()));
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
    expect(at(written, 'info')).to.deep.include({ title: 'Signalbox test', summary: 'A service of a test', version: '1.2.3' });
    expect(at(written, 'info', 'license', 'identifier')).to.equal('MIT');
  });

  it('groups operations, in the order of the routes, and names them', async () => {
    const written = await document();
    expect(at(written, 'tags')).to.deep.equal([
      { name: 'Notes', description: 'What is not to be forgotten' },
      { name: 'Health', description: 'Probes of load balancers and orchestrators' },
    ]);
    expect(at(written, 'paths', '/api/notes', 'get')).to.deep.include({ tags: ['Notes'], operationId: 'listNotes', summary: 'Lists notes' });
    expect(at(written, 'paths', '/health', 'get', 'tags')).to.deep.equal(['Health']);
  });

  it('describes the JSON of a body that is read as bytes, and what a summary has no room for', async () => {
    const hook = at(await document(), 'paths', '/hooks', 'post');
    expect(at(hook, 'description')).to.equal('The signature is over the *bytes*.');
    const content = at(hook, 'requestBody', 'content', 'application/json');
    expect(at(content, 'schema', 'type')).to.equal('object');
    expect(at(content, 'schema', 'examples')).to.deep.equal([{ count: 1 }]);
  });

  it('lists every answer and refusal of a route', async () => {
    const written = await document();
    expect(statuses(at(written, 'paths', '/api/notes', 'get'))).to.have.members([200, 400, 401, 429, 500]);
    expect(statuses(at(written, 'paths', '/api/notes/{id}', 'put'))).to.have.members([200, 204, 400, 401, 408, 409, 413, 415, 429, 500]);
    expect(statuses(at(written, 'paths', '/hooks', 'post'))).to.have.members([200, 202, 400, 401, 408, 413, 415, 500]);
    expect(statuses(at(written, 'paths', '/health', 'get'))).to.have.members([200, 500]);
    expect(at(written, 'paths', '/api/notes/{id}', 'put', 'responses', '409', 'description')).to.equal('The note is locked; The note has changed');
  });

  it('says which credential a route needs, and that open ones need none', async () => {
    const written = await document();
    expect(at(written, 'paths', '/api/notes', 'get', 'security')).to.deep.equal([{ reader: [] }]);
    expect(at(written, 'paths', '/hooks', 'post', 'security')).to.deep.equal([{ 'x-token': [] }, { 'x-other': [] }]);
    expect(at(written, 'paths', '/health', 'get', 'security')).to.deep.equal([]);
    expect(at(written, 'components', 'securitySchemes')).to.deep.equal({
      reader: { type: 'http', scheme: 'bearer', description: 'A value of `Notes__Tokens`.' },
      'x-token': { type: 'apiKey', in: 'header', name: 'X-Token', description: 'Any' },
      'x-other': { type: 'apiKey', in: 'header', name: 'X-Other', description: 'Any other' },
    });
  });

  it('describes times, texts, numbers and choices as they are on the wire', async () => {
    const written = await document();
    expect(at(written, 'components', 'schemas', 'Note', 'properties', 'createdAt')).to.deep.include({ type: 'string', format: 'date-time' });
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
    const content = at(written, 'paths', '/api/notes/{id}', 'put', 'responses', '409', 'content', 'application/problem+json');
    expect(at(content, 'schema', '$ref')).to.equal('#/components/schemas/NoteLockedProblem');
    expect(at(content, 'example')).to.deep.equal({ type: 'urn:signalbox:problem:note-locked', title: 'The note is locked', status: 409 });
    const problem = at(written, 'components', 'schemas', 'NoteLockedProblem');
    expect(at(problem, 'properties', 'lockedBy')).to.deep.equal({ type: 'string' });
    expect(at(problem, 'required')).to.deep.equal(['type', 'title', 'status']);
    expect(at(written, 'components', 'schemas', 'ValidationProblem', 'required')).to.deep.equal(['type', 'title', 'status']);
    expect(at(written, 'components', 'schemas', 'ValidationProblem', 'properties')).to.have.property('errors');
  });

  it('has an example of a fault that its operation can have, in the words of the service', async () => {
    const written = await document();
    const faultsOf = (path: string, method: string) =>
      at(written, 'paths', path, method, 'responses', '400', 'content', 'application/problem+json', 'example', 'errors');
    expect(faultsOf('/api/notes', 'get')).to.deep.equal({ 'X-Owner': ['is required'] });
    expect(faultsOf('/api/notes/{id}', 'put')).to.deep.equal({ title: ['is required'] });
    expect(faultsOf('/hooks', 'post')).to.equal(undefined);
  });

  it('describes headers of answers, headers that a handler reads itself, and what is text', async () => {
    const written = await document();
    expect(at(written, 'paths', '/api/notes', 'get', 'responses', '401', 'headers')).to.have.all.keys(
      'WWW-Authenticate',
      'RateLimit',
      'RateLimit-Policy',
      'X-Request-Id',
    );
    expect(at(written, 'paths', '/api/notes', 'get', 'responses', '429', 'headers')).to.include.keys('Retry-After');
    expect(at(written, 'paths', '/hooks', 'post', 'responses', '202', 'headers', 'X-Turn', 'description')).to.equal('Its place in the queue');
    expect(at(written, 'paths', '/hooks', 'post', 'responses', '200', 'headers')).to.have.all.keys('X-Request-Id');
    expect(at(written, 'paths', '/hooks', 'post', 'responses', '202', 'headers', 'X-Turn', 'required')).to.equal(true);
    expect(at(written, 'paths', '/hooks', 'post', 'parameters')).to.deep.equal([
      { in: 'header', name: 'X-Signature', schema: { type: 'string', description: 'The HMAC' }, description: 'The HMAC', required: true },
    ]);
    expect(at(written, 'paths', '/hooks', 'post', 'responses', '200', 'content')).to.have.all.keys('application/json', 'text/plain');
  });
});
