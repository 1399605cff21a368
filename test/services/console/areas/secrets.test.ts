// The pages of the area of secrets, on a real service. Nothing that a browser gets holds a value of a secret.
import { expect } from 'chai';
import { adminToken, consume, manage, member, newApplication, putSecret, secretValue } from '../../secrets/service.ts';
import { eventually } from '../../../support/wait.ts';
import { type Browser, type Page, useConsole } from '../service.ts';
import { consoleToken, hostile, inDays, nextIn, placeOf, upload, useSecrets } from './secrets-fixture.ts';

describe('console secrets', () => {
  const running = useSecrets();
  const { console, put, read, at } = running;

  /** A browser that keeps all that it gets. */
  async function watched(): Promise<{ browser: Browser; seen: () => string }> {
    const browser = await console.loggedIn();
    const all: string[] = [];
    const keep =
      <A extends unknown[]>(ask: (...given: A) => Promise<Page>) =>
      async (...given: A) => {
        const page = await ask(...given);
        all.push(JSON.stringify([...page.headers]), page.text);
        return page;
      };
    return {
      browser: { ...browser, get: keep(browser.get), post: keep(browser.post), act: keep(browser.act), ask: keep(browser.ask) },
      seen: () => all.join('\n'),
    };
  }

  it('gives the browser no value and no credential, whatever is asked and done', async () => {
    const [planted, other, imported] = [secretValue('planted'), secretValue('other'), secretValue('imported').replace(' ', '_')];
    await put('db', { value: planted });
    const { browser, seen } = await watched();
    const path = at('/db');
    await browser.post(at('/add'), { name: 'fresh', environment: ['local', 'production'], value: other });
    await browser.post(at('/add'), { name: 'fresh', environment: 'local', value: other });
    await browser.post(at('/add'), { name: 'x'.repeat(300), environment: 'local', value: other });
    await browser.post(`${path}/values`, { environment: ['local', 'production'], value: other });
    await browser.post(`${path}/values`, { environment: 'local', value: other, expiresAt: 'never' });
    await browser.post(`${path}/values`, { environment: 'nowhere', value: other });
    await browser.post(`${path}/values`, { environment: 'local', value: other.repeat(4000) });
    await browser.post(`${path}/values`, { environment: [], value: other });
    await browser.act(`${path}/values`, { environment: [], value: other });
    await browser.act(`${path}/copy`, { from: 'local', to: 'production' });
    await browser.act(`${path}/versions/local/1/restore`);
    await browser.act(`${path}/versions/local/1/disable`);
    await upload(browser, at('/import'), { file: `A=${imported}\n`, environment: 'local', as: 'secrets' });
    await upload(browser, at('/import'), { file: `A=${imported}\nB='${imported}\n`, environment: 'local', as: 'secrets' });
    const parts = ['', '?lacking=true', '?part=new', '?part=configuration', '?part=keys', '?part=import', '/db', '/db?environment=local', '/fresh', '/A'];
    for (const page of ['/secrets', '/secrets/audit', `/secrets/audit?application=${running.app.slug}`, '/system/actions', ...parts.map(at)])
      expect((await browser.get(page)).status, page).to.equal(200);
    expect((await read('A')).value).to.equal(imported);
    const recorded = JSON.stringify(await console.query('select * from actions'));
    for (const hidden of [planted, other, imported, adminToken, consoleToken, running.app.key]) {
      expect(seen()).not.to.include(hidden);
      expect(recorded).not.to.include(hidden);
    }
  });

  describe('GET /secrets', () => {
    it('lists applications with their numbers, last use and what expires', async () => {
      const { slug } = await newApplication(running.url, `Numbers ${running.app.slug}`);
      await putSecret(running.url, slug, 'db', { value: secretValue('db'), expiresAt: inDays(5) });
      const { text } = await (await console.loggedIn()).get(`/secrets?q=${slug}`);
      expect(text).to.include(`href="/secrets/${slug}"`).and.include('1 expires, ').and.include('in 5 days').and.include('never used');
      expect((await (await console.loggedIn()).get(`/search?q=${slug}`)).text).to.include(`href="/secrets/${slug}"`);
      const all = (await (await console.loggedIn()).get('/secrets')).text;
      expect(all).to.include('Expires within 30 days').and.include(`href="/secrets/${slug}/db"`);
      await consume(running.url, running.app.key, '/secrets/x?environment=local');
      await eventually(async () =>
        expect((await (await console.loggedIn()).get(`/secrets?q=${running.app.slug}`)).text).to.match(/data-label="Last use"><time/),
      );
    });

    it('says, as the first page does, what has expired', async () => {
      const browser = await console.loggedIn();
      await put('db', { expiresAt: inDays(-3) });
      const link = `href="${at('/db')}"`;
      expect((await browser.get('/secrets')).text)
        .to.include(link)
        .and.include('<span class="badge bad">expired</span> <time');
      const now = (await browser.get('/')).text;
      expect(now).to.include('Secrets have expired').and.include(link);
      await put('db');
      expect((await browser.get('/')).text).not.to.include(link);
    });

    it('has the states empty and filtered empty', async () => {
      const browser = await console.loggedIn();
      expect((await browser.get('/secrets?q=nothing+like+it')).text).to.include('Clear filters');
      const reader = await console.personWith({ secrets: 'reader' });
      expect((await reader.get('/secrets')).text).not.to.include('New application');
    });

    it('is paged', async () => {
      for (let count = 0; count < 51; count++) await newApplication(running.url, `Paged ${running.app.slug} ${String(count).padStart(2, '0')}`);
      const browser = await console.loggedIn();
      const first = await browser.get(`/secrets?q=paged-${running.app.slug}`);
      const second = await browser.get(nextIn(first.text));
      expect(first.text).to.include(`paged-${running.app.slug}-49`).and.not.include(`paged-${running.app.slug}-50`);
      expect(second.text).to.include(`paged-${running.app.slug}-50`).and.not.include(`paged-${running.app.slug}-49`);
    });
  });

  describe('GET /secrets/{app}/{secret}', () => {
    it('has the command that reads it, in an environment with a value and without a key', async () => {
      await put("it's/db", { environmentSlug: 'production' });
      const { text } = await (await console.loggedIn()).get(at("/it's%2Fdb"));
      const path = String.raw`/api/consumer/secrets/it'\''s%2Fdb?environment=production'`;
      expect(text).to.include(path).and.to.include('X-Api-Key: $SIGNALBOX_APPLICATION_KEY');
    });
  });

  describe('GET /secrets/{app}', () => {
    it('shows each secret in each environment: version, age, expiry and last read', async () => {
      await put('db', { expiresAt: inDays(5) });
      await put('off', { isEnabled: false });
      const { text } = await (await console.loggedIn()).get(at());
      expect(text).to.include('v1').and.include('never read').and.include('in 5 days').and.include('v1 is not served');
      expect(text).to.match(/href="[^"]*\/db\?environment=production#add"[^>]*><span class="badge warn">no value/);
    });

    it('finds secrets, and those that lack a value', async () => {
      await put('both');
      await put('both', { environmentSlug: 'production' });
      await put('local-only');
      const browser = await console.loggedIn();
      expect((await browser.get(at('?lacking=true'))).text)
        .to.include('>local-only<')
        .and.not.include('>both<');
      expect((await browser.get(at('?q=BOT'))).text)
        .to.include('>both<')
        .and.not.include('>local-only<');
      expect((await browser.get(at('?q=nothing'))).text).to.include('Clear filters');
    });

    it('is paged, by pages of a bounded size', async () => {
      for (let count = 0; count < 51; count++) {
        const name = `s${String(count).padStart(2, '0')}`;
        for (const environmentSlug of ['local', 'production']) await put(name, { environmentSlug, expiresAt: inDays(9) });
      }
      const browser = await console.loggedIn();
      const first = await browser.get(at('?q=s'));
      const second = await browser.get(nextIn(first.text));
      expect(first.text).to.include('>s40<').and.not.include('>s50<');
      expect(second.text).to.include('>s50<').and.not.include('>s40<');
      expect(first.text.match(/<[a-z]/g)).to.have.length.at.most(1500);
    });

    it('plots the reads of the application and of one secret', async () => {
      await put('db');
      await put('other');
      for (const name of ['db', 'db', 'other']) await read(name);
      const browser = await console.loggedIn();
      await eventually(async () => {
        expect((await browser.get(at())).text).to.include('3 reads by applications');
        expect((await browser.get(at('/db'))).text).to.include('2 reads by applications');
      });
    });

    it('tells the way to fill it where it is empty', async () => {
      const { text } = await (await console.loggedIn()).get(at());
      expect(text)
        .to.include('No secrets yet')
        .and.include(`href="${at('?part=new')}"`);
    });

    it('offers a value for the only environment, and for none of several', async () => {
      const { slug } = await newApplication(running.url, `Only ${running.app.slug}`);
      const browser = await console.loggedIn();
      expect((await browser.get(`/secrets/${slug}?part=new`)).text).to.match(/value="local" checked/);
      expect((await browser.get(at('?part=new'))).text).not.to.match(/name="environment"[^>]* checked/);
    });

    it('adds an environment, and shows the form once more where its name is not valid', async () => {
      const browser = await console.loggedIn();
      expect(placeOf(await browser.post(at('/environments/add'), { name: 'Staging' }))).to.deep.equal([303, at()]);
      expect((await browser.get(at('?part=new'))).text).to.include('value="staging"');
      const { status, text } = await browser.post(at('/environments/add'), { name: '!' });
      expect(status).to.equal(400);
      expect(text).to.include('must hold a letter').and.include('<details open');
      expect((await browser.post(at('/environments/add'), { name: 'Staging' })).text).to.include('is taken');
    });
  });

  it('says which version is served, which are disabled or expired, and what is inherited', async () => {
    await put('db', { expiresAt: '2020-01-01T00:00:00Z' });
    await put('db');
    await put('db', { isEnabled: false });
    await put('db', { notBefore: inDays(2) });
    await running.manage('PUT', `/environments/production`, { inherits: 'local' });
    const { text } = await (await console.loggedIn()).get(at('/db'));
    const words = text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(words)
      .to.match(/v4 not served yet .*v3 disabled .*v2 served .*v1 expired /)
      .and.include('Applications get the value of local.');
  });

  describe('configuration', () => {
    const set = (environmentSlug: string, key: string, value: string) => running.manage('POST', `/configurations`, { environmentSlug, key, value });

    it('stands side by side, with what differs', async () => {
      await set('local', 'same', 'one');
      await set('production', 'same', 'one');
      await set('local', 'other', 'x'.repeat(400));
      await set('production', 'other', hostile);
      await set('local', 'lonely', 'one');
      const browser = await console.loggedIn();
      const all = (await browser.get(at('?part=configuration'))).text;
      expect(all).to.include('not set').and.include('differs').and.include('x'.repeat(400)).and.not.include(hostile);
      const differing = (await browser.get(at('?part=configuration&differing=true'))).text;
      expect(differing).to.include('>other<').and.include('>lonely<').and.not.include('>same<');
      expect((await browser.get(at('?part=configuration&q=SAM'))).text)
        .to.include('>same<')
        .and.not.include('>lonely<');
      expect((await browser.get(at('?part=configuration&q=nothing'))).text).to.include('Clear filters');
    });

    it('is paged by its keys', async () => {
      for (let count = 0; count < 51; count++) await set('local', `k${String(count).padStart(2, '0')}`, 'x');
      const browser = await console.loggedIn();
      expect((await browser.get(at('?part=configuration'))).text)
        .to.include('>k49<')
        .and.not.include('>k50<');
      expect((await browser.get(at('?part=configuration&after=k49'))).text)
        .to.include('>k50<')
        .and.not.include('>k49<');
    });

    it('is paged side by side where environments have other keys, and filtered over all of them', async () => {
      for (let count = 0; count < 51; count++) await set('local', `k${String(count).padStart(2, '0')}`, 'x');
      for (const key of ['a', 'k10', 'k50', 'z']) await set('production', key, 'y');
      const browser = await console.loggedIn();
      const keysAt = async (query: string) =>
        [...(await browser.get(at(`?part=configuration${query}`))).text.matchAll(/<code>([^<]+)<\/code>/g)].map(([, key]) => key);
      const first = await keysAt('');
      expect([first.length, first[0], first.at(-1)]).to.deep.equal([50, 'a', 'k48']);
      expect(await keysAt('&after=k48')).to.deep.equal(['k49', 'k50', 'z']);
      expect(await keysAt('&q=K5')).to.deep.equal(['k50']);
      expect((await browser.get(at('?part=configuration&after=zz'))).status).to.equal(200);
    });

    it('has fewer rows where there are many environments, in a part that keys scroll', async () => {
      for (let count = 0; count < 10; count++) await running.manage('POST', `/environments`, { name: `Place ${count}` });
      for (let count = 10; count < 31; count++) await set('local', `k${count}`, 'x');
      const { text } = await (await console.loggedIn()).get(at('?part=configuration'));
      expect(text).to.include('>k28<').and.not.include('>k29<');
      expect(text).to.include('<div class="matrix" role="region" aria-label="Configuration by environment" tabindex="0">');
    });
  });

  describe('GET /secrets/audit', () => {
    const audit = async (query: string) => (await (await console.loggedIn()).get(`/secrets/audit?application=${running.app.slug}${query}`)).text;

    it('names the person who changed something, and the key that read', async () => {
      const browser = await console.loggedIn();
      await browser.post(at('/add'), { name: 'db', environment: 'local', value: secretValue('db') });
      await read('db');
      await eventually(async () => {
        const text = await audit('');
        expect(text)
          .to.include('version added')
          .and.include('href="/secrets/audit?person=admin"')
          .and.include('title="secret.read"')
          .and.match(/audit\?actor=[0-9a-f-]{36}"[^>]*>[0-9a-f]{16}</);
      });
      expect(await audit('&person=admin'))
        .to.include('secret.create')
        .and.not.include('title="secret.read"');
    });

    it('names a key that was deleted', async () => {
      const id = String(member(await running.manage('POST', `/keys`, { name: 'of the build' }), 'id'));
      await running.manage('DELETE', `/keys/${id}`);
      for (const query of ['', '&action=application.delete-key'])
        expect(await audit(query))
          .to.match(/key deleted<\/span> <a [^>]*>of the build</)
          .and.not.include('named of the build');
    });

    it('filters by what was changed, how it ended, and days', async () => {
      await put('one');
      await put('two');
      await running.manage('DELETE', `/secrets/none`);
      expect(await audit('&subject=one'))
        .to.include('>one<')
        .and.not.include('>two<');
      expect(await audit('&action=secret.create'))
        .to.include('>one<')
        .and.not.include('title="secret.add-version"');
      await eventually(async () =>
        expect(await audit('&outcome=not-found'))
          .to.include('>none<')
          .and.include('No such secret')
          .and.not.include('>one<'),
      );
      const [yesterday, today] = [inDays(-1), inDays(0)].map((time) => time.slice(0, 10));
      expect(await audit(`&from=${today}`)).to.include('>one<');
      expect(await audit(`&to=${yesterday}`))
        .to.include('Clear filters')
        .and.not.include('>one<');
      expect((await (await console.loggedIn()).get('/secrets/audit?from=x')).status).to.equal(400);
    });

    it('is paged', async () => {
      for (let count = 0; count < 51; count++) await running.manage('POST', `/secrets`, { name: `s${count}` });
      const first = await audit('');
      const { text } = await (await console.loggedIn()).get(nextIn(first));
      expect(first).to.include('>s50<').and.not.include('>s0<');
      expect(text).to.include('>s0<').and.not.include('>s50<');
    });
  });

  it('shows hostile names as texts', async () => {
    await manage(running.url, 'POST', '', { name: `${hostile} x ${running.app.slug}`, description: hostile });
    await put(hostile);
    await running.manage('POST', `/configurations`, { environmentSlug: 'local', key: hostile, value: hostile });
    await running.manage('POST', `/keys`, { name: hostile });
    const browser = await console.loggedIn();
    const own = ['', '?part=keys', '?part=configuration', `/${encodeURIComponent(hostile)}`].map(at);
    for (const path of ['/secrets', '/secrets/audit', `/secrets?q=${encodeURIComponent(hostile)}`, ...own]) {
      const { status, text } = await browser.get(path);
      expect(status, path).to.equal(200);
      expect(text, path).not.to.include(hostile);
    }
  });

  it('takes no change from a reader, and no key from an editor', async () => {
    await put('db');
    const reader = await console.personWith({ secrets: 'reader' });
    for (const path of [at(), at('/db'), at('?part=keys')]) {
      const { status, text } = await reader.get(path);
      expect([status, /action="\/secrets\/[^"]*(values|add|delete|replace)|data-key="n"/.test(text)], path).to.deep.equal([200, false]);
    }
    for (const path of [at('?part=new'), at('?part=import')]) expect((await reader.get(path)).status, path).to.equal(403);
    expect((await reader.post(at('/db/values'), { environment: 'local', value: secretValue('x') })).status).to.equal(403);
    const editor = await console.personWith({ secrets: 'editor' });
    expect((await editor.get(at('?part=new'))).status).to.equal(200);
    expect((await editor.get(at('?part=keys'))).text).not.to.include('Replace all keys');
    for (const path of [at('/keys/add'), at('/keys/replace'), at('/db/delete'), '/secrets/new']) expect((await editor.post(path)).status, path).to.equal(403);
  });

  it('answers 404 where there is no such application or secret', async () => {
    const browser = await console.loggedIn();
    for (const path of ['/secrets/none', '/secrets/none?part=keys', '/secrets/none/x', at('/none'), '/secrets/%2E%2E/x'])
      expect((await browser.get(path)).status, path).to.equal(404);
    expect((await browser.get(at('?part=none'))).status).to.equal(400);
  });
});

describe('console secrets without the service', () => {
  const console = useConsole({ environment: { Console__SecretsUrl: 'http://127.0.0.1:9', Console__SecretsToken: 'a token of the tests' } });

  it('names the service that does not answer, and leaves the other areas usable', async () => {
    const browser = await console.loggedIn();
    for (const path of ['/secrets', '/secrets/audit', '/secrets/shop', '/secrets/shop/db']) {
      const { status, text } = await browser.get(path);
      expect(status, path).to.equal(502);
      expect(text, path).to.include('secrets does not answer').and.include('Try again');
    }
    expect((await browser.get('/me')).status).to.equal(200);
  });
});

describe('console without the token of the secrets service', () => {
  const console = useConsole({ environment: { Console__SecretsUrl: 'http://127.0.0.1:9' } });

  it('has no area of secrets', async () => {
    const browser = await console.loggedIn();
    expect((await browser.get('/secrets')).status).to.equal(404);
    expect((await browser.get('/me')).text).not.to.include('href="/secrets"');
  });
});
