// Environments of an application.
import { expect } from 'chai';
import { consume, manage, member, newApplication, putSecret, secretValue, useService } from '../service.ts';

describe('environments', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  let slug: string;
  let key: string;
  beforeEach(async () => {
    ({ slug, key } = await newApplication(running.url));
  });
  const add = (name: unknown) => manage(running.url, 'POST', `/${slug}/environments`, { name });

  describe('GET /api/management/applications/{slug}/environments', () => {
    it('answers 200 with every environment, oldest first', async () => {
      for (const name of ['Test', 'Alpha']) {
        clock.now = new Date(clock.now.getTime() + 1000);
        await add(name);
      }
      const { status, body } = await manage(running.url, 'GET', `/${slug}/environments`);
      expect(status).to.equal(200);
      expect([body].flat().map((item) => Reflect.get(Object(item), 'slug'))).to.deep.equal(['local', 'test', 'alpha']);
      for (const environment of [body].flat()) expect(environment).to.have.all.keys('id', 'slug', 'name', 'createdAt');
    });

    it('answers 404 to an unknown application', async () => {
      expect((await manage(running.url, 'GET', '/nobody/environments')).status).to.equal(404);
    });
  });

  describe('POST /api/management/applications/{slug}/environments', () => {
    it('answers 201 with the environment; its slug is the lower-case form of its name', async () => {
      const { status, body } = await add('Production EU');
      expect(status).to.equal(201);
      expect(body).to.have.all.keys('id', 'slug', 'name', 'createdAt');
      expect(body).to.include({ slug: 'production-eu', name: 'Production EU', createdAt: clock.now.toISOString() });
    });

    it('answers 409 to a duplicate slug, also that of the default environment', async () => {
      expect((await add('LOCAL')).status).to.equal(409);
      await add('Test');
      expect((await add('test!')).body).to.include({ status: 409, type: 'urn:signalbox:problem:environment-taken' });
    });

    it('keeps slugs apart by application', async () => {
      await add('Test');
      const other = await newApplication(running.url);
      expect((await manage(running.url, 'POST', `/${other.slug}/environments`, { name: 'Test' })).status).to.equal(201);
    });

    for (const name of [undefined, '', '   ', '###', 'n'.repeat(101), null])
      it(`answers 400 to the name ${JSON.stringify(name)?.slice(0, 10)}`, async () => {
        const refused = await add(name);
        expect(refused.status).to.equal(400);
        expect(refused.body).to.have.nested.property('errors.name');
      });

    it('takes a name of 100 characters', async () => {
      expect((await add('n'.repeat(100))).status).to.equal(201);
    });

    it('answers 404 to an unknown application, after it has looked at the name', async () => {
      expect((await manage(running.url, 'POST', '/nobody/environments', { name: '' })).status).to.equal(400);
      expect((await manage(running.url, 'POST', '/nobody/environments', { name: 'x' })).status).to.equal(404);
    });
  });

  describe('DELETE /api/management/applications/{slug}/environments/{envSlug}', () => {
    it('answers 204 and deletes the environment with its versions and entries, for good', async () => {
      await add('Test');
      await putSecret(running.url, slug, 'password', { environmentSlug: 'test', value: secretValue('of test') });
      await manage(running.url, 'POST', `/${slug}/configurations`, { environmentSlug: 'test', key: 'k', value: 'v' });
      const { status, text } = await manage(running.url, 'DELETE', `/${slug}/environments/test`);
      expect([status, text]).to.deep.equal([204, '']);
      expect((await consume(running.url, key, '/secrets/password?environment=test')).status).to.equal(404);
      expect((await manage(running.url, 'GET', `/${slug}/configurations`)).text).to.equal('[]');
      expect((await manage(running.url, 'GET', `/${slug}/secrets/password`)).status).to.equal(200);
    });

    it('begins at version 1 when the environment is made again', async () => {
      await add('Test');
      for (const label of ['first', 'second']) await putSecret(running.url, slug, 'password', { environmentSlug: 'test', value: secretValue(label) });
      await manage(running.url, 'DELETE', `/${slug}/environments/test`);
      await add('Test');
      expect((await manage(running.url, 'GET', `/${slug}/secrets/password/versions/test`)).text).to.equal('[]');
      await putSecret(running.url, slug, 'password', { environmentSlug: 'test', value: secretValue('first again') });
      const { body } = await consume(running.url, key, '/secrets/password?environment=test');
      expect(body).to.have.nested.property('properties.version', 1);
    });

    it('deletes local like any other', async () => {
      expect((await manage(running.url, 'DELETE', `/${slug}/environments/local`)).status).to.equal(204);
      expect((await manage(running.url, 'GET', `/${slug}/environments`)).text).to.equal('[]');
    });

    it('answers 404 to an unknown application or environment', async () => {
      expect(member(await manage(running.url, 'DELETE', '/nobody/environments/local'), 'title')).to.equal('No such application');
      expect(member(await manage(running.url, 'DELETE', `/${slug}/environments/nowhere`), 'title')).to.equal('No such environment');
    });
  });
});
