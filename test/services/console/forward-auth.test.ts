// People whom a proxy has logged in: its headers are believed from its own socket only.
import http from 'node:http';
import { expect } from 'chai';
import { useConsole } from './service.ts';

const environment = {
  Console__ForwardAuth__Proxies: '127.0.0.1, 10.0.0.0/8',
  Console__ForwardAuth__LogoutUrl: 'https://auth.example.org/logout',
  Console__GroupRoles: 'admins=admin, hunters=system:editor, zoë=reader',
};
const anna = { 'Remote-User': 'anna', 'Remote-Groups': 'hunters,others' };

describe('console behind a proxy that logs people in', () => {
  let now = new Date('2026-03-15T12:00:00Z');
  const console = useConsole({ clock: () => now, environment });
  const later = (minutes: number) => void (now = new Date(now.getTime() + minutes * 60_000));
  const actions = () => console.query('select person, action, target, outcome from actions order by at, id');
  const people = () => console.query('select source, subject, name, roles from people');

  /** A browser that has followed the way from a page to the login and back. */
  async function entered(headers: Readonly<Record<string, string>>) {
    const browser = console.browser(headers);
    const { status } = await browser.get('/login?to=%2Fme');
    if (status !== 303) throw new Error(`no one was logged in: ${status}`);
    return browser;
  }

  it('logs in whom it names, with the roles of the groups, without a question', async () => {
    const browser = console.browser(anna);
    const first = await browser.get('/system?a=b');
    expect([first.status, first.headers.get('location')]).to.deep.equal([303, '/login?to=%2Fsystem%3Fa%3Db']);
    const second = await browser.get('/login?to=%2Fsystem%3Fa%3Db');
    expect([second.status, second.headers.get('location')]).to.deep.equal([303, '/system?a=b']);
    expect((await browser.get('/system')).status).to.equal(200);
    expect((await browser.get('/system/actions')).status).to.equal(403);
    expect(await people()).to.deep.equal([{ source: 'proxy', subject: 'anna', name: 'anna', roles: { system: 'editor' } }]);
    expect(await actions()).to.deep.equal([{ person: 'anna', action: 'log in', target: 'proxy', outcome: 'done' }]);
  });

  it('believes the groups of each request', async () => {
    const browser = await entered(anna);
    expect((await browser.get('/system/actions', { 'Remote-Groups': 'admins' })).status).to.equal(200);
    expect((await browser.get('/system/actions')).status).to.equal(403);
    expect((await browser.get('/me', { 'Remote-Groups': 'others' })).status).to.equal(303);
  });

  it('takes a session for nothing where the proxy names another person, or none', async () => {
    const browser = await entered(anna);
    expect((await browser.get('/me', { 'Remote-User': 'otto' })).status).to.equal(303);
    expect((await browser.get('/me', { 'Remote-User': '' })).status).to.equal(303);
    const stolen = console.browser({ Cookie: `signalbox=${browser.cookies.get('signalbox')}` });
    expect((await stolen.get('/me')).status).to.equal(303);
    expect((await browser.get('/me')).status).to.equal(200);
  });

  it('refuses a person without a role, by the page that says so, and records it', async () => {
    for (const groups of ['others', '', ',,']) {
      const { status, text } = await console.browser({ 'Remote-User': 'anna', 'Remote-Groups': groups }).get('/login');
      expect(status, groups).to.equal(403);
      expect(text).to.include('has no role here');
    }
    expect((await actions())[0]).to.deep.equal({ person: 'anna', action: 'log in', target: 'noRole', outcome: 'refused' });
    expect(await people()).to.deep.equal([]);
  });

  it('refuses a person whom an admin has disabled', async () => {
    await entered(anna);
    await console.query('update people set disabled_at = now()');
    const { status, text } = await console.browser(anna).get('/login');
    expect(status).to.equal(403);
    expect(text).to.include('is disabled here');
  });

  it('reads names and groups in UTF-8, and groups with bars', async () => {
    const latin = (text: string) => Buffer.from(text).toString('latin1');
    const browser = await entered({ 'Remote-User': latin('Ünal'), 'Remote-Groups': latin('a|zoë') });
    expect((await browser.get('/me')).text).to.include('Ünal');
  });

  it('takes the joiners of Persian, of Hindi and of emoji, and refuses those that show nothing', async () => {
    const latin = (text: string) => Buffer.from(text).toString('latin1');
    for (const user of ['علی\u200cرضا', 'रक्\u200dष', 'രാജന്\u200d', '👩🏽\u200d🚒', '👨\u200d👩\u200d👧', '❤\ufe0f\u200d🔥', '葛\u{e0100}城', 'ᠠ\u180b']) {
      const { text } = await (await entered({ ...anna, 'Remote-User': latin(user) })).get('/me');
      expect(text).to.include(user);
    }
    for (const user of [
      'an\u200dna',
      'anna\u3164',
      'an\u034fna',
      'anna\u2800',
      'anna\ufe0f',
      'anna\u{e0100}',
      '葛\ufe00\u{e0100}',
      'anna\u200c',
      '\u200danna',
      'e\u0301\u200dva',
      'علی\u200c',
      'علی\u200c\u200cرضا',
      'علی\u200canna',
      '👩\u200danna',
    ])
      expect((await console.browser({ ...anna, 'Remote-User': latin(user) }).get('/login')).status, encodeURI(user)).to.equal(400);
  });

  it('refuses a name that may be two: with a comma, too long, or no UTF-8', async () => {
    const browser = await entered(anna);
    for (const user of ['anna,otto', 'anna, ', 'x'.repeat(201), '\u00ff', Buffer.from('an\u202ena').toString('latin1')]) {
      expect((await console.browser({ ...anna, 'Remote-User': user }).get('/login')).status, user.slice(0, 20)).to.equal(400);
      expect((await browser.get('/me', { 'Remote-User': user })).status, `${user.slice(0, 20)} with a session`).to.equal(400);
    }
    expect(await people()).to.have.length(1);
  });

  it('gives no two persons one name, also when they come at the same moment', async () => {
    const users = ['anna', 'Anna', 'ANNA', 'aNNa', 'annA'];
    const answers = await Promise.all(users.map((user) => console.browser({ ...anna, 'Remote-User': user }).get('/login')));
    expect(answers.map(({ status }) => status)).to.deep.equal(users.map(() => 303));
    const names = (await people()).map(({ name }) => (name as string).toLowerCase());
    expect(names).to.have.members(['anna', 'anna (proxy)', 'anna (proxy 2)', 'anna (proxy 3)', 'anna (proxy 4)']);
  });

  it('refuses a header that came twice: a client may have sent one of the two', async () => {
    const { hostname, port } = new URL(console.url);
    const ask = (headers: string[]) =>
      new Promise<number | undefined>((resolve, reject) => {
        http
          .get({ hostname, port, path: '/login', headers: ['Host', `${hostname}:${port}`, ...headers] }, ({ statusCode }) => resolve(statusCode))
          .on('error', reject);
      });
    expect(await ask(['Remote-User', 'otto', 'Remote-User', 'anna', 'Remote-Groups', 'hunters'])).to.equal(400);
    expect(await ask(['Remote-User', 'anna', 'Remote-Groups', 'admins', 'remote-groups', 'hunters'])).to.equal(400);
    expect(await ask(['Remote-User', 'anna', 'Remote-Groups', 'hunters'])).to.equal(303);
    expect(await people()).to.have.length(1);
  });

  it('ends the oldest sessions of a person beyond fifty', async () => {
    const first = await entered(anna);
    const second = await entered(anna);
    const otto = await entered({ ...anna, 'Remote-User': 'otto' });
    for (let count = 0; count < 49; count++) await entered(anna);
    const statuses = await Promise.all([first, second, otto].map(async (browser) => (await browser.get('/me')).status));
    expect(statuses).to.deep.equal([303, 200, 200]);
    expect(await console.query('select id from sessions')).to.have.length(51);
  });

  it('asks for a confirmation where a recent login is needed, and gives a new session', async () => {
    const browser = await entered({ ...anna, 'Remote-Groups': 'admins' });
    const token = browser.cookies.get('signalbox');
    later(11);
    const { headers } = await browser.get('/admin/users/new');
    expect((await browser.get(headers.get('location') ?? '')).text)
      .to.include('action="/login/proxy"')
      .and.not.include('name="password"');
    const foreign = await browser.post('/login/proxy', { to: '/admin/users/new' }, { 'Sec-Fetch-Site': 'cross-site' });
    expect(foreign.status).to.equal(403);
    const answer = await browser.post('/login/proxy', { to: '/admin/users/new' });
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([303, '/admin/users/new']);
    expect(browser.cookies.get('signalbox')).not.to.equal(token);
    expect((await browser.get('/admin/users/new')).status).to.equal(200);
  });

  it('gives no one else that way to a recent login', async () => {
    const browser = await console.loggedIn();
    later(11);
    expect((await browser.post('/login/proxy', { to: '/' })).status).to.equal(403);
    expect((await browser.get('/admin/users/new')).status).to.equal(303);
  });

  it('goes on to the logout of the proxy', async () => {
    const { status, headers, text } = await (await entered(anna)).post('/logout');
    expect([status, headers.get('refresh')]).to.deep.equal([200, '0; url=https://auth.example.org/logout']);
    expect(text).to.include('Log out of auth.example.org');
  });

  it('lets a person with a password in through it', async () => {
    const browser = console.browser(anna);
    expect((await browser.logIn()).status).to.equal(303);
    expect((await browser.get('/me')).text).to.include('admin');
  });
});

describe('console with a proxy at another address', () => {
  // TrustedProxies of the tests has the address of this process, so that X-Forwarded-For is believed: it must not count.
  const console = useConsole({ environment: { ...environment, Console__ForwardAuth__Proxies: '192.0.2.1' } });

  it('believes no header of another socket, whatever X-Forwarded-For says', async () => {
    for (const forwarded of ['192.0.2.1', '192.0.2.1, 192.0.2.1', '198.51.100.1']) {
      const { status, text } = await console.browser({ ...anna, 'X-Forwarded-For': forwarded }).get('/login');
      expect(status).to.equal(200);
      expect(text).to.include('name="password"');
    }
    expect(await console.query('select id from people')).to.deep.equal([]);
  });
});

describe('console without such a proxy', () => {
  const console = useConsole();

  it('believes no header, and keeps no session of its people', async () => {
    expect((await console.browser(anna).get('/login')).status).to.equal(200);
    const browser = await console.loggedIn();
    await console.query(`update people set source = 'proxy', subject = 'anna'`);
    expect((await browser.get('/me', anna)).status).to.equal(303);
  });
});
