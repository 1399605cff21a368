// Who gets into the console: logins, sessions, roles, and changes that other sites ask for.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ownPath } from '../../../services/console/access/own-path.ts';
import { readCookie } from '../../../services/console/access/cookies.ts';
import { eventually } from '../../support/wait.ts';
import { password, useConsole } from './service.ts';

describe('console access', () => {
  let now = new Date('2026-03-15T12:00:00Z');
  const console = useConsole({ clock: () => now, environment: { Console__BookmarksUrl: 'http://127.0.0.1:9', Console__BookmarksKey: 'a key of the tests' } });
  const later = (minutes: number) => void (now = new Date(now.getTime() + minutes * 60_000));
  const actions = () => console.query('select person, area, action, target, outcome from actions order by at, id');

  describe('POST /login', () => {
    it('leads to the page that was asked for, with a cookie that no script reads', async () => {
      const answer = await console.browser().logIn('admin', password, { to: '/bookmarks?q=river' });
      expect(answer.status).to.equal(303);
      expect(answer.headers.get('location')).to.equal('/bookmarks?q=river');
      expect(answer.headers.get('set-cookie')).to.match(/^signalbox=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/);
    });

    it('sets a cookie of the host alone, over TLS alone, where the host is not of the own machine', async () => {
      const browser = console.browser({ 'X-Forwarded-Proto': 'https' });
      const { default: http } = await import('node:http');
      const { hostname, port } = new URL(console.url);
      const setCookie = await new Promise<string | undefined>((resolve, reject) => {
        const body = new URLSearchParams({ name: 'admin', password }).toString();
        const headers = { Host: 'console.example.org', 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/x-www-form-urlencoded' };
        http
          .request({ hostname, port, path: '/login', method: 'POST', headers }, (response) => resolve(response.resume().headers['set-cookie']?.[0]))
          .on('error', reject)
          .end(body);
      });
      expect(setCookie).to.match(/^__Host-signalbox=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/);
      expect(browser.cookies.size).to.equal(0);
    });

    it('takes the name in any case', async () => {
      expect((await console.browser().logIn(' ADMIN ')).status).to.equal(303);
    });

    it('answers a wrong password and an unknown name alike, without a cookie', async () => {
      const wrong = await console.browser().logIn('admin', 'wrong');
      const unknown = await console.browser().logIn('somebody', 'wrong');
      expect([wrong.status, unknown.status]).to.deep.equal([401, 401]);
      expect(wrong.text.replaceAll('admin', '')).to.equal(unknown.text.replaceAll('somebody', ''));
      expect(wrong.headers.get('set-cookie')).to.equal(null);
    });

    it('never sends the password back', async () => {
      expect((await console.browser().logIn('admin', 'a wrong password')).text).not.to.include('a wrong password');
    });

    it('refuses the sixth try of a name from an address, also with the right password, and lets in another name', async () => {
      const browser = console.browser();
      for (let count = 0; count < 5; count++) expect((await browser.logIn('admin', 'wrong')).status).to.equal(401);
      const sixth = await browser.logIn();
      expect(sixth.status).to.equal(429);
      expect(Number(sixth.headers.get('retry-after'))).to.be.within(1, 900);
      expect((await browser.logIn('Admin')).status, 'in another case').to.equal(429);
      expect((await browser.logIn('somebody', 'wrong')).status).to.equal(401);
    });

    it('counts tries of another address apart', async () => {
      for (let count = 0; count < 6; count++) await console.browser({ 'X-Forwarded-For': '192.0.2.7' }).logIn('admin', 'wrong');
      expect((await console.browser({ 'X-Forwarded-For': '192.0.2.8' }).logIn()).status).to.equal(303);
    });

    it('counts guesses that are made at once', async () => {
      const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await console.browser().logIn('admin', 'wrong')).status));
      expect(statuses.filter((status) => status === 401)).to.have.length(5);
      expect(statuses.filter((status) => status === 429)).to.have.length(3);
    });

    it('makes a new session, and ends the one that the browser had', async () => {
      const browser = console.browser();
      await browser.logIn();
      const before = browser.cookies.get('signalbox') ?? '';
      await browser.logIn();
      expect(browser.cookies.get('signalbox')).not.to.equal(before);
      expect((await console.browser({ Cookie: `signalbox=${before}` }).get('/')).status).to.equal(303);
      expect(await console.query('select id from sessions')).to.have.length(1);
    });

    it('takes no session that the browser brought: fixation', async () => {
      const planted = 'x'.repeat(43);
      const browser = console.browser();
      browser.cookies.set('signalbox', planted);
      await browser.logIn();
      expect(browser.cookies.get('signalbox')).not.to.equal(planted);
      expect((await console.browser({ Cookie: `signalbox=${planted}` }).get('/')).status).to.equal(303);
    });

    it('stores the hash of the token only', async () => {
      const browser = await console.loggedIn();
      const token = browser.cookies.get('signalbox') ?? '';
      const rows = await console.query('select sessions::text as row from sessions');
      expect(rows).to.have.length(1);
      expect(rows[0].row).not.to.include(token).and.not.to.include(Buffer.from(token, 'base64url').toString('hex'));
    });

    it('leads nowhere but to pages of the console: open redirects', async () => {
      for (const to of [
        '//evil.example',
        'https://evil.example',
        '/\\evil.example',
        '/\t/evil.example',
        'javascript:alert(1)',
        '/x/..//evil.example',
        '/logout',
        '',
      ]) {
        const answer = await console.browser().logIn('admin', password, { to });
        expect(answer.headers.get('location'), to).to.equal('/');
      }
    });

    it('is refused when another site sends it', async () => {
      for (const site of ['cross-site', 'same-site', 'none']) {
        expect((await console.browser().post('/login', { name: 'admin', password }, { 'Sec-Fetch-Site': site })).status, site).to.equal(403);
      }
    });

    it('records logins, and failures of known names only', async () => {
      await console.browser().logIn('admin', 'wrong');
      await console.browser().logIn('a password in the field of the name', 'wrong');
      await console.browser().logIn();
      expect(await actions()).to.deep.equal([
        { person: 'admin', area: 'access', action: 'log in', target: '', outcome: 'refused' },
        { person: 'admin', area: 'access', action: 'log in', target: '', outcome: 'done' },
      ]);
    });

    it('answers a form that is too large, or none, as it should', async () => {
      const browser = console.browser();
      expect((await browser.logIn('admin', 'x'.repeat(20_000))).status).to.equal(413);
      expect((await browser.logIn('admin', 'x'.repeat(2000))).status).to.equal(401);
      expect(
        (await browser.ask('/login', { method: 'POST', body: '{}' }, { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' })).status,
      ).to.equal(415);
      expect((await browser.post('/login', {})).status).to.equal(401);
    });
  });

  describe('a session', () => {
    it('ends when it was not used for twelve hours', async () => {
      const browser = await console.loggedIn();
      later(11 * 60);
      expect((await browser.get('/')).status).to.equal(200);
      later(11 * 60);
      expect((await browser.get('/')).status).to.equal(200);
      later(12 * 60 + 1);
      expect((await browser.get('/')).status).to.equal(303);
    });

    it('ends after seven days, however much it is used', async () => {
      const browser = await console.loggedIn();
      for (let hours = 0; hours < 168; hours += 6) {
        expect((await browser.get('/')).status).to.equal(200);
        later(6 * 60);
      }
      expect((await browser.get('/')).status).to.equal(303);
    });

    it('ends with a logout, in the database too', async () => {
      const browser = await console.loggedIn();
      const token = browser.cookies.get('signalbox') ?? '';
      const answer = await browser.post('/logout');
      expect(answer.status).to.equal(303);
      expect(answer.headers.get('set-cookie')).to.match(/^signalbox=; Path=\/; Max-Age=0;/);
      expect((await console.browser({ Cookie: `signalbox=${token}` }).get('/')).status).to.equal(303);
    });

    it('is none where the cookie comes twice, is malformed, or belongs to a disabled person', async () => {
      const browser = await console.loggedIn();
      const token = browser.cookies.get('signalbox') ?? '';
      expect((await console.browser({ Cookie: `signalbox=${token}; signalbox=${token}` }).get('/')).status).to.equal(303);
      expect((await console.browser({ Cookie: `signalbox=${token.slice(1)}` }).get('/')).status).to.equal(303);
      expect((await console.browser({ Cookie: `__Host-signalbox=${token}` }).get('/')).status, 'at a host of the own machine').to.equal(303);
      await console.query('update people set disabled_at = now()');
      expect((await browser.get('/')).status).to.equal(303);
    });
  });

  describe('every page, action and resource', () => {
    const filled = (path: string) => path.replaceAll(/\{\+?\w+\}/g, 'x');

    it('is declared once', () => {
      const keys = console.declared.map(({ kind, path }) => `${kind === 'action' ? 'POST' : 'GET'} ${path}`);
      expect(keys).to.deep.equal([...new Set(keys)]).and.not.to.be.empty;
    });

    it('leads to the login without a session, and changes nothing', async () => {
      for (const { kind, path } of console.declared) {
        if (kind === 'action') expect((await console.browser().post(filled(path))).status, path).to.equal(401);
        else {
          const answer = await console.browser().get(`${filled(path)}?a=b`);
          expect([answer.status, answer.headers.get('location')], path).to.deep.equal([303, `/login?to=${encodeURIComponent(`${filled(path)}?a=b`)}`]);
        }
      }
      const unknown = await console.browser().get('/nothing/here');
      expect(unknown.status, 'a path that is none').to.equal(303);
    });

    it('is refused to a person without a role in its area, and to one whose role is too small', async () => {
      const smaller = { reader: undefined, editor: 'reader', admin: 'editor' } as const;
      const browser = await console.loggedIn();
      for (const { kind, path, area, role } of console.declared) {
        if (area === 'now' || area === 'me') continue;
        for (const held of [undefined, smaller[role]]) {
          await console.query('update people set roles = $1', [JSON.stringify(held === undefined ? {} : { [area]: held })]);
          const answer = kind === 'action' ? await browser.post(filled(path)) : await browser.get(filled(path));
          expect(answer.status, `${path} as ${held}`).to.equal(403);
        }
      }
    });

    it('is an action that takes no request of another site', async () => {
      const browser = await console.loggedIn();
      for (const { kind, path } of [...console.declared, { kind: 'action', path: '/logout' } as const]) {
        if (kind !== 'action') continue;
        for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site', Origin: console.url }])
          expect((await browser.post(filled(path), {}, headers)).status, path).to.equal(403);
        const silent = await browser.ask(filled(path), { method: 'POST', body: new URLSearchParams() }, {});
        expect(silent.status, `${path} from a client that says nothing`).to.equal(403);
        const foreign = await browser.ask(filled(path), { method: 'POST', body: new URLSearchParams() }, { Origin: 'https://evil.example' });
        expect(foreign.status, `${path} with a foreign origin`).to.equal(403);
      }
      expect((await browser.get('/')).status, 'still logged in').to.equal(200);
    });

    it('is an action that takes an equal origin of a browser that says no more', async () => {
      const browser = await console.loggedIn();
      const answer = await browser.ask('/logout', { method: 'POST', body: new URLSearchParams() }, { Origin: console.url });
      expect(answer.status).to.equal(303);
    });

    it('changes nothing by a GET of an action', async () => {
      const browser = await console.loggedIn();
      for (const { kind, path } of console.declared) if (kind === 'action') expect((await browser.get(filled(path))).status, path).to.be.oneOf([404, 405, 502]);
    });
  });

  it('records an action that was refused: too small a role, a login too old', async () => {
    const browser = await console.personWith({ system: 'editor' });
    expect((await browser.post('/admin/users/x/disable')).status).to.equal(403);
    await console.query(`update people set roles = '{"system":"admin"}'`);
    later(11);
    expect((await browser.post('/admin/users/x/disable')).status).to.equal(303);
    expect((await browser.act('/admin/users/x/disable')).status).to.equal(403);
    const refused = { person: 'admin', area: 'system', action: '/admin/users/{id}/disable', target: '/admin/users/x/disable', outcome: 'refused' };
    expect((await actions()).slice(1)).to.deep.equal([refused, refused, refused]);
  });

  it('asks a person for the password once more in the language and theme of the person, not of the browser', async () => {
    const browser = await console.loggedIn();
    await console.query(`update people set language = 'de', theme = 'dark'`);
    expect((await browser.get('/login?again=true')).text).to.include('<html lang="de" data-theme="dark"');
    expect((await browser.logIn('admin', 'a wrong password')).text).to.include('<html lang="de" data-theme="dark"');
    expect((await console.browser().get('/login?again=true')).text).to.include('<html lang="en" data-theme="auto"');
  });

  describe('entries of an action that needs a recent login', () => {
    const entered = { name: 'Anna "A" <i>', password: 'a password of Anna', 'role-system': 'reader', 'role-links': ['editor', 'admin'] };

    it('are kept until it is there, without passwords, and shown once', async () => {
      const browser = await console.loggedIn();
      later(11);
      const { status, headers } = await browser.post('/admin/users/add', entered, { Referer: `${console.url}/admin/users/new` });
      expect([status, headers.get('location')]).to.deep.equal([303, '/login?to=%2Fadmin%2Fusers%2Fnew&again=true']);
      expect((await browser.logIn('admin', undefined, { to: '/admin/users/new' })).status).to.equal(303);
      const { text } = await browser.get('/admin/users/new');
      expect(text).to.include('<form method="post" action="/admin/users/add"><input type="hidden" name="name" value="Anna &quot;A&quot; &lt;i>"/>');
      expect(text).to.include('<input type="hidden" name="role-links" value="editor"/><input type="hidden" name="role-links" value="admin"/>');
      expect(text).not.to.include('a password of Anna');
      expect((await browser.get('/admin/users/new')).text).not.to.include('Anna');
    });

    it('are kept for this person only', async () => {
      const browser = await console.loggedIn();
      await browser.post('/admin/users/add', { ...entered, name: 'Otto', 'role-links': 'editor' });
      later(11);
      await browser.post('/admin/users/add', { ...entered, name: 'Anna' });
      expect((await browser.logIn('Otto', entered.password)).status).to.equal(303);
      expect((await browser.get('/me')).text).to.not.include('Anna');
    });

    it('are not kept where they are no text', async () => {
      const browser = await console.loggedIn();
      later(11);
      expect((await browser.post('/admin/users/add', { ...entered, name: 'a\0' })).status).to.equal(303);
      expect(await console.query('select notice from sessions')).to.deep.equal([{ notice: null }]);
    });

    it('are not kept where they are very long', async () => {
      const browser = await console.loggedIn();
      later(11);
      expect((await browser.post('/admin/users/add', { ...entered, name: 'x'.repeat(20_000) })).status).to.equal(303);
      expect(await console.query('select notice from sessions')).to.deep.equal([{ notice: null }]);
    });
  });

  describe('the record of an action', () => {
    const service = createServer();
    const hanging = useConsole(async () => {
      await once(service.listen(0, '127.0.0.1'), 'listening');
      const { port } = service.address() as AddressInfo;
      return { environment: { Console__BookmarksUrl: `http://127.0.0.1:${port}`, Console__BookmarksKey: 'a key of the tests' } };
    });
    after(() => {
      service.close();
      service.closeAllConnections();
    });

    it('has the address of a browser that left before its end', async () => {
      const browser = await hanging.loggedIn();
      const left = new AbortController();
      const asked = once(service, 'request');
      const init = { method: 'POST', body: new URLSearchParams(), signal: left.signal };
      const leaving = browser.ask('/bookmarks/x/delete', init, { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-For': '198.51.100.7' });
      await asked;
      left.abort();
      await leaving.catch(() => undefined);
      const recorded = () => hanging.query("select address, outcome from actions where area = 'bookmarks'");
      await eventually(async () => expect(await recorded()).to.deep.equal([{ address: '198.51.100.7', outcome: 'failed' }]));
    });
  });

  it('records an action once that was done, though its message cannot be kept', async () => {
    const browser = await console.loggedIn();
    await console.query('alter table sessions add constraint no_notice check (notice is null)');
    try {
      expect((await browser.post('/admin/users/add', { name: 'Anna', password: 'a password of Anna', 'role-system': 'reader' })).status).to.be.at.least(500);
    } finally {
      await console.query('alter table sessions drop constraint no_notice');
    }
    expect((await actions()).slice(1)).to.deep.equal([{ person: 'admin', area: 'system', action: '/admin/users/add', target: 'Anna', outcome: 'done' }]);
  });

  describe('an action that was refused', () => {
    it('shows what was entered, to send it once more', async () => {
      const browser = await console.loggedIn();
      const id = '0197c000-0000-7000-8000-000000000001';
      const { status, text } = await browser.post('/bookmarks/folders', { name: '"Maps" <i>', parent: id, back: '/bookmarks' });
      expect(status, 'the service is away').to.equal(502);
      expect(text).to.include('action="/bookmarks/folders"').and.include('Your entries');
      expect(text).to.match(/<input[^>]*name="name"[^>]*value="&quot;Maps&quot; &lt;i>"/);
      expect(text).to.include(`<input type="hidden" name="parent" value="${id}"/>`).and.include('<input type="hidden" name="back" value="/bookmarks"/>');
    });

    it('shows neither passwords nor fields of a person who may not do it', async () => {
      const browser = await console.loggedIn();
      const wrong = await browser.post('/admin/users/0197c000-0000-7000-8000-000000000001/password', { password: 'a new password', name: 'Anna' });
      expect(wrong.status).to.equal(404);
      expect(wrong.text).to.not.include('a new password').and.not.include('Your entries');
      await console.query(`update people set roles = '{}'`);
      const refused = await browser.post('/bookmarks/folders', { name: 'Maps', parent: '' });
      expect(refused.status).to.equal(403);
      expect(refused.text).to.not.include('Your entries');
    });
  });

  it('sends the policy of its pages with every answer, also of errors', async () => {
    const browser = await console.loggedIn();
    for (const path of ['/', '/login', '/nothing', '/health', '/assets/nothing.js']) {
      const { headers } = await browser.get(path);
      expect(headers.get('content-security-policy'), path).to.match(
        /^default-src 'none'; .*frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/,
      );
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
      expect(headers.get('referrer-policy'), path).to.equal('same-origin');
      expect(headers.get('cache-control'), path).to.equal('no-store');
    }
  });

  it('answers a script with problem documents', async () => {
    const browser = await console.loggedIn();
    const { status, headers, text } = await browser.act('/nothing');
    expect([status, headers.get('content-type')]).to.deep.equal([404, 'application/problem+json']);
    expect(JSON.parse(text)).to.include({ status: 404 });
    expect((await console.browser().act('/logout')).status).to.equal(401);
  });
});

describe('ownPath', () => {
  it('gives the path and query of a page of the console', () => {
    expect(ownPath('/bookmarks?q=a%20b&tag=c')).to.equal('/bookmarks?q=a%20b&tag=c');
    expect(ownPath('/events/../bookmarks#part')).to.equal('/bookmarks');
  });

  it('gives the fallback for anything else', () => {
    for (const given of [
      undefined,
      '',
      'x',
      '//x',
      '///x',
      '/\\x',
      '\\/x',
      'http://x',
      '/%0d\r\nx',
      '/login',
      '/login?to=/login',
      '/logout',
      `/${'x'.repeat(2000)}`,
      '/.//x',
    ])
      expect(ownPath(given, '/fallback'), String(given)).to.equal('/fallback');
  });
});

describe('readCookie', () => {
  it('finds the one cookie of its exact name', () => {
    expect(readCookie({ host: 'localhost:8087', cookie: 'a=b; signalbox=c; xsignalbox=d' })).to.equal('c');
    expect(readCookie({ host: 'console.example.org', cookie: 'signalbox=c; __Host-signalbox=d' })).to.equal('d');
    expect(readCookie({ host: '127.0.0.1.evil.example', cookie: 'signalbox=c' })).to.equal(undefined);
    expect(readCookie({})).to.equal(undefined);
  });
});
