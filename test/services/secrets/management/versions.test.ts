// One version of a secret: disabled, enabled, restored; items with an expected version, and items that generate.
import { expect } from 'chai';
import { type Answer, consume, manage, member, newApplication, putSecret, secretValue, useService } from '../service.ts';

describe('versions of a secret', () => {
  const running = useService();
  let slug: string;
  let key: string;
  let path: string;
  beforeEach(async () => {
    ({ slug, key } = await newApplication(running.url));
    path = `/${slug}/secrets/password`;
  });
  const put = async (value: string) => putSecret(running.url, slug, 'password', { value });
  const append = (items: unknown) => manage(running.url, 'POST', `${path}/values`, items);
  const versions = () => manage(running.url, 'GET', `${path}/versions/local`);
  const change = (version: unknown, isEnabled: unknown) => manage(running.url, 'PATCH', `${path}/versions/local/${String(version)}`, { isEnabled });
  const restore = (version: unknown) => manage(running.url, 'POST', `${path}/versions/local/${String(version)}/restore`);
  const read = () => consume(running.url, key, '/secrets/password?environment=local');
  const numbers = ({ body }: Answer) => [body].flat().map((version) => Reflect.get(Object(version), 'version'));
  const audited = async (action: string) =>
    (
      await running.service.database.driver.query(
        'select action, environment, subject, version, outcome from audit_entries where application = $1 and action = $2',
        [slug, action],
      )
    ).rows;

  describe('PATCH /api/management/applications/{slug}/secrets/{name}/versions/{environment}/{version}', () => {
    it('disables a version, so that the one before is served, and enables it again', async () => {
      const [first, second] = [secretValue('first'), secretValue('second')];
      await put(first);
      await put(second);
      const disabled = await change(2, false);
      expect(disabled.status).to.equal(200);
      expect(disabled.body).to.include({ version: 2, isEnabled: false });
      expect(member(await read(), 'value')).to.equal(first);
      expect((await change(2, true)).body).to.include({ version: 2, isEnabled: true });
      expect(member(await read(), 'value')).to.equal(second);
      expect(numbers(await versions())).to.deep.equal([2, 1]);
    });

    it('keeps the id, the number and the times of the version', async () => {
      await append([]);
      await put(secretValue('timed'));
      await append([{ environmentSlug: 'local', value: secretValue('later'), notBefore: '2020-01-01T00:00:00Z', expiresAt: '2099-01-01T00:00:00Z' }]);
      const before = [(await versions()).body].flat()[0];
      expect((await change(2, false)).body).to.deep.equal({ ...Object(before), isEnabled: false });
      expect((await change(2, true)).body).to.deep.equal(before);
      expect((await read()).status).to.equal(200);
    });

    it('changes nothing where the version is so already, and records it', async () => {
      await put(secretValue('as it is'));
      const sealed = () => running.service.database.driver.query('select v.* from secret_versions v join secrets s on s.id = v.secret_id order by v.id desc');
      const { rows: before } = await sealed();
      expect((await change(1, true)).status).to.equal(200);
      expect((await sealed()).rows).to.deep.equal(before);
      expect(await audited('secret.enable-version')).to.deep.equal([
        { action: 'secret.enable-version', environment: 'local', subject: 'password', version: 1, outcome: 'done' },
      ]);
    });

    it('answers 404 to an unknown application, secret, environment and version', async () => {
      await put(secretValue('there'));
      for (const version of [2, 0, -1, 'x', '01', '1e0', '99999999999999'])
        expect((await change(version, false)).body, String(version)).to.include({ title: 'No such version' });
      const missing = (where: string) => manage(running.url, 'PATCH', where, { isEnabled: true });
      expect((await missing(`/${slug}/secrets/password/versions/nowhere/1`)).body).to.include({ title: 'No such environment' });
      expect((await missing(`/${slug}/secrets/none/versions/local/1`)).body).to.include({ title: 'No such secret' });
      expect((await missing('/none/secrets/none/versions/local/1')).body).to.include({ title: 'No such application' });
    });

    it('answers 400 without isEnabled, before it looks for the version', async () => {
      expect((await change(7, 'yes')).body).to.have.deep.nested.property('errors', { isEnabled: ['must be true or false, not a string'] });
      expect((await manage(running.url, 'PATCH', `${path}/versions/local/7`, {})).status).to.equal(400);
    });

    it('tells the change feed', async () => {
      await put(secretValue('followed'));
      await change(1, false);
      const { rows } = await running.service.database.driver.query('select action, environment, secret from changes where application = $1 order by number', [
        slug,
      ]);
      expect(rows.at(-1)).to.deep.equal({ action: 'secret.disable-version', environment: 'local', secret: 'password' });
    });

    it('refuses a version that was changed in the database, and leaves it as it is', async () => {
      await put(secretValue('tampered'));
      await running.service.database.driver.query(
        `update secret_versions set expires_at = '2099-01-01' where secret_id in (select s.id from secrets s join applications a on a.id = s.application_id where a.slug = $1)`,
        [slug],
      );
      expect((await change(1, false)).status).to.equal(500);
      expect((await restore(1)).status).to.equal(500);
      expect(member({ ...(await versions()), body: [(await versions()).body].flat()[0] }, 'isEnabled')).to.equal(true);
      expect(numbers(await versions())).to.deep.equal([1]);
    });
  });

  describe('POST /api/management/applications/{slug}/secrets/{name}/versions/{environment}/{version}/restore', () => {
    it('makes the value of a former version the newest one, enabled and without times', async () => {
      const former = secretValue('former');
      await append([]);
      await put(secretValue('x'));
      await append([{ environmentSlug: 'local', value: former, isEnabled: false, expiresAt: '2001-01-01T00:00:00Z' }]);
      await put(secretValue('wrong'));
      const restored = await restore(2);
      expect(restored.status).to.equal(201);
      expect(restored.body).to.include({ version: 4, isEnabled: true, expiresAt: null, notBefore: null });
      expect(restored.text).not.to.contain(former);
      expect(member(await read(), 'value')).to.equal(former);
      expect([(await versions()).body].flat()[0]).to.deep.equal(restored.body);
      expect(await audited('secret.restore-version')).to.deep.equal([
        { action: 'secret.restore-version', environment: 'local', subject: 'password', version: 4, outcome: 'done' },
      ]);
    });

    it('gives parallel restorations distinct numbers', async () => {
      await put(secretValue('once'));
      const answers = await Promise.all(Array.from({ length: 10 }, () => restore(1)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array<number>(10).fill(201));
      expect(numbers(await versions())).to.deep.equal([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    });

    it('answers 404 to a version that does not exist', async () => {
      await put(secretValue('one'));
      expect((await restore(2)).body).to.include({ title: 'No such version' });
    });
  });

  describe('expectedVersion of a value item', () => {
    const item = (expectedVersion: unknown) => ({ environmentSlug: 'local', value: secretValue('expected'), expectedVersion });
    beforeEach(() => manage(running.url, 'POST', `/${slug}/secrets`, { name: 'password' }));

    it('stores where it is the newest version, 0 where there is none, also within a call', async () => {
      expect((await append([item(0), item(1)])).status).to.equal(200);
      expect(numbers(await versions())).to.deep.equal([2, 1]);
    });

    it('answers 409 where it is not, and stores none of the items', async () => {
      const refused = await append([item(0), item(0)]);
      expect(refused.status).to.equal(409);
      expect(refused.body).to.include({ title: 'The newest version is not the expected one' });
      expect((await versions()).text).to.equal('[]');
      expect(numbers(await versions())).to.deep.equal([]);
    });

    it('lets one of parallel writers store', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => append([item(0)])));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      expect(answers.filter(({ status }) => status === 409)).to.have.length(7);
    });

    it('answers 400 to one that is not a version', async () => {
      for (const wrong of [-1, 1.5, '1', null]) expect((await append([item(wrong)])).status, String(wrong)).to.equal(400);
    });
  });

  it('refuses the words of the consumer plane in a value item, which would be served at once and without end', async () => {
    await manage(running.url, 'POST', `/${slug}/secrets`, { name: 'password' });
    const refused = await append([{ environmentSlug: 'local', value: secretValue('worded'), enabled: false, expiresOn: null }]);
    expect(refused.status).to.equal(400);
    expect(refused.body).to.have.deep.nested.property('errors', {
      '[0].enabled': ['is not a member of a value item: send isEnabled'],
      '[0].expiresOn': ['is not a member of a value item: send expiresAt'],
    });
    expect((await append([{ environmentSlug: 'local', value: secretValue('other'), somethingElse: 1 }])).status).to.equal(200);
  });

  describe('generate of a value item', () => {
    beforeEach(() => manage(running.url, 'POST', `/${slug}/secrets`, { name: 'password' }));
    const generate = (how: unknown, more = {}) => append([{ environmentSlug: 'local', generate: how, ...more }]);

    it('makes a random value of 32 letters and digits where there is none', async () => {
      expect((await generate({})).text).to.equal('');
      expect(member(await read(), 'value')).to.match(/^[A-Za-z0-9]{32}$/);
    });

    it('leaves a version that is there, active or not', async () => {
      await generate({});
      const before = await read();
      expect((await generate({})).status).to.equal(200);
      expect((await read()).text).to.equal(before.text);
      await change(1, false);
      await generate({});
      expect(numbers(await versions())).to.deep.equal([1]);
    });

    for (const [alphabet, pattern] of [
      ['hex', /^[0-9a-f]{1024}$/],
      ['digits', /^[0-9]{1024}$/],
      ['symbols', /^[-A-Za-z0-9._~+=,]{1024}$/],
    ] as const)
      it(`takes the alphabet ${alphabet} and a length`, async () => {
        await generate({ alphabet, length: 1024 });
        expect(member(await read(), 'value')).to.match(pattern);
      });

    it('makes another value each time, and one of parallel calls makes it', async () => {
      await manage(running.url, 'POST', `/${slug}/environments`, { name: 'Test' });
      await append([
        { environmentSlug: 'local', generate: {} },
        { environmentSlug: 'test', generate: {} },
      ]);
      const other = await consume(running.url, key, '/secrets/password?environment=test');
      expect(member(other, 'value')).not.to.equal(member(await read(), 'value'));
      await Promise.all(Array.from({ length: 8 }, () => generate({})));
      expect(numbers(await versions())).to.deep.equal([1]);
    });

    it('answers 400 beside a value, without either, and to a length or an alphabet that there is not', async () => {
      const source = { '[0].value': ['is required, or else generate'] };
      expect((await generate({}, { value: secretValue('both') })).body).to.have.deep.nested.property('errors', source);
      expect((await append([{ environmentSlug: 'local' }])).body).to.have.deep.nested.property('errors', source);
      for (const wrong of [{ length: 7 }, { length: 1025 }, { length: '32' }, { alphabet: 'emoji' }, true, []])
        expect((await generate(wrong)).status, JSON.stringify(wrong)).to.equal(400);
    });
  });
});
