// Several keys of an application: each reads, until it is deleted or has expired; a rotation replaces all of them.
import { hash } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../support/wait.ts';
import { consume, manage, member, newApplication, putSecret, secretValue, useService } from '../service.ts';

describe('keys of an application', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  let slug: string;
  let key: string;
  beforeEach(async () => {
    clock.now = new Date('2026-03-15T12:00:00Z');
    ({ slug, key } = await newApplication(running.url));
    await putSecret(running.url, slug, 'password', { value: secretValue('read by many') });
    await manage(running.url, 'POST', `/${slug}/configurations`, { environmentSlug: 'local', key: 'entry', value: 'on' });
  });
  const create = (body: unknown = {}) => manage(running.url, 'POST', `/${slug}/keys`, body);
  const list = async () => [member(await manage(running.url, 'GET', `/${slug}/keys`), 'items')].flat();
  const remove = (id: unknown) => manage(running.url, 'DELETE', `/${slug}/keys/${String(id)}`);
  /** The statuses of every read of the consumer plane, and of a path that it does not have. */
  const reads = async (one: string) => {
    const paths = ['/secrets/password', '/configurations', '/configurations/entry', '/nothing'];
    return (await Promise.all(paths.map((path) => consume(running.url, one, `${path}?environment=local`)))).map(({ status }) => status);
  };
  const valid = [200, 200, 200, 404];
  const refused = [401, 401, 401, 401];

  describe('POST /api/management/applications/{slug}/keys', () => {
    it('adds a key that reads beside the first one, and answers it once', async () => {
      const created = await create({ name: 'blue' });
      expect(created.status).to.equal(201);
      expect(created.headers.get('cache-control')).to.equal('no-store');
      expect(created.body).to.include({ name: 'blue', createdAt: '2026-03-15T12:00:00.000Z', lastUsedAt: null, expiresAt: null });
      const plain = String(member(created, 'plainApiKey'));
      expect(plain).to.match(/^key_[0-9a-f]{40}$/);
      expect(await reads(plain)).to.deep.equal(valid);
      expect(await reads(key)).to.deep.equal(valid);
      expect((await manage(running.url, 'GET', `/${slug}/keys`)).text).not.to.contain(plain);
    });

    it('adds a key that is valid until expiresAt, inclusive', async () => {
      const plain = String(member(await create({ expiresAt: '2026-03-15T13:00:00Z' }), 'plainApiKey'));
      clock.now = new Date('2026-03-15T13:00:00.000Z');
      expect(await reads(plain)).to.deep.equal(valid);
      clock.now = new Date('2026-03-15T13:00:00.001Z');
      expect(await reads(plain)).to.deep.equal(refused);
      expect(await reads(key)).to.deep.equal(valid);
    });

    it('is answered 409 above 100 keys, also when many come at once', async () => {
      const answers = await Promise.all(Array.from({ length: 105 }, () => create()));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(99);
      expect(answers.filter(({ status }) => status === 409)).to.have.length(6);
      expect(await list()).to.have.length(100);
    });

    it('refuses the word of the consumer plane for expiresAt, which would be a key without end', async () => {
      const answered = await create({ name: 'ci', expiresOn: '2026-03-15T13:00:00Z' });
      expect(answered.status).to.equal(400);
      expect(answered.body).to.have.deep.property('errors', { expiresOn: ['is not a member of a key: send expiresAt'] });
      expect(await list()).to.have.length(1);
    });

    it('answers 400 to a member that is not valid, 404 to an unknown application', async () => {
      for (const body of [{ name: ' ' }, { name: 'x'.repeat(201) }, { name: 5 }, { expiresAt: 'tomorrow' }, []])
        expect((await create(body)).status, JSON.stringify(body)).to.equal(400);
      expect((await manage(running.url, 'POST', '/none/keys', {})).status).to.equal(404);
      expect((await manage(running.url, 'GET', '/none/keys')).status).to.equal(404);
    });
  });

  describe('GET /api/management/applications/{slug}/keys', () => {
    it('lists the keys, oldest first, with the first one', async () => {
      clock.now = new Date('2026-03-15T12:00:01Z');
      await create({ name: 'blue', expiresAt: '2026-04-01T00:00:00Z' });
      const [first, second] = await list();
      expect(first).to.include({ name: null, createdAt: '2026-03-15T12:00:00.000Z', expiresAt: null });
      expect(second).to.include({ name: 'blue', expiresAt: '2026-04-01T00:00:00.000Z' });
      expect(first).to.have.all.keys('id', 'name', 'fingerprint', 'createdAt', 'lastUsedAt', 'expiresAt');
    });

    it('shows the beginning of the SHA-256 of each, by which a holder finds its entry', async () => {
      const created = await create();
      const fingerprints = [key, String(member(created, 'plainApiKey'))].map((plain) => hash('sha256', plain).slice(0, 16));
      expect((await list()).map((each) => Reflect.get(Object(each), 'fingerprint') as unknown)).to.deep.equal(fingerprints);
      expect(member(created, 'fingerprint')).to.equal(fingerprints[1]);
    });

    it('says when each was last used, by a read of a secret or an entry, and not when it was refused', async () => {
      const plain = String(member(await create({ name: 'blue' }), 'plainApiKey'));
      const used = async (index: number) => Reflect.get(Object((await list())[index]), 'lastUsedAt') as unknown;
      await consume(running.url, key, '/secrets/password?environment=local');
      await eventually(async () => (await used(0)) === '2026-03-15T12:00:00.000Z');
      expect(await used(1)).to.equal(null);
      await consume(running.url, plain, '/configurations?environment=local');
      await eventually(async () => (await used(1)) === '2026-03-15T12:00:00.000Z');
      clock.now = new Date('2026-03-15T12:01:00Z');
      await consume(running.url, plain, '/configurations/entry?environment=local');
      await eventually(async () => (await used(1)) === '2026-03-15T12:01:00.000Z');
      expect(await used(0)).to.equal('2026-03-15T12:00:00.000Z');
    });
  });

  describe('DELETE /api/management/applications/{slug}/keys/{id}', () => {
    it('refuses the key from the answer on, and no other', async () => {
      const created = await create();
      const [first] = await list();
      expect((await remove(Reflect.get(Object(first), 'id'))).status).to.equal(204);
      expect(await reads(key)).to.deep.equal(refused);
      expect(await reads(String(member(created, 'plainApiKey')))).to.deep.equal(valid);
    });

    it('answers 404 to a key that there is not, of another application, and to any text', async () => {
      const other = await newApplication(running.url);
      const theirs = [member(await manage(running.url, 'GET', `/${other.slug}/keys`), 'items')].flat()[0];
      for (const id of [Reflect.get(Object(theirs), 'id'), '00000000-0000-0000-0000-000000000000', 'x', '%00'])
        expect((await remove(id)).body, String(id)).to.include({ title: 'No such key' });
      expect(await reads(other.key)).to.deep.equal([404, 200, 404, 404]);
    });
  });

  it('are all replaced by rotate-key', async () => {
    const plain = String(member(await create(), 'plainApiKey'));
    const rotated = String(member(await manage(running.url, 'POST', `/${slug}/rotate-key`), 'plainApiKey'));
    for (const former of [key, plain]) expect(await reads(former)).to.deep.equal(refused);
    expect(await reads(rotated)).to.deep.equal(valid);
    expect(await list()).to.have.length(1);
  });

  it('are in the audit by their id and name, and a change of the application alone', async () => {
    const id = member(await create({ name: 'deploy' }), 'id');
    await remove(id);
    const { rows } = await running.service.database.driver.query(
      "select action, subject, outcome, detail from audit_entries where application = $1 and action like 'application.%key' order by occurred_at, id",
      [slug],
    );
    expect(rows).to.deep.equal([
      { action: 'application.create-key', subject: id, outcome: 'done', detail: 'named deploy' },
      { action: 'application.delete-key', subject: id, outcome: 'done', detail: 'named deploy' },
    ]);
    const { rows: changes } = await running.service.database.driver.query(
      "select action, environment, secret from changes where application = $1 and action like 'application.%key' order by number",
      [slug],
    );
    expect(changes[0]).to.deep.equal({ action: 'application.create-key', environment: null, secret: null });
  });
});
