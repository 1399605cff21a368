// Reads with the key of an application, and the one 404 that gives no reason.
import { expect } from 'chai';
import { type Answer, call, consume, manage, member, newApplication, putSecret, secretValue, type TestApplication, useService } from '../service.ts';

const start = new Date('2026-03-15T12:00:00.000Z');
const at = (ms: number) => new Date(start.getTime() + ms).toISOString();

/** All of an answer but what every answer has of its own. */
const whole = ({ status, headers, text }: Answer) => ({
  status,
  text,
  headers: Object.fromEntries([...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')),
});

describe('the consumer plane', () => {
  const clock = { now: start };
  const running = useService({ clock: () => clock.now });
  let application: TestApplication;
  beforeEach(async () => {
    clock.now = start;
    application = await newApplication(running.url);
  });
  const put = (name: string, item: Readonly<Record<string, unknown>>) => putSecret(running.url, application.slug, name, item);
  const read = (name: string, environment = 'local') =>
    consume(running.url, application.key, `/secrets/${encodeURIComponent(name)}?environment=${encodeURIComponent(environment)}`);

  describe('GET /api/consumer/secrets/{name}', () => {
    it('answers 200 with the value in the shape of a cloud vault', async () => {
      const value = secretValue('open sesame');
      await put('password', { value, notBefore: at(-1000), expiresAt: at(1000) });
      const answer = await read('password');
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('cache-control')).to.equal('no-store');
      expect(answer.body).to.deep.equal({
        name: 'password',
        value,
        properties: { enabled: true, expiresOn: at(1000), notBefore: at(-1000), version: 1, createdOn: at(0), updatedOn: null },
      });
    });

    it('answers null times where there are none', async () => {
      await put('password', { value: secretValue('password') });
      expect((await read('password')).body).to.have.nested.property('properties.expiresOn', null);
      expect((await read('password')).body).to.have.nested.property('properties.notBefore', null);
    });

    it('serves the newest active version: a disabled, expired or future one is passed over', async () => {
      const current = secretValue('current');
      await put('password', { value: secretValue('old') });
      await put('password', { value: current });
      await put('password', { value: secretValue('disabled'), isEnabled: false });
      await put('password', { value: secretValue('expired'), expiresAt: at(-1) });
      await put('password', { value: secretValue('future'), notBefore: at(1) });
      const { body } = await read('password');
      expect(body).to.include({ value: current });
      expect(body).to.have.nested.property('properties.version', 2);
    });

    it('has inclusive bounds, to the millisecond', async () => {
      await put('password', { value: secretValue('password'), notBefore: at(0), expiresAt: at(10) });
      const statuses: number[] = [];
      for (const ms of [-1, 0, 5, 10, 11]) {
        clock.now = new Date(at(ms));
        statuses.push((await read('password')).status);
      }
      expect(statuses).to.deep.equal([404, 200, 200, 200, 404]);
    });

    it('serves a new version from the moment its call was answered', async () => {
      for (let version = 1; version <= 20; version++) {
        const value = secretValue(`value ${version}`);
        await put('password', { value });
        expect(member(await read('password'), 'value')).to.equal(value);
      }
    });

    it('answers 404 with one and the same answer, whatever is missing', async () => {
      await manage(running.url, 'POST', `/${application.slug}/secrets`, { name: 'empty' });
      await put('disabled', { value: secretValue('password'), isEnabled: false });
      await put('expired', { value: secretValue('password'), expiresAt: at(-1) });
      await put('future', { value: secretValue('password'), notBefore: at(1) });
      await put('deleted', { value: secretValue('password') });
      await manage(running.url, 'DELETE', `/${application.slug}/secrets/deleted`);
      await put('password', { value: secretValue('password') });
      await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Other' });

      const cases = ['empty', 'disabled', 'expired', 'future', 'deleted', 'unknown', '\0', 'a/b'].map((name) => read(name));
      cases.push(read('password', 'nowhere'), read('password', 'other'), read('password', '\0'), read('password', 'LOCAL'));
      const answers = (await Promise.all(cases)).map(whole);
      expect(answers[0]).to.deep.include({ status: 404, text: '{"type":"about:blank","title":"Not Found","status":404}' });
      for (const answer of answers) expect(answer).to.deep.equal(answers[0]);
    });

    it('lets no cache keep a 404: the value may be there in a moment', async () => {
      const configurations = (path: string) => consume(running.url, application.key, `/configurations${path}`);
      const answers = [await read('unknown'), await configurations('/unknown?environment=local'), await configurations('?environment=nowhere')];
      for (const { status, headers } of answers) expect([status, headers.get('cache-control')]).to.deep.equal([404, 'no-store']);
    });

    it('never shows an application what belongs to another', async () => {
      const [mine, theirs] = [secretValue('mine'), secretValue('theirs')];
      await put('password', { value: mine });
      const other = await newApplication(running.url);
      expect((await consume(running.url, other.key, '/secrets/password?environment=local')).status).to.equal(404);
      await putSecret(running.url, other.slug, 'password', { value: theirs });
      expect(member(await consume(running.url, other.key, '/secrets/password?environment=local'), 'value')).to.equal(theirs);
      expect(member(await read('password'), 'value')).to.equal(mine);
    });

    for (const name of ['a/b', 'a:b', 'a b', '100%', '%2F', 'ü😀', '?#&'])
      it(`reaches the name ${name} by its percent-encoded form`, async () => {
        const value = secretValue('found');
        await put(name, { value });
        expect((await read(name)).body).to.include({ name, value });
      });

    for (const query of ['', '?', '?environment', '?environment=', '?environment=%20', '?environment=+%09', '?Environment=local'])
      it(`answers 400 to the query '${query}', once the key is right`, async () => {
        await put('password', { value: secretValue('password') });
        const refused = await consume(running.url, application.key, `/secrets/password${query}`);
        expect(refused.status).to.equal(400);
        expect(refused.body).to.have.deep.nested.property('errors', { environment: ['is required'] });
        expect((await consume(running.url, 'key_wrong', `/secrets/password${query}`)).status).to.equal(401);
      });

    it('answers a HEAD request like a GET without its body', async () => {
      await put('password', { value: secretValue('password') });
      const path = '/api/consumer/secrets/password?environment=local';
      const head = await call(running.url, { method: 'HEAD', path, headers: { 'X-Api-Key': application.key } });
      expect([head.status, head.text]).to.deep.equal([200, '']);
      expect((await call(running.url, { method: 'HEAD', path })).status).to.equal(401);
    });
  });

  describe('GET /api/consumer/configurations', () => {
    const add = (environmentSlug: string, key: string, value: string) =>
      manage(running.url, 'POST', `/${application.slug}/configurations`, { environmentSlug, key, value, description: 'not for consumers' });

    it('answers 200 with the entries of one environment, by key, labelled with its slug', async () => {
      await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Other' });
      await add('local', 'b:c', '2');
      await add('local', 'B', '1');
      await add('other', 'a', '3');
      const { status, body } = await consume(running.url, application.key, '/configurations?environment=local');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({
        items: [
          { key: 'B', value: '1', label: 'local' },
          { key: 'b:c', value: '2', label: 'local' },
        ],
      });
    });

    it('answers no items for an environment without entries', async () => {
      expect((await consume(running.url, application.key, '/configurations?environment=local')).text).to.equal('{"items":[]}');
    });

    it('answers 404 to an unknown environment, 400 without one', async () => {
      expect((await consume(running.url, application.key, '/configurations?environment=nowhere')).status).to.equal(404);
      expect((await consume(running.url, application.key, '/configurations?environment=%00')).status).to.equal(404);
      for (const query of ['', '?environment=%20']) expect((await consume(running.url, application.key, `/configurations${query}`)).status).to.equal(400);
      expect((await consume(running.url, 'wrong', '/configurations')).status).to.equal(401);
    });

    it('never shows an application the entries of another', async () => {
      await add('local', 'mine', 'x');
      const other = await newApplication(running.url);
      expect((await consume(running.url, other.key, '/configurations?environment=local')).text).to.equal('{"items":[]}');
      expect((await consume(running.url, other.key, '/configurations/mine?environment=local')).status).to.equal(404);
    });

    describe('GET /api/consumer/configurations/{key}', () => {
      for (const key of ['Section:Name', 'a/b', 'a b', '100%', '%2F'])
        it(`answers 200 with the entry ${key}, its key one whole text`, async () => {
          await add('local', key, 'value');
          const { status, body } = await consume(running.url, application.key, `/configurations/${encodeURIComponent(key)}?environment=local`);
          expect(status).to.equal(200);
          expect(body).to.deep.equal({ key, value: 'value', label: 'local' });
        });

      it('answers the 404 of secrets to an unknown key or environment, 400 without one', async () => {
        await add('local', 'key', 'value');
        const like = whole(await read('unknown'));
        for (const path of ['none?environment=local', 'key?environment=nowhere', '%00?environment=local'])
          expect(whole(await consume(running.url, application.key, `/configurations/${path}`))).to.deep.equal(like);
        for (const query of ['', '?environment=%20']) expect((await consume(running.url, application.key, `/configurations/key${query}`)).status).to.equal(400);
        expect((await consume(running.url, 'wrong', '/configurations/key')).status).to.equal(401);
      });
    });
  });
});
