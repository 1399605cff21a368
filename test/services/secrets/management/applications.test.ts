// Applications: every line of the document about them.
import { expect } from 'chai';
import { type Answer, consume, manage, member, newApplication, putSecret, secretValue, useService } from '../service.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const slugs = ({ body }: Answer) => (Array.isArray(body) ? body.map((item: { slug: string }) => item.slug) : body);

describe('applications', () => {
  const clock = { now: new Date('2026-03-15T12:00:00.123Z') };
  const running = useService({ clock: () => clock.now });
  beforeEach(() => running.service.database.driver.query('update applications set deleted_at = now()'));

  describe('POST /api/management/applications', () => {
    it('answers 201 with the application, its key, and where it is; without updatedAt', async () => {
      const created = await manage(running.url, 'POST', '', { name: 'Shop Front', description: 'sells things' });
      expect(created.status).to.equal(201);
      expect(created.headers.get('location')).to.equal('/api/management/applications/shop-front');
      expect(created.headers.get('cache-control')).to.equal('no-store');
      expect(created.body).to.have.all.keys('id', 'name', 'slug', 'description', 'createdAt', 'plainApiKey');
      expect(created.body).to.include({ name: 'Shop Front', slug: 'shop-front', description: 'sells things', createdAt: '2026-03-15T12:00:00.123Z' });
      expect(member(created, 'id')).to.match(uuid);
      expect(member(created, 'plainApiKey')).to.match(/^key_[0-9a-f]{40}$/);
    });

    it('makes no key with withKey: false; a key can be added later', async () => {
      const created = await manage(running.url, 'POST', '', { name: 'Keyless', withKey: false });
      expect(created.status).to.equal(201);
      expect(created.body).to.include({ slug: 'keyless', plainApiKey: null });
      expect(member(await manage(running.url, 'GET', '/keyless/keys'), 'items')).to.deep.equal([]);
      const added = String(member(await manage(running.url, 'POST', '/keyless/keys', {}), 'plainApiKey'));
      expect((await consume(running.url, added, '/configurations?environment=local')).status).to.equal(200);
    });

    it('creates a default environment with slug local', async () => {
      const { slug } = await newApplication(running.url);
      const { body } = await manage(running.url, 'GET', `/${slug}/environments`);
      expect(body).to.have.length(1);
      expect(body).to.have.deep.nested.property('[0].slug', 'local');
      expect(body).to.have.deep.nested.property('[0].name', 'Local');
    });

    for (const [name, slug] of [
      ['  My   App  ', 'my-app'],
      ['Crème & Brûlée!', 'crme-brle'],
      ['a -- b', 'a-b'],
      ['--x--', 'x'],
      ['APP_2.0', 'app20'],
      ['tab\tand\nline', 'tab-and-line'],
    ] as const)
      it(`makes the slug '${slug}' of the name ${JSON.stringify(name)}, which stays as it was given`, async () => {
        const { body } = await manage(running.url, 'POST', '', { name });
        expect(body).to.include({ name, slug });
      });

    it('answers 409 when the slug exists', async () => {
      await manage(running.url, 'POST', '', { name: 'taken' });
      const second = await manage(running.url, 'POST', '', { name: ' TAKEN ' });
      expect(second.status).to.equal(409);
      expect(second.headers.get('content-type')).to.equal('application/problem+json');
      expect(second.body).to.include({ status: 409, type: 'urn:signalbox:problem:application-taken' });
    });

    it('lets only one of many at once have a slug', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => manage(running.url, 'POST', '', { name: 'race' })));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409, 409, 409, 409, 409, 409]);
    });

    it('counts the length of a name in code points: 200 are taken, 201 are 400', async () => {
      const name = 'a' + '😀'.repeat(199);
      expect((await manage(running.url, 'POST', '', { name })).body).to.include({ name, slug: 'a' });
      const { status, body } = await manage(running.url, 'POST', '', { name: `${name}b` });
      expect(status).to.equal(400);
      expect(body).to.have.nested.property('errors.name[0]', 'must be at most 200 characters long');
    });

    for (const [what, body, field] of [
      ['no name', {}, 'name'],
      ['an empty name', { name: '' }, 'name'],
      ['a blank name', { name: ' \t ' }, 'name'],
      ['a name that makes no slug', { name: 'ÄÖÜ' }, 'name'],
      ['a name of dashes', { name: ' - ' }, 'name'],
      ['a name that is a number', { name: 5 }, 'name'],
      ['a name with a NUL', { name: 'a\0b' }, 'name'],
      ['a name with half a surrogate pair', { name: 'a\ud800' }, 'name'],
      ['a description above 1000 characters', { name: 'x', description: 'd'.repeat(1001) }, 'description'],
      ['a wish for a key that is no boolean', { name: 'x', withKey: 'no' }, 'withKey'],
    ] as const)
      it(`answers 400 to ${what}`, async () => {
        const refused = await manage(running.url, 'POST', '', body);
        expect(refused.status).to.equal(400);
        expect(Object.keys(Object(member(refused, 'errors')))).to.deep.equal([field]);
      });

    it('tells all faults of a request at once', async () => {
      const refused = await manage(running.url, 'POST', '', { description: 7 });
      expect(refused.body).to.have.nested.property('errors.name[0]', 'is required');
      expect(refused.body).to.have.nested.property('errors.description');
    });

    it('takes a null or omitted description, and ignores unknown members', async () => {
      expect((await manage(running.url, 'POST', '', { name: 'one', description: null })).body).to.include({ description: null });
      expect((await manage(running.url, 'POST', '', { name: 'two', id: 'mine', slug: 'mine' })).body).to.include({ description: null, slug: 'two' });
    });
  });

  describe('GET /api/management/applications', () => {
    it('answers all that are not deleted, by slug, with every property but the key', async () => {
      for (const name of ['b', 'C', 'a 1', 'a']) await newApplication(running.url, name);
      await manage(running.url, 'DELETE', '/b');
      const listed = await manage(running.url, 'GET');
      expect(listed.status).to.equal(200);
      expect(slugs(listed)).to.deep.equal(['a', 'a-1', 'c']);
      for (const application of [listed.body].flat()) expect(application).to.have.all.keys('id', 'name', 'slug', 'description', 'createdAt', 'updatedAt');
    });

    it('answers an empty array when there is none', async () => {
      expect((await manage(running.url, 'GET')).text).to.equal('[]');
    });
  });

  describe('GET /api/management/applications/{slug}', () => {
    it('answers the application', async () => {
      const created = await manage(running.url, 'POST', '', { name: 'One' });
      const { status, body } = await manage(running.url, 'GET', '/one');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({
        id: member(created, 'id'),
        name: 'One',
        slug: 'one',
        description: null,
        createdAt: '2026-03-15T12:00:00.123Z',
        updatedAt: '2026-03-15T12:00:00.123Z',
      });
      expect(member(created, 'createdAt')).to.match(timestamp);
    });

    for (const slug of ['nobody', '%00', '%F0%9F%98%80', "'%20or%201=1", 'One', 'a'.repeat(3000)])
      it(`answers 404 to ${slug.slice(0, 20)}`, async () => {
        const { status, body } = await manage(running.url, 'GET', `/${slug}`);
        expect(status).to.equal(404);
        expect(body).to.deep.equal({ type: 'urn:signalbox:problem:application-missing', title: 'No such application', status: 404 });
      });
  });

  describe('PUT /api/management/applications/{slug}', () => {
    it('answers the updated application; its slug and createdAt stay', async () => {
      const created = await manage(running.url, 'POST', '', { name: 'Old', description: 'old' });
      clock.now = new Date('2026-03-16T00:00:00Z');
      const { status, body } = await manage(running.url, 'PUT', '/old', { name: 'New', description: 'new' });
      expect(status).to.equal(200);
      const { plainApiKey: _, ...kept } = Object(created.body);
      expect(body).to.deep.equal({ ...kept, name: 'New', description: 'new', updatedAt: '2026-03-16T00:00:00.000Z' });
      expect((await manage(running.url, 'GET', '/old')).body).to.deep.equal(body);
    });

    it('empties a description that is omitted', async () => {
      await manage(running.url, 'POST', '', { name: 'x', description: 'gone soon' });
      expect((await manage(running.url, 'PUT', '/x', { name: 'x' })).body).to.include({ description: null });
    });

    it('takes a name that would make no slug, or that of another, since the slug stays', async () => {
      await newApplication(running.url, 'x');
      await newApplication(running.url, 'y');
      expect((await manage(running.url, 'PUT', '/x', { name: 'Ü' })).body).to.include({ name: 'Ü', slug: 'x' });
      expect((await manage(running.url, 'PUT', '/x', { name: 'y' })).body).to.include({ name: 'y', slug: 'x' });
    });

    describe('the owner', () => {
      const ownerOf = async (slug: string) => member(await manage(running.url, 'GET', `/${slug}`), 'owner');
      const put = (slug: string, owner?: unknown) => manage(running.url, 'PUT', `/${slug}`, { name: 'x', owner });

      it('is set at creation, stays where it is left out, and is in the list', async () => {
        expect((await manage(running.url, 'POST', '', { name: 'x', owner: 'prod/shop/x' })).body).to.include({ owner: 'prod/shop/x' });
        expect((await put('x')).body).to.include({ owner: 'prod/shop/x' });
        expect((await manage(running.url, 'GET')).body).to.have.nested.property('[0].owner', 'prod/shop/x');
      });

      it('is taken where there is none, and taken away by null', async () => {
        await newApplication(running.url, 'x');
        expect(await ownerOf('x')).to.equal(undefined);
        expect((await put('x', 'a')).body).to.include({ owner: 'a' });
        expect((await put('x', null)).body).not.to.have.property('owner');
        expect((await put('x', 'b')).body).to.include({ owner: 'b' });
      });

      it('is 409 where there is another one, and nothing changes', async () => {
        await manage(running.url, 'POST', '', { name: 'x', description: 'kept', owner: 'a' });
        expect((await put('x', 'a')).status).to.equal(200);
        const refused = await put('x', 'b');
        expect(refused.status).to.equal(409);
        expect(refused.body).to.include({ type: 'urn:signalbox:problem:application-owned' });
        expect(await ownerOf('x')).to.equal('a');
      });

      it('goes to one of many that ask at once', async () => {
        await newApplication(running.url, 'x');
        const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => put('x', `owner ${n}`)));
        expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409, 409, 409, 409, 409]);
      });

      it('is 1 to 500 characters', async () => {
        await newApplication(running.url, 'x');
        for (const owner of ['', 'a'.repeat(501), 7]) expect((await put('x', owner)).body).to.have.nested.property('errors.owner');
        expect((await put('x', 'a'.repeat(500))).status).to.equal(200);
      });
    });

    it('answers 400 without a name, before it looks for the application', async () => {
      expect((await manage(running.url, 'PUT', '/nobody', { description: 'x' })).status).to.equal(400);
    });

    it('answers 404 when there is none', async () => {
      expect((await manage(running.url, 'PUT', '/nobody', { name: 'x' })).status).to.equal(404);
    });
  });

  describe('DELETE /api/management/applications/{slug}', () => {
    it('answers 204 and hides the application with all that belongs to it; its key answers 401', async () => {
      const { slug, key } = await newApplication(running.url, 'gone');
      await putSecret(running.url, slug, 'password', { value: secretValue('password') });
      const { status, text } = await manage(running.url, 'DELETE', `/${slug}`);
      expect([status, text]).to.deep.equal([204, '']);
      for (const path of ['', '/environments', '/secrets', '/secrets/password', '/secrets/password/versions/local', '/configurations'])
        expect((await manage(running.url, 'GET', `/${slug}${path}`)).status, path).to.equal(404);
      expect((await consume(running.url, key, '/secrets/password?environment=local')).status).to.equal(401);
    });

    it('purges nothing', async () => {
      const { slug } = await newApplication(running.url, 'kept');
      await putSecret(running.url, slug, 'password', { value: secretValue('password') });
      await manage(running.url, 'DELETE', `/${slug}`);
      const { rows } = await running.service.database.driver.query(`select count(*)::int as count from applications a
        join secrets s on s.application_id = a.id join secret_versions v on v.secret_id = s.id where a.slug = 'kept'`);
      expect(rows).to.deep.equal([{ count: 1 }]);
    });

    it('frees the slug at once, for an application that inherits nothing', async () => {
      const { slug, key } = await newApplication(running.url, 'again');
      await putSecret(running.url, slug, 'password', { value: secretValue('password') });
      await manage(running.url, 'POST', `/${slug}/configurations`, { environmentSlug: 'local', key: 'k', value: 'v' });
      await manage(running.url, 'DELETE', `/${slug}`);
      const second = await newApplication(running.url, 'again');
      expect(second.slug).to.equal(slug);
      expect((await manage(running.url, 'GET', `/${slug}/secrets`)).text).to.equal('[]');
      expect((await manage(running.url, 'GET', `/${slug}/configurations`)).text).to.equal('[]');
      expect((await consume(running.url, second.key, '/secrets/password?environment=local')).status).to.equal(404);
      expect((await consume(running.url, key, '/configurations?environment=local')).status).to.equal(401);
    });

    it('answers 404 when there is none, and to a second deletion', async () => {
      const { slug } = await newApplication(running.url);
      expect((await manage(running.url, 'DELETE', '/nobody')).status).to.equal(404);
      expect((await manage(running.url, 'DELETE', `/${slug}`)).status).to.equal(204);
      expect((await manage(running.url, 'DELETE', `/${slug}`)).status).to.equal(404);
    });
  });

  describe('POST /api/management/applications/{slug}/rotate-key', () => {
    it('answers 200 with the new key alone; the old key stops working at once', async () => {
      const { slug, key } = await newApplication(running.url);
      await putSecret(running.url, slug, 'password', { value: secretValue('password') });
      const rotated = await manage(running.url, 'POST', `/${slug}/rotate-key`);
      expect(rotated.status).to.equal(200);
      expect(rotated.headers.get('cache-control')).to.equal('no-store');
      expect(rotated.body).to.have.all.keys('plainApiKey');
      expect(member(rotated, 'plainApiKey'))
        .to.match(/^key_[0-9a-f]{40}$/)
        .and.not.to.equal(key);
      expect((await consume(running.url, key, '/secrets/password?environment=local')).status).to.equal(401);
      expect((await consume(running.url, String(member(rotated, 'plainApiKey')), '/secrets/password?environment=local')).status).to.equal(200);
    });

    it('answers 404 when there is none', async () => {
      expect((await manage(running.url, 'POST', '/nobody/rotate-key')).status).to.equal(404);
    });
  });
});
