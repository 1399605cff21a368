// Values and versions: appended all or none, numbered without a gap, never returned to an administrator.
import { expect } from 'chai';
import { type Answer, consume, manage, member, newApplication, putSecret, secretValue, shortValue, useService } from '../service.ts';

describe('values of a secret', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  let slug: string;
  let key: string;
  beforeEach(async () => {
    clock.now = new Date('2026-03-15T12:00:00Z');
    ({ slug, key } = await newApplication(running.url));
    await manage(running.url, 'POST', `/${slug}/environments`, { name: 'Test' });
    await manage(running.url, 'POST', `/${slug}/secrets`, { name: 'password' });
  });
  const append = (items: unknown) => manage(running.url, 'POST', `/${slug}/secrets/password/values`, items);
  const versions = (environment = 'local') => manage(running.url, 'GET', `/${slug}/secrets/password/versions/${environment}`);
  const numbers = ({ body }: Answer) => [body].flat().map((version) => Reflect.get(Object(version), 'version'));
  const item = { environmentSlug: 'local', value: secretValue('open sesame') };

  describe('POST /api/management/applications/{slug}/secrets/{name}/values', () => {
    it('answers 200 with an empty body', async () => {
      const { status, text } = await append([item]);
      expect([status, text]).to.deep.equal([200, '']);
    });

    it('appends a version with a higher number, and leaves older ones in place', async () => {
      await append([item]);
      const first = await versions();
      clock.now = new Date('2026-03-15T12:00:01Z');
      await append([item]);
      const both = await versions();
      expect(numbers(both)).to.deep.equal([2, 1]);
      expect([both.body].flat().slice(1)).to.deep.equal(first.body);
    });

    it('numbers each environment by itself; one that comes twice gets two versions, in their order', async () => {
      await append([item]);
      const newest = secretValue('newest');
      await append([
        { ...item, value: secretValue('older') },
        { environmentSlug: 'test', value: secretValue('of test') },
        { ...item, value: newest },
      ]);
      expect(numbers(await versions())).to.deep.equal([3, 2, 1]);
      expect(numbers(await versions('test'))).to.deep.equal([1]);
      expect((await consume(running.url, key, '/secrets/password?environment=local')).body).to.include({ value: newest });
    });

    it('numbers each secret by itself', async () => {
      await append([item]);
      await putSecret(running.url, slug, 'other', { value: secretValue('other') });
      expect(numbers(await manage(running.url, 'GET', `/${slug}/secrets/other/versions/local`))).to.deep.equal([1]);
    });

    it('gives 50 parallel calls 50 distinct consecutive numbers', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => append([{ ...item, value: secretValue(`value ${index}`) }])));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array<number>(50).fill(200));
      expect(numbers(await versions())).to.deep.equal(Array.from({ length: 50 }, (_, index) => 50 - index));
    });

    it('enables unless told otherwise, and takes times or null', async () => {
      await append([
        item,
        { ...item, isEnabled: false, notBefore: '2026-03-01T00:00:00+01:00', expiresAt: '2026-04-01T00:00:00.5Z' },
        { ...item, isEnabled: null, expiresAt: null, notBefore: null },
      ]);
      const { body } = await versions();
      expect(body).to.have.deep.nested.property('[0].isEnabled', true);
      expect(body).to.have.deep.nested.property('[0].expiresAt', null);
      expect([body].flat()[1]).to.include({ isEnabled: false, notBefore: '2026-02-28T23:00:00.000Z', expiresAt: '2026-04-01T00:00:00.500Z' });
      expect([body].flat()[2]).to.include({ isEnabled: true, notBefore: null, expiresAt: null });
    });

    it('bumps updatedAt of the secret', async () => {
      clock.now = new Date('2026-05-01T00:00:00Z');
      await append([item]);
      expect(member(await manage(running.url, 'GET', `/${slug}/secrets/password`), 'updatedAt')).to.equal('2026-05-01T00:00:00.000Z');
    });

    it('stores nothing for an empty array, and answers 200', async () => {
      clock.now = new Date('2026-05-01T00:00:00Z');
      expect((await append([])).status).to.equal(200);
      expect((await versions()).text).to.equal('[]');
      expect(member(await manage(running.url, 'GET', `/${slug}/secrets/password`), 'updatedAt')).to.equal('2026-03-15T12:00:00.000Z');
    });

    it('takes an expiresAt in the past', async () => {
      expect((await append([{ ...item, expiresAt: '1999-12-31T23:59:59.999Z' }])).status).to.equal(200);
    });

    it('takes a value of 64 KiB of UTF-8, and answers 400 to a byte more', async () => {
      const start = secretValue('64 KiB');
      const value = start + '.'.repeat(64 * 1024 - start.length - 2) + 'ä';
      expect((await append([{ ...item, value }])).status).to.equal(200);
      expect(member(await consume(running.url, key, '/secrets/password?environment=local'), 'value')).to.equal(value);
      const refused = await append([{ ...item, value: `${value}a` }]);
      expect(refused.status).to.equal(400);
      expect(refused.body).to.have.deep.nested.property('errors', { '[0].value': ['must be at most 65536 bytes of UTF-8'] });
    });

    it('takes a value with a NUL, spaces around it and line ends, and serves it as it was given', async () => {
      const value = ' \0line\r\n"quoted"\u2028 😀 ';
      await append([{ ...item, value }]);
      expect(member(await consume(running.url, key, '/secrets/password?environment=local'), 'value')).to.equal(value);
    });

    it('takes 100 items of 64 KiB in one call, and answers 400 to 101', async () => {
      const items = Array<typeof item>(100).fill({ ...item, value: secretValue('64 KiB').padEnd(64 * 1024, '.') });
      expect((await append(items)).status).to.equal(200);
      expect(numbers(await versions())[0]).to.equal(100);
      const refused = await append(Array<typeof item>(101).fill(item));
      expect(refused.status).to.equal(400);
      expect(refused.body).to.have.deep.nested.property('errors', { body: ['must hold at most 100 items'] });
    });

    it('answers 413 above 8 MiB', async () => {
      expect((await append([{ ...item, ignored: 'x'.repeat(8 * 1024 * 1024) }])).status).to.equal(413);
    });

    it('tells the faults of all items at once, by their place', async () => {
      const refused = await append([
        { environmentSlug: 'local', value: shortValue(' ') },
        item,
        { value: secretValue('of no environment'), isEnabled: 'yes', expiresAt: '2026-02-30T00:00:00Z' },
        { ...item, value: shortValue(''), expiresAt: '2026-01-01T00:00:00Z', notBefore: '2026-01-02T00:00:00Z' },
      ]);
      expect(refused.status).to.equal(400);
      expect(refused.body).to.have.deep.nested.property('errors', {
        '[0].value': ['must not be empty'],
        '[2].environmentSlug': ['is required'],
        '[2].isEnabled': ['must be true or false, not a string'],
        '[2].expiresAt': ['must be an ISO 8601 date and time with an offset or Z, such as 2026-03-15T12:00:00Z'],
        '[3].value': ['must not be empty'],
        '[3].expiresAt': ['must be after notBefore'],
      });
    });

    it('answers 400 when expiresAt is not after notBefore; equal is not after', async () => {
      const at = '2026-01-01T00:00:00.000Z';
      expect((await append([{ ...item, notBefore: at, expiresAt: at }])).body).to.have.nested.property('errors');
      expect((await append([{ ...item, notBefore: at, expiresAt: '2026-01-01T00:00:00.001Z' }])).status).to.equal(200);
    });

    it('answers 400 to a time beyond the year 9999 in UTC, and to one before the year 0', async () => {
      const refused = await append([
        { ...item, expiresAt: '9999-12-31T23:30:00-01:00' },
        { ...item, notBefore: '0000-01-01T00:30:00+01:00' },
      ]);
      expect(refused.status).to.equal(400);
      const years = ['must be of the years 0000 to 9999 in UTC'];
      expect(refused.body).to.have.deep.nested.property('errors', { '[0].expiresAt': years, '[1].notBefore': years });
      expect((await append([{ ...item, expiresAt: '9999-12-31T23:59:59.999Z' }])).status).to.equal(200);
      expect((await versions()).text).to.contain('"9999-12-31T23:59:59.999Z"');
    });

    it('answers 400 to an empty environmentSlug, which is no unknown one', async () => {
      const refused = await append([
        { ...item, environmentSlug: '' },
        { ...item, environmentSlug: ' ' },
      ]);
      expect(refused.status).to.equal(400);
      expect(refused.body).to.have.deep.nested.property('errors', {
        '[0].environmentSlug': ['must not be empty'],
        '[1].environmentSlug': ['must not be empty'],
      });
    });

    it('says of a wrong type what it must be', async () => {
      expect((await append({})).body).to.have.deep.nested.property('errors', { body: ['must be an array of value items'] });
      expect((await append([7, null])).body).to.have.deep.nested.property('errors', {
        '[0]': ['must be an object, not a number'],
        '[1]': ['must be an object, not null'],
      });
      expect((await append([{ environmentSlug: 1, value: 2 }])).body).to.have.deep.nested.property('errors', {
        '[0].environmentSlug': ['must be a string, not a number'],
        '[0].value': ['must be a string, not a number'],
      });
    });

    for (const body of [{}, 'x', null, 5, [null], [[]]])
      it(`answers 400 to ${JSON.stringify(body)}`, async () => {
        expect((await append(JSON.stringify(body))).status).to.equal(400);
      });

    it('answers 404 to an unknown environment, and stores none of the items', async () => {
      const refused = await append([item, { ...item, environmentSlug: 'nowhere' }, { ...item, environmentSlug: '\0' }]);
      expect(refused.status).to.equal(404);
      expect(refused.body).to.include({ title: 'No such environment' });
      expect((await versions()).text).to.equal('[]');
    });

    it('answers 400 before 404: no item is looked up while one is not valid', async () => {
      expect(
        (
          await append([
            { ...item, environmentSlug: 'nowhere' },
            { ...item, value: shortValue('') },
          ])
        ).status,
      ).to.equal(400);
      expect((await manage(running.url, 'POST', '/nobody/secrets/none/values', [{ ...item, value: shortValue('') }])).status).to.equal(400);
    });

    it('answers 404 to an unknown application or secret, also when there are no items', async () => {
      expect(member(await manage(running.url, 'POST', '/nobody/secrets/password/values', [item]), 'title')).to.equal('No such application');
      expect(member(await manage(running.url, 'POST', `/${slug}/secrets/none/values`, [item]), 'title')).to.equal('No such secret');
      expect((await manage(running.url, 'POST', `/${slug}/secrets/none/values`, [])).status).to.equal(404);
    });
  });

  describe('GET /api/management/applications/{slug}/secrets/{name}/versions/{environmentSlug}', () => {
    it('answers 200 with every version, newest first, and never its value', async () => {
      await append([item, item, item]);
      const answer = await versions();
      expect(answer.status).to.equal(200);
      expect(numbers(answer)).to.deep.equal([3, 2, 1]);
      for (const version of [answer.body].flat()) expect(version).to.have.all.keys('id', 'version', 'isEnabled', 'expiresAt', 'notBefore', 'createdAt');
      expect(answer.text).not.to.contain(item.value);
    });

    it('answers 404 to an unknown application, secret or environment', async () => {
      const title = async (path: string) => member(await manage(running.url, 'GET', path), 'title');
      expect(await title('/nobody/secrets/password/versions/local')).to.equal('No such application');
      expect(await title(`/${slug}/secrets/none/versions/local`)).to.equal('No such secret');
      expect(await title(`/${slug}/secrets/password/versions/nowhere`)).to.equal('No such environment');
    });
  });
});
