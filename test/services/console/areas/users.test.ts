// The people of the console: added, changed, disabled, deleted, and their sessions.
import { expect } from 'chai';
import { createBrowser, password, useConsole } from '../service.ts';

const everywhere = (role: string) =>
  Object.fromEntries(['events', 'links', 'listings', 'bookmarks', 'secrets', 'system'].map((area) => [`role-${area}`, role]));
const given = 'a password of Anna';

describe('console people', () => {
  let now = new Date('2026-03-15T12:00:00Z');
  const console = useConsole({ clock: () => now });
  const later = (minutes: number) => void (now = new Date(now.getTime() + minutes * 60_000));
  const idOf = async (name: string) => ((await console.query('select id from people where name = $1', [name])) as { id: string }[])[0]?.id ?? '';
  const rolesOf = async (name: string) => ((await console.query('select roles from people where name = $1', [name])) as { roles: unknown }[])[0]?.roles;
  const actions = () => console.query(`select action, target, outcome from actions where area = 'system' order by at, id`);

  /** The first person, with a page of Anna, and a browser of Anna. */
  async function withAnna(roles: Readonly<Record<string, string>> = everywhere('reader')) {
    const admin = await console.loggedIn();
    const { status } = await admin.post('/admin/users/add', { name: 'Anna', password: given, ...roles });
    if (status !== 303) throw new Error(`Anna was not added: ${status}`);
    const id = await idOf('Anna');
    const browser = console.browser();
    await browser.logIn('anna', given);
    return { admin, anna: browser, id, at: `/admin/users/${id}` };
  }

  describe('POST /admin/users/add', () => {
    it('adds a person who can log in with these roles, and can be undone', async () => {
      const admin = await console.loggedIn();
      const { status, text } = await admin.act('/admin/users/add', { name: ' Anna ', password: given, 'role-system': 'editor', 'role-links': 'none' });
      expect(status).to.equal(200);
      const { undo } = JSON.parse(text) as { undo: { path: string; fields: Record<string, string> } };
      const anna = console.browser();
      expect((await anna.logIn('ANNA', given)).status).to.equal(303);
      expect(await rolesOf('Anna')).to.deep.equal({ system: 'editor' });
      expect((await anna.get('/system')).status).to.equal(200);
      expect((await anna.get('/system/actions')).status).to.equal(403);
      expect((await admin.act(undo.path, undo.fields)).status).to.equal(200);
      expect((await anna.get('/me')).status).to.equal(303);
      expect(await actions()).to.deep.equal([
        { action: '/admin/users/add', target: 'Anna', outcome: 'done' },
        { action: '/admin/users/{id}/delete', target: 'Anna', outcome: 'done' },
      ]);
    });

    it('adds a person whose pages have the language of the own browser until another one is chosen', async () => {
      const admin = await console.loggedIn();
      await admin.post('/admin/users/add', { name: 'Anna', password: given, 'role-system': 'none' });
      const anna = console.browser({ 'Accept-Language': 'fr, de-AT;q=0.8, en;q=0.5' });
      const language = async () => /lang="(\w+)"/.exec((await anna.get('/me')).text)?.[1];
      expect((await anna.get('/login')).text)
        .to.include('Signalbox</p>')
        .and.include('>Anmelden<');
      await anna.logIn('anna', given);
      expect(await language()).to.equal('de');
      await anna.post('/me/appearance', { language: 'en' });
      await anna.logIn('anna', given);
      expect(await language()).to.equal('en');
    });

    it('shows the form once more, without the password, where entries are not valid', async () => {
      const admin = await console.loggedIn();
      const cases: [fields: Record<string, string>, fault: string][] = [
        [{ name: '', password: given }, 'must not be empty'],
        [{ name: 'x'.repeat(101), password: given }, 'at most 100'],
        [{ name: 'a\u0000b', password: given }, 'control characters'],
        [{ name: 'Otto', password: 'short' }, 'at least 12 characters'],
        [{ name: 'Otto', password: given, 'role-system': 'king' }, 'must be a role'],
        [{ name: 'ADMIN', password: given }, 'is here already'],
        [{ name: 'Otto' }, 'is required'],
      ];
      for (const [fields, fault] of cases) {
        const { status, text } = await admin.post('/admin/users/add', { ...fields, 'role-links': 'editor' });
        expect(status, fault).to.equal(400);
        expect(text, fault).to.include(fault).and.not.include(given);
        expect(text, fault).to.match(/<select[^>]*name="role-links"[^>]*>.*?<option value="editor" selected/s);
      }
      expect(await console.query('select name from people')).to.deep.equal([{ name: 'admin' }]);
    });

    it('takes a name once, in any case, also when it is sent twice at once, and not that of a person of a provider', async () => {
      const admin = await console.loggedIn();
      await console.query(
        `insert into people select gen_random_uuid(), 'oidc', 'x 1', 'Otto', null, null, '{}', language, zone, theme, density, has_keys, created_at from people`,
      );
      const statuses = await Promise.all(
        ['Anna', 'ANNA', 'anna', 'otto'].map(async (name) => (await admin.post('/admin/users/add', { name, password: given })).status),
      );
      expect(statuses.sort()).to.deep.equal([303, 400, 400, 400]);
    });
  });

  describe('GET /admin/users', () => {
    it('lists people by name with roles, sessions and source, fifty a page', async () => {
      const { admin } = await withAnna({ 'role-system': 'reader', 'role-links': 'editor' });
      await console.query(
        `insert into people select gen_random_uuid(), 'oidc', 'x ' || n, 'person ' || lpad(n::text, 3, '0'), '<b>@example.org', null, '{}', language, zone, theme, density, has_keys, now()
         from people, generate_series(1, 60) n where name = 'admin'`,
      );
      const { status, text } = await admin.get('/admin/users');
      expect(status).to.equal(200);
      expect(text).to.include('Admin everywhere').and.include('Links: Editor, System: Reader').and.include('person 048').and.not.include('person 049');
      expect(text).to.include('&lt;b>@example.org');
      const [, next = ''] = /href="(\/admin\/users\?after=[^"]+)"/.exec(text) ?? [];
      expect((await admin.get(next.replaceAll('&amp;', '&'))).text)
        .to.include('person 049')
        .and.include('person 060')
        .and.not.include('person 048');
      expect((await admin.get('/admin/users?after=x')).status).to.equal(400);
    });

    it('is in the menu of admins, and of no others', async () => {
      const { admin, anna } = await withAnna(everywhere('editor'));
      expect((await admin.get('/me')).text).to.include('href="/admin/users"');
      expect((await anna.get('/me')).text).to.not.include('/admin/users');
      expect((await anna.get('/admin/users')).status).to.equal(403);
    });
  });

  describe('what needs a login of the last ten minutes', () => {
    it('is every change, and leads to the login and back', async () => {
      const { admin, at } = await withAnna();
      later(11);
      const changes = console.declared.filter(({ kind, path }) => kind === 'action' && path.startsWith('/admin/users'));
      expect(changes.length).to.be.at.least(8);
      for (const { path } of changes) {
        const { status, headers } = await admin.post(
          path.replace('/admin/users/{id}', at).replace('{session}', 'x'),
          {},
          { Referer: `${console.url}/admin/users` },
        );
        expect([status, headers.get('location')], path).to.deep.equal([303, '/login?to=%2Fadmin%2Fusers&again=true']);
      }
      expect((await actions()).slice(1)).to.deep.equal(
        changes.map(({ path }) => ({ action: path, target: path.replace('/admin/users/{id}', at).replace('{session}', 'x'), outcome: 'refused' })),
      );
      expect((await admin.get('/admin/users')).status).to.equal(200);
    });
  });

  describe('a person', () => {
    it('gets other roles at once, and the former ones by undo', async () => {
      const { admin, anna, at } = await withAnna();
      const { text } = await admin.act(`${at}/roles`, everywhere('admin'));
      expect((await anna.get('/system/actions')).status).to.equal(200);
      const { undo } = JSON.parse(text) as { undo: { path: string; fields: Record<string, string> } };
      expect((await admin.act(undo.path, undo.fields)).status).to.equal(200);
      expect((await anna.get('/system/actions')).status).to.equal(403);
      expect((await anna.get('/system')).status).to.equal(200);
    });

    it('gets another password, and is logged out', async () => {
      const { admin, anna, at } = await withAnna();
      expect((await admin.post(`${at}/password`, { password: 'another password' })).status).to.equal(303);
      expect((await anna.get('/me')).status).to.equal(303);
      expect((await anna.logIn('Anna', given)).status).to.equal(401);
      expect((await anna.logIn('Anna', 'another password')).status).to.equal(303);
      expect((await admin.post(`${at}/password`, { password: 'x' })).status).to.equal(400);
    });

    it('is disabled and logged out at once, and enabled by undo', async () => {
      const { admin, anna, at } = await withAnna();
      const { text } = await admin.act(`${at}/disable`);
      expect((await anna.get('/me')).status).to.equal(303);
      expect((await anna.logIn('Anna', given)).status).to.equal(401);
      expect((await admin.get(at)).text)
        .to.include('disabled')
        .and.include(`${at}/enable`);
      const { undo } = JSON.parse(text) as { undo: { path: string } };
      expect((await admin.act(undo.path)).status).to.equal(200);
      expect((await anna.logIn('Anna', given)).status).to.equal(303);
    });

    it('is deleted by its name, with its sessions', async () => {
      const { admin, anna, at } = await withAnna();
      for (const confirm of ['anna', '', 'Otto']) expect((await admin.post(`${at}/delete`, { confirm })).status, confirm).to.equal(400);
      expect((await admin.post(`${at}/delete`, { confirm: 'Anna' })).headers.get('location')).to.equal('/admin/users');
      expect((await anna.get('/me')).status).to.equal(303);
      for (const path of [at, '/admin/users/x', '/admin/users/0197c000-0000-7000-8000-000000000001'])
        expect((await admin.get(path)).status, path).to.equal(404);
      expect((await admin.post(`${at}/delete`, { confirm: 'Anna' })).status).to.equal(404);
      expect((await console.query(`select person from actions where person = 'Anna'`)).length, 'the record stays').to.be.at.least(1);
    });

    it('has its sessions listed, and ended one by one or all', async () => {
      const { admin, anna, id, at } = await withAnna();
      const phone = console.browser({ 'User-Agent': '<i>phone</i>' });
      await phone.logIn('anna', given);
      const { text } = await admin.get(at);
      expect(text).to.include('&lt;i>phone&lt;/i>');
      const [session = ''] = (await console.query(`select id from sessions where browser like '%phone%'`)).map((row) => (row as { id: string }).id);
      expect((await admin.post(`/admin/users/${await idOf('admin')}/sessions/${session}/end`)).status, 'of another person').to.equal(404);
      expect((await admin.post(`${at}/sessions/x/end`)).status).to.equal(404);
      expect((await admin.act(`${at}/sessions/${session}/end`)).status).to.equal(200);
      expect((await phone.get('/me')).status).to.equal(303);
      expect((await anna.get('/me')).status).to.equal(200);
      await admin.post(`${at}/sessions/end`);
      expect((await anna.get('/me')).status).to.equal(303);
      expect(await console.query('select id from sessions where person_id = $1', [id])).to.deep.equal([]);
    });

    it('keeps the own session when an admin ends all of the own', async () => {
      const admin = await console.loggedIn();
      const other = await console.loggedIn();
      await admin.post(`/admin/users/${await idOf('admin')}/sessions/end`);
      expect((await other.get('/me')).status).to.equal(303);
      expect((await admin.get('/me')).status).to.equal(200);
    });
  });

  describe('the own password', () => {
    it('is changed by giving the former one, and ends all other sessions', async () => {
      const { anna } = await withAnna();
      const phone = console.browser();
      await phone.logIn('anna', given);
      expect((await anna.get('/me')).text).to.include('href="/me/password"');
      expect((await anna.get('/me/password')).status).to.equal(200);
      for (const [fields, fault] of [
        [{ current: 'wrong', password: 'another password' }, 'This is not the password'],
        [{ current: given, password: 'short' }, 'at least 12 characters'],
        [{ password: 'another password' }, 'is required'],
      ] as const) {
        const { status, text } = await anna.post('/me/password/change', fields);
        expect(status, fault).to.equal(400);
        expect(text, fault).to.include(fault).and.not.include('value="another').and.not.include(`value="${given}`);
      }
      expect((await anna.post('/me/password/change', { current: given, password: 'another password' })).headers.get('location')).to.equal('/me');
      expect((await anna.get('/me')).status).to.equal(200);
      expect((await phone.get('/me')).status).to.equal(303);
      expect((await phone.logIn('anna', given)).status).to.equal(401);
      expect((await phone.logIn('anna', 'another password')).status).to.equal(303);
    });

    it('cannot be guessed there more often than at the login', async () => {
      const { anna } = await withAnna();
      for (let count = 0; count < 5; count++) expect((await anna.post('/me/password/change', { current: 'wrong', password: given })).status).to.equal(400);
      expect((await anna.post('/me/password/change', { current: given, password: 'another password' })).status).to.equal(429);
      expect((await anna.logIn('anna', given)).status).to.equal(429);
    });

    it('is not there for people whose password is kept elsewhere', async () => {
      const admin = await console.loggedIn();
      expect((await admin.get('/me')).text).to.not.include('/me/password');
      expect((await admin.get('/me/password')).status).to.equal(404);
      expect((await admin.post('/me/password/change', { current: password, password: given })).status).to.equal(404);
    });
  });

  describe('the first person', () => {
    it('is what the settings say: no roles, no password, no deletion here', async () => {
      const admin = await console.loggedIn();
      const at = `/admin/users/${await idOf('admin')}`;
      expect((await admin.get(at)).text)
        .to.not.include(`${at}/roles`)
        .and.not.include(`${at}/delete`);
      expect((await admin.post(`${at}/roles`, everywhere('reader'))).status).to.equal(409);
      expect((await admin.post(`${at}/password`, { password: given })).status).to.equal(409);
      expect((await admin.post(`${at}/delete`, { confirm: 'admin' })).status).to.equal(409);
    });
  });

  describe('the last admin', () => {
    it('can be neither disabled, nor demoted, nor deleted', async () => {
      const { admin, anna, at } = await withAnna(everywhere('admin'));
      const first = `/admin/users/${await idOf('admin')}`;
      expect((await anna.post(`${first}/disable`)).status, 'one of two').to.equal(303);
      expect((await admin.get('/me')).status).to.equal(303);
      for (const [path, fields] of [
        ['disable', {}],
        ['roles', everywhere('editor')],
        ['delete', { confirm: 'Anna' }],
      ] as const) {
        const { status, text } = await anna.post(`${at}/${path}`, fields);
        expect(status, path).to.equal(409);
        expect(text, path).to.include('no one could manage people');
      }
      expect((await anna.get('/admin/users')).status).to.equal(200);
      expect((await anna.post(`${at}/roles`, { ...everywhere('reader'), 'role-system': 'admin' })).status, 'admin of the system is enough').to.equal(303);
    });

    it('stays when two admins demote each other at once', async () => {
      const { anna, at } = await withAnna(everywhere('admin'));
      await anna.post('/admin/users/add', { name: 'Otto', password: given, ...everywhere('admin') });
      const otto = console.browser();
      await otto.logIn('Otto', given);
      await anna.post(`/admin/users/${await idOf('admin')}/disable`);
      const statuses = await Promise.all([
        anna.post(`/admin/users/${await idOf('Otto')}/roles`, everywhere('reader')),
        otto.post(`${at}/roles`, everywhere('reader')),
      ]).then((answers) => answers.map(({ status }) => status));
      expect(statuses.filter((status) => status === 303)).to.have.length(1);
    });

    it('is not the first person of a former Console__AdminUsername, who has no password any more', async () => {
      const { admin, at } = await withAnna(everywhere('admin'));
      await console.query(
        `insert into people select gen_random_uuid(), 'local', 'former', 'former', null, null, '{"system":"admin"}', language, zone, theme, density, has_keys, created_at from people where name = 'admin'`,
      );
      expect((await admin.post(`${at}/disable`)).status, 'one of two').to.equal(303);
      expect((await admin.post(`/admin/users/${await idOf('admin')}/disable`)).status).to.equal(409);
    });

    it('is not one who only a provider lets in, while passwords are taken', async () => {
      const admin = await console.loggedIn();
      await console.query(
        `insert into people select gen_random_uuid(), 'oidc', 'x 1', 'Otto', null, null, '{"system":"admin"}', language, zone, theme, density, has_keys, created_at from people`,
      );
      expect((await admin.post(`/admin/users/${await idOf('admin')}/disable`)).status).to.equal(409);
    });
  });

  it('counts the five tries of a name for a person here as for any other', async () => {
    await withAnna();
    const browser = createBrowser(console.url, { 'X-Forwarded-For': '203.0.113.7' });
    for (let count = 0; count < 5; count++) expect((await browser.logIn('Anna', 'wrong')).status).to.equal(401);
    expect((await browser.logIn('anna', given)).status).to.equal(429);
    expect((await browser.logIn()).status, 'another name').to.equal(303);
  });
});
