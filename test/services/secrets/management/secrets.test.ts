// Secrets as administrators see them: named slots, never a value.
import { expect } from 'chai';
import { manage, member, newApplication, putSecret, secretValue, useService } from '../service.ts';

describe('secrets', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  let slug: string;
  beforeEach(async () => {
    ({ slug } = await newApplication(running.url));
  });
  const add = (body: unknown) => manage(running.url, 'POST', `/${slug}/secrets`, body);

  describe('POST /api/management/applications/{slug}/secrets', () => {
    it('answers 201 with the secret and one required environment for each that exists', async () => {
      await manage(running.url, 'POST', `/${slug}/environments`, { name: 'Production' });
      const created = await add({ name: 'db password', description: 'of the shop' });
      expect(created.status).to.equal(201);
      expect(created.headers.get('location')).to.equal(`/api/management/applications/${slug}/secrets/db%20password`);
      expect(created.body).to.deep.equal({
        id: member(created, 'id'),
        name: 'db password',
        description: 'of the shop',
        createdAt: '2026-03-15T12:00:00.000Z',
        updatedAt: '2026-03-15T12:00:00.000Z',
        requiredEnvironments: [
          { slug: 'local', name: 'Local', valueProvided: false },
          { slug: 'production', name: 'Production', valueProvided: false },
        ],
      });
    });

    it('answers 409 to a name that the application has, and takes it for another application', async () => {
      await add({ name: 'password' });
      expect((await add({ name: 'password' })).body).to.include({ status: 409, type: 'urn:signalbox:problem:secret-taken' });
      expect((await add({ name: 'Password' })).status).to.equal(201);
      const other = await newApplication(running.url);
      expect((await manage(running.url, 'POST', `/${other.slug}/secrets`, { name: 'password' })).status).to.equal(201);
    });

    for (const body of [{}, { name: '' }, { name: '  ' }, { name: 'n'.repeat(201) }, { name: 'a\0' }, { name: true }, { name: '.' }, { name: '..' }])
      it(`answers 400 to ${JSON.stringify(body).slice(0, 20)}`, async () => {
        const refused = await add(body);
        expect(refused.status).to.equal(400);
        expect(refused.body).to.have.nested.property('errors.name');
      });

    it('answers 400 to what is no object, in words', async () => {
      const bodies = [
        [[], 'an array'],
        ['"x"', 'a string'],
        [5, 'a number'],
        [null, 'null'],
      ] as const;
      for (const [body, came] of bodies)
        expect((await add(body)).body, came).to.have.deep.nested.property('errors', { body: [`must be an object, not ${came}`] });
    });

    it('takes a name of dots that a URL can hold', async () => {
      for (const name of ['...', '.env', 'a..']) {
        await add({ name });
        expect((await manage(running.url, 'GET', `/${slug}/secrets/${name}`)).body).to.include({ name });
      }
    });

    it('answers 404 to an unknown application', async () => {
      expect((await manage(running.url, 'POST', '/nobody/secrets', { name: 'x' })).status).to.equal(404);
    });
  });

  describe('GET /api/management/applications/{slug}/secrets', () => {
    it('answers 200 with the metadata of every secret, by name', async () => {
      for (const name of ['b', 'a', 'B']) await add({ name });
      const { status, body } = await manage(running.url, 'GET', `/${slug}/secrets`);
      expect(status).to.equal(200);
      expect([body].flat().map((item) => Reflect.get(Object(item), 'name'))).to.deep.equal(['B', 'a', 'b']);
      for (const secret of [body].flat()) expect(secret).to.have.all.keys('id', 'name', 'description', 'createdAt', 'updatedAt');
    });

    it('answers 404 to an unknown application', async () => {
      expect((await manage(running.url, 'GET', '/nobody/secrets')).status).to.equal(404);
    });
  });

  describe('GET /api/management/applications/{slug}/secrets/{name}', () => {
    it('answers 200 with the item of the list, without a value', async () => {
      const value = secretValue('never shown');
      await putSecret(running.url, slug, 'password', { value });
      const { status, body, text } = await manage(running.url, 'GET', `/${slug}/secrets/password`);
      expect(status).to.equal(200);
      expect([body]).to.deep.equal((await manage(running.url, 'GET', `/${slug}/secrets`)).body);
      expect(text).not.to.contain(value);
    });

    for (const name of ['a/b', 'a:b', 'a b', '100%', 'a%2Fb', 'ü😀', '?#&', "';--"])
      it(`finds the name ${name} in its percent-encoded form`, async () => {
        await add({ name });
        expect((await manage(running.url, 'GET', `/${slug}/secrets/${encodeURIComponent(name)}`)).body).to.include({ name });
      });

    it('answers 404 to an unknown application or secret', async () => {
      expect((await manage(running.url, 'GET', '/nobody/secrets/x')).status).to.equal(404);
      expect((await manage(running.url, 'GET', `/${slug}/secrets/%00`)).status).to.equal(404);
      expect((await manage(running.url, 'GET', `/${slug}/secrets/x`)).body).to.deep.equal({
        type: 'urn:signalbox:problem:secret-missing',
        title: 'No such secret',
        status: 404,
      });
    });
  });

  describe('DELETE /api/management/applications/{slug}/secrets/{name}', () => {
    it('answers 204 and removes the secret with all its versions permanently', async () => {
      await putSecret(running.url, slug, 'password', { value: secretValue('password') });
      const { rows: before } = await running.service.database.driver.query('select 1 from secret_versions');
      const { status, text } = await manage(running.url, 'DELETE', `/${slug}/secrets/password`);
      expect([status, text]).to.deep.equal([204, '']);
      expect((await manage(running.url, 'GET', `/${slug}/secrets/password`)).status).to.equal(404);
      const { rows: after } = await running.service.database.driver.query('select 1 from secret_versions');
      expect(after.length).to.equal(before.length - 1);
    });

    it('begins at version 1 when the secret is made again', async () => {
      for (const label of ['first', 'second']) await putSecret(running.url, slug, 'password', { value: secretValue(label) });
      await manage(running.url, 'DELETE', `/${slug}/secrets/password`);
      await putSecret(running.url, slug, 'password', { value: secretValue('first again') });
      const { body } = await manage(running.url, 'GET', `/${slug}/secrets/password/versions/local`);
      expect(body).to.have.length(1);
      expect(body).to.have.nested.property('[0].version', 1);
    });

    it('answers 404 to an unknown application or secret', async () => {
      expect((await manage(running.url, 'DELETE', '/nobody/secrets/x')).status).to.equal(404);
      expect((await manage(running.url, 'DELETE', `/${slug}/secrets/x`)).status).to.equal(404);
    });
  });
});
