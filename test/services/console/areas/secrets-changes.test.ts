// The actions of the area of secrets, on a real service.
import { expect } from 'chai';
import { consume, member, newApplication, secretValue } from '../../secrets/service.ts';
import type { Page } from '../service.ts';
import { inDays, placeOf, undoOf, upload, useSecrets } from './secrets-fixture.ts';

describe('console secrets, changed', () => {
  const running = useSecrets();
  const { console, put, read, at, versions } = running;

  it('makes an application, whose first key is in one answer that no cache keeps', async () => {
    const browser = await console.loggedIn();
    const name = `Made ${running.app.slug}`;
    const { status, text, headers } = await browser.post('/secrets/new', { name, description: 'By hand' });
    expect([status, headers.get('cache-control')]).to.deep.equal([200, 'no-store']);
    const [key = ''] = /key_[0-9a-f]{40}/.exec(text) ?? [];
    expect((await consume(running.url, key, '/secrets?environment=local')).status).to.equal(200);
    const again = await browser.post('/secrets/new', { name, description: 'By hand' });
    expect(again.status).to.equal(400);
    expect(again.text).to.include('is taken').and.include('value="By hand"');
  });

  it('shows an application whose name is that of a page of the area', async () => {
    await newApplication(running.url, 'Audit').catch(() => undefined);
    const browser = await console.loggedIn();
    expect((await browser.get('/secrets?q=audit')).text).to.include('href="/secrets/~audit"');
    expect((await browser.get('/secrets/~audit')).text)
      .to.include('<h1>Audit</h1>')
      .and.include('No secrets yet');
    expect(placeOf(await browser.post('/secrets/~audit/add', { name: 'x' }))).to.deep.equal([303, '/secrets/~audit/x']);
  });

  describe('POST /secrets/{app}/add', () => {
    it('adds a secret with its value in several environments, until a day', async () => {
      const browser = await console.loggedIn();
      const value = `${secretValue('new')}\r\nline two`;
      const expiresAt = inDays(9).slice(0, 10);
      const fields = { name: 'a/b', description: 'Two', environment: ['local', 'production'], value, expiresAt };
      expect(placeOf(await browser.post(at('/add'), fields))).to.deep.equal([303, at('/a%2Fb')]);
      for (const environment of ['local', 'production']) {
        expect((await read('a/b', environment)).value).to.equal(value.replace('\r\n', '\n'));
        const [version] = await versions('a/b', environment);
        expect(version.expiresAt).to.equal(`${expiresAt}T23:59:59.000Z`);
      }
      expect((await browser.get(at('/a%2Fb'))).text)
        .to.include('<h1>a/b</h1>')
        .and.include('Two');
    });

    it('adds one without a value, and generates values that differ', async () => {
      const browser = await console.loggedIn();
      await browser.post(at('/add'), { name: 'later' });
      expect(await versions('later')).to.deep.equal([]);
      await browser.post(at('/add'), { name: 'made', environment: ['local', 'production'], generate: 'true' });
      const [one, other] = [(await read('made')).value, (await read('made', 'production')).value];
      expect(one)
        .to.match(/^[A-Za-z0-9]{32}$/)
        .and.not.to.equal(other);
    });

    it('shows the form once more without the value, and leaves no secret behind', async () => {
      const browser = await console.loggedIn();
      const value = secretValue('lost');
      const refused = {
        'no environment': { value },
        'no value': { environment: 'local' },
        'a day that is over': { environment: 'local', value, expiresAt: '2020-01-01' },
      };
      for (const [what, fields] of Object.entries({
        ...refused,
        'an unknown environment': { environment: 'nowhere', value },
        'a long value': { environment: 'local', value: value.repeat(4000) },
      })) {
        const { status, text } = await browser.post(at('/add'), { name: 'kept', description: 'what it is for', ...fields });
        expect(status, what).to.be.oneOf([400, 404]);
        if (status === 400)
          expect(text, what)
            .to.include('value="kept"')
            .and.include('value="what it is for"')
            .and.match(/<textarea[^>]*name="value"[^>]*><\/textarea>/);
        expect((await running.manage('GET', `/secrets/kept`)).status, what).to.equal(404);
      }
      await put('there');
      const { status, text } = await browser.post(at('/add'), { name: 'there', environment: 'local', value });
      expect(status).to.equal(400);
      expect(text).to.include('has a secret with this name');
      expect(await versions('there')).to.have.length(1);
    });
  });

  it('adds a version to several environments, and takes it back', async () => {
    const browser = await console.loggedIn();
    const before = secretValue('before');
    for (const environmentSlug of ['local', 'production']) await put('db', { value: before, environmentSlug });
    const value = secretValue('after');
    const { text } = await browser.act(at('/db/values'), { environment: ['local', 'production'], value });
    const { undo, message } = JSON.parse(text);
    expect(message).to.equal('A new version is in local and production');
    for (const environment of ['local', 'production']) expect((await read('db', environment)).value).to.equal(value);
    expect((await browser.act(undo.path, undo.fields)).status).to.equal(200);
    for (const environment of ['local', 'production']) expect((await read('db', environment)).value).to.equal(before);
  });

  it('takes back at most a hundred versions at once', async () => {
    await put('db');
    const versionsOf = (count: number) => ({ versions: Array.from({ length: count }, () => 'local:1').join(' ') });
    const browser = await console.loggedIn();
    expect((await browser.act(at('/db/withdraw'), versionsOf(101))).status).to.equal(400);
    expect((await versions('db'))[0].isEnabled).to.equal(true);
    expect((await browser.act(at('/db/withdraw'), versionsOf(100))).status).to.equal(200);
  });

  it('offers no way back where a version is the first one: a disabled one would hide what is inherited', async () => {
    await running.manage('POST', `/secrets`, { name: 'first' });
    const { text } = await (await console.loggedIn()).act(at('/first/values'), { environment: 'local', value: secretValue('first') });
    expect(JSON.parse(text).undo).to.equal(null);
  });

  it('copies, restores, disables and enables, each with a way back', async () => {
    const browser = await console.loggedIn();
    const [one, two] = [secretValue('one'), secretValue('two')];
    await put('db', { value: one });
    await put('db', { value: two });
    await put('db', { value: one, environmentSlug: 'production' });
    const copied = undoOf(await browser.act(at('/db/copy'), { from: 'local', to: 'production' }));
    expect((await read('db', 'production')).value).to.equal(two);
    await browser.act(copied.path, copied.fields);
    expect((await read('db', 'production')).value).to.equal(one);
    const restored = undoOf(await browser.act(at('/db/versions/local/1/restore')));
    expect((await read('db')).value).to.equal(one);
    await browser.act(restored.path, restored.fields);
    expect((await read('db')).value).to.equal(two);
    const disabled = undoOf(await browser.act(at('/db/versions/local/2/disable')));
    expect((await read('db')).value).to.equal(one);
    await browser.act(disabled.path, disabled.fields);
    expect((await read('db')).value).to.equal(two);
    const refused = await browser.post(at('/db/copy'), { from: 'production', to: 'nowhere' });
    expect(refused.status).to.equal(404);
  });

  it('deletes by its name only, after a recent login', async () => {
    await put('db');
    const browser = await console.loggedIn();
    const wrong = await browser.post(at('/db/delete'), { confirm: 'other' });
    expect(wrong.status).to.equal(400);
    expect(wrong.text).to.include('Type db to confirm').and.include('<details class="confirm" open');
    expect(await versions('db')).to.have.length(1);
    await console.query(`update sessions set authenticated_at = now() - interval '11 minutes'`);
    const late = await browser.post(at('/db/delete'), { confirm: 'db' });
    expect(late.headers.get('location')).to.match(/^\/login\?to=.*again=true/);
    expect(await versions('db')).to.have.length(1);
    const recent = await console.loggedIn();
    expect(placeOf(await recent.post(at('/db/delete'), { confirm: 'db' }))).to.deep.equal([303, at()]);
    expect((await running.manage('GET', `/secrets/db`)).status).to.equal(404);
  });

  describe('keys', () => {
    const keyIn = ({ text }: Page) => /key_[0-9a-f]{40}/.exec(text)?.[0] ?? '';
    const isValid = async (key: string) => (await consume(running.url, key, '/secrets?environment=local')).status === 200;
    const part = () => at('?part=keys');

    it('shows a new key once, in an answer that no cache keeps, beside the former ones', async () => {
      const browser = await console.loggedIn();
      const made = await browser.post(at('/keys/add'), { name: 'blue', expiresAt: inDays(3).slice(0, 10) });
      expect([made.status, made.headers.get('cache-control'), made.headers.get('location')]).to.deep.equal([200, 'no-store', null]);
      expect(made.text).to.include('New key: blue');
      const key = keyIn(made);
      expect([await isValid(key), await isValid(running.app.key)]).to.deep.equal([true, true]);
      const { text } = await browser.get(part());
      expect(text).to.include('blue').and.include('expires').and.not.include(key);
      expect(JSON.parse((await browser.act(at('/keys/add'), { name: 'by script' })).text)).not.to.have.any.keys('key', 'page');
      const over = await browser.post(at('/keys/add'), { expiresAt: '2020-01-01' });
      expect(over.status).to.equal(400);
      expect(over.text).to.include('This day is over.').and.include('without a name');
    });

    it('deletes a key by its name, or by the beginning of its fingerprint where it has none', async () => {
      const browser = await console.loggedIn();
      await browser.post(at('/keys/add'), { name: 'blue' });
      const items = member(await running.manage('GET', `/keys`), 'items') as { id: string; name: string | null; fingerprint: string }[];
      const unnamed = items.find(({ name }) => name === null);
      const blue = items.find(({ name }) => name === 'blue');
      const wrong = await browser.post(at(`/keys/${blue?.id}/delete`), { confirm: 'red' });
      expect(wrong.status).to.equal(400);
      expect(wrong.text.match(/<details class="confirm" open/g)).to.have.length(1);
      expect(placeOf(await browser.post(at(`/keys/${blue?.id}/delete`), { confirm: 'blue' }))).to.deep.equal([303, part()]);
      expect(await isValid(running.app.key)).to.equal(true);
      const word = unnamed?.fingerprint.slice(0, 4) ?? '';
      expect((await browser.get(part())).text).to.include(`Type ${word} to confirm`);
      await browser.post(at(`/keys/${unnamed?.id}/delete`), { confirm: word });
      expect(await isValid(running.app.key)).to.equal(false);
      expect((await browser.get(part())).text).to.include('No key');
      expect((await browser.post(at(`/keys/${unnamed?.id}/delete`), { confirm: 'x' })).status).to.equal(404);
    });

    it('replaces all keys at once, by the name of the application, after a recent login', async () => {
      const browser = await console.loggedIn();
      expect((await browser.post(at('/keys/replace'), { confirm: 'x' })).status).to.equal(400);
      expect(await isValid(running.app.key)).to.equal(true);
      const replaced = await browser.post(at('/keys/replace'), { confirm: running.app.slug });
      expect([replaced.status, replaced.headers.get('cache-control')]).to.deep.equal([200, 'no-store']);
      expect([await isValid(running.app.key), await isValid(keyIn(replaced))]).to.deep.equal([false, true]);
      await console.query(`update sessions set authenticated_at = now() - interval '11 minutes'`);
      for (const [path, fields] of [
        ['/keys/replace', { confirm: running.app.slug }],
        ['/keys/add', {}],
      ] as const)
        expect((await browser.post(at(path), fields)).headers.get('location'), path).to.match(/^\/login\?to=.*again=true/);
      expect(await isValid(keyIn(replaced))).to.equal(true);
    });
  });

  describe('POST /secrets/{app}/import', () => {
    it('imports a file as secrets or as configuration, and says what happened to each line', async () => {
      const browser = await console.loggedIn();
      const value = secretValue('imported').replace(' ', '_');
      await put('THERE', { value });
      const file = `THERE=${value}\nFRESH=${value}\nEMPTY=\n`;
      const dry = await upload(browser, at('/import'), { file, environment: 'local', as: 'secrets', dryRun: 'true' });
      expect(dry.text).to.include('1 line would be imported').and.include('as before').and.include('left out');
      expect((await running.manage('GET', `/secrets/FRESH`)).status).to.equal(404);
      const done = await upload(browser, at('/import'), { file, environment: 'local', as: 'secrets' });
      expect(done.text).to.include('1 line is imported');
      expect((await read('FRESH')).value).to.equal(value);
      await upload(browser, at('/import'), { file: 'MODE=fast\n', environment: 'production', as: 'configuration' });
      expect((await browser.get(at('?part=configuration'))).text)
        .to.include('MODE')
        .and.include('fast');
    });

    it('shows the form once more with the lines at fault', async () => {
      const browser = await console.loggedIn();
      const { status, text } = await upload(browser, at('/import'), { file: `A=1\nB='2\n`, environment: 'production', as: 'configuration' });
      expect(status).to.equal(400);
      expect(text)
        .to.include('line 2')
        .and.match(/<option value="production" selected/);
      expect((await upload(browser, at('/import'), { file: '', environment: 'local', as: 'secrets' })).status).to.equal(400);
      expect((await upload(browser, at('/import'), { file: 'A=1', environment: 'nowhere', as: 'secrets' })).status).to.equal(404);
      const tooLarge = await upload(browser, at('/import'), { file: 'x'.repeat(1_100_000), environment: 'local', as: 'secrets' });
      expect(tooLarge.status).to.equal(413);
      expect(tooLarge.text).to.include('at most 1 MiB here');
    });
  });
});
