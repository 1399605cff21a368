import { expect } from 'chai';
import { z } from 'zod';
import { type Faults, parseInto } from '../../services/platform/faults.ts';

const faultsOf = (schema: z.ZodType, value: unknown) => {
  const faults: Faults = new Map();
  expect(parseInto(schema, value, { root: 'body', faults })).to.equal(undefined);
  return Object.fromEntries(faults);
};

describe('faults of a value', () => {
  it('are listed by member, all at once', () => {
    const schema = z.object({ name: z.string(), tags: z.array(z.string()), size: z.int() });
    expect(faultsOf(schema, { tags: ['a', 5], size: 1.5 })).to.have.all.keys('name', 'tags[1]', 'size');
  });

  it('of the value itself belong to the root', () => {
    expect(Object.keys(faultsOf(z.string(), 5))).to.deep.equal(['body']);
  });

  it('name what was expected and what came, and no value', () => {
    const schema = z.object({ name: z.string(), tags: z.array(z.string()), size: z.int(), mode: z.enum(['on', 'off']), list: z.array(z.int()).max(1) });
    const given = { name: null, tags: 'hunter2', size: 1.5, mode: 'hunter2', list: [1, 2] };
    expect(faultsOf(schema, given)).to.deep.equal({
      name: ['must be a string, not null'],
      tags: ['must be an array, not a string'],
      size: ['must be a whole number'],
      mode: ['must be one of on, off'],
      list: ['must be at most 1 items long'],
    });
  });

  it('are listed up to a thousand', () => {
    expect(Object.keys(faultsOf(z.array(z.string()), Array(100_000).fill(5)))).to.have.length(1000);
  });
});
