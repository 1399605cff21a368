import { expect } from 'chai';
import { z } from 'zod';
import {
  encodeCursor,
  queryBoolean,
  queryChoice,
  queryCursor,
  queryInteger,
  queryList,
  queryNumber,
  text,
  TimestampInput,
} from '../../services/platform/schema.ts';

const messagesOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues.map(({ message }) => message) ?? [];

describe('text', () => {
  it('counts code points, not UTF-16 units', () => {
    expect(messagesOf(text({ max: 3 }), '🚂🚂🚂')).to.deep.equal([]);
    expect(messagesOf(text({ max: 3 }), '🚂🚂🚂🚂')).to.deep.equal(['must be at most 3 characters long']);
    expect(messagesOf(text({ min: 2, max: 9 }), '🚂')).to.deep.equal(['must be at least 2 characters long']);
  });

  it('takes white space for empty where something must be said', () => {
    expect(messagesOf(text({ min: 1, max: 9 }), ' \t\n')).to.deep.equal(['must not be empty']);
    expect(messagesOf(text({ max: 9 }), '')).to.deep.equal([]);
  });

  it('wants a string', () => {
    expect(messagesOf(text({ max: 9 }), 7)).to.deep.equal(['must be a string']);
  });
});

describe('TimestampInput', () => {
  const wanted = 'must be an ISO 8601 date and time with an offset or Z, such as 2026-03-15T12:00:00Z';

  it('takes Z and offsets, and gives the instant', () => {
    expect(TimestampInput.parse('2026-02-28T23:30:00Z').toISOString()).to.equal('2026-02-28T23:30:00.000Z');
    expect(TimestampInput.parse('2026-02-28T23:30:00.5+02:00').toISOString()).to.equal('2026-02-28T21:30:00.500Z');
  });

  it('refuses impossible dates and times without an offset', () => {
    for (const wrong of ['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01T25:00:00Z', '2026-01-01T00:00:00', '2026-01-01', 'now', '']) {
      expect(messagesOf(TimestampInput, wrong), wrong).to.deep.equal([wanted]);
    }
    expect(messagesOf(TimestampInput, 1_767_225_600)).to.deep.equal([wanted]);
  });

  it('refuses a time that its offset leads out of the years that are written with four digits', () => {
    for (const beyond of ['9999-12-31T23:59:59-00:01', '9999-12-31T12:00:00-23:59', '0000-01-01T00:00:00+00:01'])
      expect(messagesOf(TimestampInput, beyond), beyond).to.deep.equal(['must be of the years 0000 to 9999 in UTC']);
    expect(TimestampInput.parse('9999-12-31T23:59:59.999Z').toISOString()).to.equal('9999-12-31T23:59:59.999Z');
    expect(TimestampInput.parse('0000-01-01T00:00:00+00:00').toISOString()).to.equal('0000-01-01T00:00:00.000Z');
  });
});

describe('a schema without words of its own', () => {
  it('says of a wrong type what it must be', () => {
    const Item = z.object({ name: z.string(), count: z.int(), isOpen: z.boolean(), tags: z.array(z.number()) });
    expect(messagesOf(Item, 5)).to.deep.equal(['must be an object']);
    expect(messagesOf(Item, { name: 5, count: 'x', isOpen: 1, tags: {} })).to.deep.equal([
      'must be a string',
      'must be a number',
      'must be true or false',
      'must be an array',
    ]);
    expect(messagesOf(Item, { name: '', count: 1, isOpen: true, tags: ['1'] })).to.deep.equal(['must be a number']);
  });
});

describe('queryInteger', () => {
  const limit = queryInteger({ min: 1, max: 100, default: 20 });

  it('parses, and falls back when absent', () => {
    expect(limit.parse('7')).to.equal(7);
    expect(limit.parse(undefined)).to.equal(20);
    expect(queryInteger({ min: 1, max: 9 }).parse(undefined)).to.equal(undefined);
  });

  it('takes any whole number of JSON', () => {
    expect(['1e1', '1E+1', '20.0', '0.5e1'].map((text) => limit.parse(text))).to.deep.equal([10, 10, 20, 5]);
  });

  it('tells what is no whole number from what is out of range', () => {
    for (const wrong of ['', ' ', '1.5', '1e-1', 'ten', '0x1', '+5', '07', 'Infinity'])
      expect(messagesOf(limit, wrong), wrong).to.deep.equal(['must be a whole number']);
    for (const wrong of ['0', '-5', '101', '1e3', '1e999', '9'.repeat(400)])
      expect(messagesOf(limit, wrong), wrong).to.deep.equal(['must be between 1 and 100']);
  });
});

describe('queryChoice', () => {
  it('takes any case and gives the documented spelling', () => {
    expect(queryChoice(['Low', 'High']).parse('hIGH')).to.equal('High');
  });

  it('names the choices', () => {
    for (const wrong of ['middle', '', 'high ']) expect(messagesOf(queryChoice(['Low', 'High']), wrong), wrong).to.deep.equal(['must be one of Low, High']);
  });
});

describe('queryNumber', () => {
  it('takes any number of JSON, and nothing else', () => {
    expect(['1e3', '-0.5', '0', '1.25E-2'].map((text) => queryNumber.parse(text))).to.deep.equal([1000, -0.5, 0, 0.0125]);
    for (const wrong of ['+1', '.5', '1.', '01', '0x1', 'NaN', '1e999', '1 ', 'ten'])
      expect(messagesOf(queryNumber, wrong), wrong).to.deep.equal(['must be a number']);
  });
});

describe('queryBoolean', () => {
  it('takes true and false in any case', () => {
    expect(['true', 'FALSE'].map((text) => queryBoolean.parse(text))).to.deep.equal([true, false]);
    for (const wrong of ['1', 'yes', '', 'constructor', '__proto__']) expect(messagesOf(queryBoolean, wrong), wrong).to.deep.equal(['must be true or false']);
  });
});

describe('queryList', () => {
  const list = queryList(queryChoice(['Low', 'High']));

  it('splits on commas, trims, and drops blank entries', () => {
    expect([',', 'high', ' LOW , high,'].map((text) => list.parse(text))).to.deep.equal([[], ['High'], ['Low', 'High']]);
    expect(list.parse(undefined)).to.deep.equal([]);
    expect(messagesOf(list, 'low,middle')).to.deep.equal(['must be one of Low, High']);
  });
});

describe('queryCursor', () => {
  const after = queryCursor('notes', z.tuple([z.int(), z.string()]));

  it('takes what was encoded for its list, and no other text', () => {
    expect(after.parse(encodeCursor('notes', [7, 'x']))).to.deep.equal([7, 'x']);
    for (const wrong of [encodeCursor('tags', [7, 'x']), encodeCursor('notes', ['7', 'x']), encodeCursor('notes', []), 'x', 'bnVsbA', '7'])
      expect(messagesOf(after, wrong), wrong).to.deep.equal(['must be the `next` of another page of this list']);
  });
});
