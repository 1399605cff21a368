// The own account, and the record of actions.
import { expect } from 'chai';
import { languages } from '../../../../services/console/texts/texts.ts';
import { useConsole } from '../service.ts';

describe('console own account', () => {
  const console = useConsole();
  const idsOf = async () => (await console.query('select id from sessions order by created_at, id')).map(({ id }) => id as string);

  it('lists the sessions of the person, and marks this one', async () => {
    const browser = await console.loggedIn();
    await console.browser({ 'User-Agent': '<b>Another</b> browser' }).logIn();
    const { status, text } = await browser.get('/me');
    expect(status).to.equal(200);
    expect(text).to.include('&lt;b>Another&lt;/b> browser').and.to.include('this one');
    expect(text.match(/\/me\/sessions\/[^/"]+\/end"/g)).to.have.length(1);
  });

  it('ends another session, which is logged out at once', async () => {
    const [browser, other] = [await console.loggedIn(), await console.loggedIn()];
    const [, id = ''] = await idsOf();
    expect((await browser.act(`/me/sessions/${id}/end`)).status).to.equal(200);
    expect((await other.get('/me')).status).to.equal(303);
    expect((await browser.get('/me')).status).to.equal(200);
  });

  it('ends all other sessions', async () => {
    const [browser, other] = [await console.loggedIn(), await console.loggedIn()];
    expect((await browser.post('/me/sessions/end-others')).status).to.equal(303);
    expect((await other.get('/me')).status).to.equal(303);
    expect((await browser.get('/me')).text).to.include('1 session is ended');
  });

  it('ends no session of another person', async () => {
    const browser = await console.loggedIn();
    await console.query(
      `insert into people select gen_random_uuid(), 'oidc', 'another', 'another', null, null, '{}', language, zone, theme, density, has_keys, created_at from people`,
    );
    await console.query(
      `insert into sessions select '0197c000-0000-7000-8000-000000000001', '\\x00', people.id, s.created_at, seen_at, authenticated_at, address, browser from sessions s, people where subject = 'another'`,
    );
    for (const id of ['0197c000-0000-7000-8000-000000000001', 'x']) expect((await browser.post(`/me/sessions/${id}/end`)).status, id).to.equal(404);
    expect(await idsOf()).to.include('0197c000-0000-7000-8000-000000000001');
  });

  it('keeps the time zone, and refuses one that is none', async () => {
    const browser = await console.loggedIn();
    expect((await browser.post('/me/zone', { zone: 'Europe/Dublin' })).status).to.equal(303);
    expect(await console.query('select zone from people')).to.deep.equal([{ zone: 'Europe/Dublin' }]);
    for (const zone of ['Nowhere/Here', '', 'x'.repeat(200)]) expect((await browser.post('/me/zone', { zone })).status, zone).to.equal(400);
  });

  it('keeps each choice of how pages look, leads back to the page, and records none', async () => {
    const browser = await console.loggedIn();
    for (const fields of [{ theme: 'dark' }, { density: 'dense' }, { language: 'de' }, { keys: 'off' }]) {
      const { status, headers } = await browser.post('/me/appearance', { back: '/me?a=b', ...fields });
      expect([status, headers.get('location')]).to.deep.equal([303, '/me?a=b']);
    }
    const { text } = await browser.get('/me');
    expect(text).to.include('Gespeichert');
    expect(text).to.match(/<html lang="de" data-theme="dark" data-density="dense" data-keys="off"/);
    expect(await console.query(`select * from actions where area = 'me'`)).to.deep.equal([]);
  });

  it('takes no choice that there is not, and leads to no other site', async () => {
    const browser = await console.loggedIn();
    for (const fields of [{ theme: 'pink' }, { language: 'toString' }, { density: '' }])
      expect((await browser.post('/me/appearance', fields)).status).to.equal(400);
    const { headers } = await browser.post('/me/appearance', { back: 'https://evil.example/', theme: 'dark' });
    expect(headers.get('location')).to.equal('/');
  });

  it('keeps what was chosen over the next login', async () => {
    await (await console.loggedIn()).post('/me/appearance', { theme: 'dark' });
    expect((await (await console.loggedIn()).get('/me')).text).to.include('data-theme="dark"');
  });
});

describe('console record of actions', () => {
  const services = { Relay: 'Token', Intake: 'Token', Digest: 'Key', Secrets: 'Token', Bookmarks: 'Key', Listings: 'Token' };
  const console = useConsole({
    environment: Object.fromEntries(
      Object.entries(services).flatMap(([name, credential]) => [
        [`Console__${name}Url`, 'http://127.0.0.1:9'],
        [`Console__${name}${credential}`, `a credential of the tests for ${name}`],
      ]),
    ),
  });

  it('shows logins and actions to an admin of system, the newest first', async () => {
    const browser = await console.loggedIn();
    await browser.logIn('admin', 'wrong');
    await browser.post('/me/sessions/end-others');
    const { status, text } = await browser.get('/system/actions');
    expect(status).to.equal(200);
    expect(text.indexOf('/me/sessions/end-others')).to.be.greaterThan(0).and.lessThan(text.indexOf('>logged in<'));
    expect(text).to.include('>ended all their other sessions<');
    expect(text).to.include('refused');
  });

  it('filters by person and area, and pages by a cursor', async () => {
    const browser = await console.loggedIn();
    await console.query(
      `insert into actions select gen_random_uuid(), now() - n * interval '1 minute', 'p' || n % 2, '', 'links', 'action ' || n, '', 'done', '' from generate_series(1, 120) n`,
    );
    const { text } = await browser.get('/system/actions?person=p1&area=links');
    expect(text).to.include('action 1<').and.include('action 99<').and.not.include('action 101<').and.not.include('action 2<');
    const [, next = ''] = /href="(\/system\/actions\?[^"]*after=[^"]+)"/.exec(text) ?? [];
    expect((await browser.get(next.replaceAll('&amp;', '&'))).text)
      .to.include('action 101<')
      .and.include('action 119<')
      .and.not.include('action 99<');
    expect((await browser.get('/system/actions?area=secrets')).text).to.include('Clear filters');
    expect((await browser.get('/system/actions?after=x')).status).to.equal(400);
  });

  it('filters by a person in any case, as the record has it', async () => {
    const browser = await console.loggedIn();
    await console.query(
      `insert into actions select gen_random_uuid(), now(), name, '', 'links', 'by ' || name, '', 'done', '' from unnest(array['Anna', 'anna', 'Äda']) name`,
    );
    const { text } = await browser.get('/system/actions?person=aNNa');
    expect(text).to.include('by Anna<').and.include('by anna<').and.not.include('by Äda<');
    expect((await browser.get(`/system/actions?person=${encodeURIComponent('äda')}`)).text).to.include('by Äda<');
  });

  it('has words for each action, and none for what is no action', () => {
    const recorded = console.declared.flatMap(({ kind, path }) => (kind === 'action' && path !== '/me/appearance' ? [path] : []));
    expect(Object.keys(languages.en.texts.actions)).to.have.members(['log in', 'log out', ...recorded]);
  });

  it('leads to what was changed, and not to what was deleted', async () => {
    const id = '01a221d3-3111-711c-8315-859bfa4c463b';
    const browser = await console.loggedIn();
    await console.query(
      `insert into actions select gen_random_uuid(), now(), 'anna', '', 'links', action, 'Liked: ${id}', 'done', '' from unnest(array['/links/{id}/decide', '/bookmarks/{id}/delete', '/bookmarks/folders/{id}/delete']) action`,
    );
    const { text } = await browser.get('/system/actions');
    expect(text.match(/Liked: <a href="[^"]+">/g)).to.deep.equal([`Liked: <a href="/links/${id}">`]);
  });

  it('is for no editor', async () => {
    expect((await (await console.personWith({ system: 'editor' })).get('/system/actions')).status).to.equal(403);
  });
});
