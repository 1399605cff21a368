import { expect } from 'chai';
import { z } from 'zod';
import { createConformance } from './conformance.ts';

describe('createConformance', () => {
  const answer = (schema: object) => ({ content: { 'application/json': { schema } } });
  const Item = { type: 'object', properties: { at: { type: 'string', format: 'date-time' } }, required: ['at'], additionalProperties: false };
  const conforms = createConformance({
    paths: { '/items': { get: { responses: { 200: answer({ type: 'array', items: { $ref: '#/components/schemas/Item' } }) } } } },
    components: { schemas: { Item } },
  });
  const check =
    (body: unknown, status = 200, mediaType = 'application/json; charset=utf-8') =>
    () =>
      conforms('/items', 'get', { status, mediaType, body });

  it('passes what is as described', () => expect(check([{ at: '2026-01-05T00:00:00.000Z' }])).not.to.throw());
  it('throws when a member is missing, of another kind or not described', () => {
    for (const item of [{}, { at: 1 }, { at: 'now' }, { at: '2026-01-05T00:00:00.000Z', more: 1 }])
      expect(check([item]), z.string().parse(JSON.stringify(item))).to.throw(/not as described/);
  });
  it('throws when the status or the media type is not described', () => {
    expect(check([], 404)).to.throw(/is not described/);
    expect(check([], 200, 'text/plain')).to.throw(/is not described/);
  });
});
