// Logging in at a provider of OpenID Connect, against a real one.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { captureLog } from '../../platform/captured-log.ts';
import { type Browser, useConsole } from './service.ts';
import { callback, client, createProviderBrowser, publicUrl, settingsAt, startProvider, type TestProvider } from './provider.ts';

describe('console login at a provider', () => {
  let now = new Date();
  let provider: TestProvider;
  const { log, lines } = captureLog();
  const console = useConsole(async () => {
    provider = await startProvider({ redirectUris: [publicUrl + callback], logoutUris: [`${publicUrl}/login`] });
    return {
      clock: () => now,
      log,
      environment: {
        ...settingsAt(provider),
        Console__GroupRoles: 'admins=admin, hunters=system:editor, readers=reader',
      },
    };
  });
  after(() => provider.close());
  beforeEach(() => {
    now = new Date();
    provider.state.isDenied = false;
    provider.state.account = { sub: '24-7', preferred_username: 'Anna', email: 'anna@example.org', groups: ['hunters', 'others'] };
  });
  const later = (minutes: number) => void (now = new Date(now.getTime() + minutes * 60_000));
  const actions = () => console.query('select person, area, action, target, outcome from actions order by at, id');
  const people = () => console.query('select source, name, email, roles from people order by name');

  /** The way to the provider. @returns its address */
  async function begin(browser: Browser, query = ''): Promise<URL> {
    const { status, headers } = await browser.get(`/login/oidc${query}`);
    expect(status).to.equal(303);
    return new URL(headers.get('location') ?? '');
  }

  /** The whole way. @returns the console's answer to the way back */
  async function logIn(browser: Browser, { query = '', at = createProviderBrowser(), change = (url: URL) => url } = {}) {
    const back = await at.follow(change(await begin(browser, query)).href);
    return { back, answer: await browser.get(back) };
  }

  it('sends the browser there with state, nonce and a challenge, and back to the page that was asked for', async () => {
    const browser = console.browser();
    const url = await begin(browser, '?to=%2Fsystem%3Fa%3Db');
    expect(url.origin).to.equal(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).to.include({
      client_id: client.id,
      response_type: 'code',
      scope: 'openid profile email',
      redirect_uri: publicUrl + callback,
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(url.searchParams.get(name), name).to.match(/^[\w-]{43}$/);
    const answer = await browser.get(await createProviderBrowser().follow(url.href));
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([303, '/system?a=b']);
    expect((await browser.get('/me')).text).to.include('Anna');
    expect(await people()).to.deep.equal([{ source: 'oidc', name: 'Anna', email: 'anna@example.org', roles: { system: 'editor' } }]);
    expect(await actions()).to.deep.equal([{ person: 'Anna', area: 'access', action: 'log in', target: 'oidc', outcome: 'done' }]);
  });

  it('makes a new session, ends the one that the browser had, and takes its own cookie away', async () => {
    const browser = await console.loggedIn();
    const before = browser.cookies.get('signalbox');
    const { answer } = await logIn(browser);
    expect(answer.status).to.equal(303);
    expect(browser.cookies.get('signalbox')).not.to.equal(before);
    expect(browser.cookies.has('signalbox-login')).to.equal(false);
    expect(await console.query('select person_id from sessions')).to.have.length(1);
  });

  it('sends no token to the browser, and stores none', async () => {
    const browser = console.browser();
    const { back, answer } = await logIn(browser);
    const shown = JSON.stringify([back, answer.text, [...answer.headers], [...browser.cookies], (await browser.get('/me')).text]);
    expect(shown).not.to.match(/eyJ[\w-]{10,}\.|access_token|id_token/);
    const rows = await console.query(
      'select people::text from people union all select sessions::text from sessions union all select actions::text from actions',
    );
    expect(JSON.stringify(rows)).not.to.match(/eyJ[\w-]{10,}\./);
  });

  it('leads nowhere but to pages of the console', async () => {
    for (const to of ['//evil.example', 'https://evil.example', '/\\evil.example', '/login', '/logout'])
      expect((await logIn(console.browser(), { query: `?to=${encodeURIComponent(to)}` })).answer.headers.get('location'), to).to.equal('/');
  });

  it('takes no page to lead to from a cookie that was changed', async () => {
    const browser = console.browser();
    const back = await createProviderBrowser().follow((await begin(browser)).href);
    const [secret, begunAt, isAgain] = JSON.parse(Buffer.from(browser.cookies.get('signalbox-login') ?? '', 'base64url').toString()) as unknown[];
    browser.cookies.set('signalbox-login', Buffer.from(JSON.stringify([secret, begunAt, isAgain, '//evil.example'])).toString('base64url'));
    expect((await browser.get(back)).headers.get('location')).to.equal('/');
  });

  it('lets two tabs begin, and the one that ends last, too, arrive', async () => {
    const ways = async (browser: Browser) => [await begin(browser), await begin(browser)] as const;
    const statusAndPlace = async (browser: Browser, way: URL) => {
      const { status, headers } = await browser.get(await createProviderBrowser().follow(way.href));
      return [status, headers.get('location')];
    };
    const one = console.browser();
    const [before, after] = await ways(one);
    expect(await statusAndPlace(one, after)).to.deep.equal([303, '/']);
    expect(await statusAndPlace(one, before)).to.deep.equal([303, '/']);
    const other = console.browser();
    const [first, second] = await ways(other);
    expect(await statusAndPlace(other, first)).to.deep.equal([400, null]);
    expect(await statusAndPlace(other, second)).to.deep.equal([303, '/']);
  });

  describe('is refused, without a session,', () => {
    async function expectRefused(browser: Browser, path: string, { status, words }: { status: number; words: string }) {
      const answer = await browser.get(path);
      expect([answer.status, answer.headers.get('location')]).to.deep.equal([status, null]);
      expect(answer.text).to.include(words).and.include('Log in with the house');
      expect(answer.text.includes('other=true')).to.equal(/has no role|is disabled/.test(words));
      expect((await browser.get('/')).status).to.equal(303);
      expect(await console.query('select id from sessions')).to.deep.equal([]);
    }

    it('with another state', async () => {
      const browser = console.browser();
      const back = await createProviderBrowser().follow((await begin(browser)).href);
      const wrong = back.replace(/state=[\w-]+/, `state=${'x'.repeat(43)}`);
      await expectRefused(browser, wrong, { status: 400, words: 'belongs to another login' });
    });

    it('without a state', async () => {
      const browser = console.browser();
      const back = await createProviderBrowser().follow((await begin(browser)).href);
      await expectRefused(browser, back.replace(/state=[\w-]+/, ''), { status: 400, words: 'belongs to another login' });
    });

    it('with another nonce', async () => {
      const browser = console.browser();
      const url = await begin(browser);
      url.searchParams.set('nonce', 'x'.repeat(43));
      await expectRefused(browser, await createProviderBrowser().follow(url.href), { status: 400, words: 'belongs to another login' });
    });

    it('with another code verifier', async () => {
      const browser = console.browser();
      const url = await begin(browser);
      url.searchParams.set('code_challenge', 'x'.repeat(43));
      await expectRefused(browser, await createProviderBrowser().follow(url.href), { status: 400, words: 'belongs to another login' });
    });

    it('with a code that was used', async () => {
      const browser = console.browser();
      const back = await createProviderBrowser().follow((await begin(browser)).href);
      const attempt = browser.cookies.get('signalbox-login') ?? '';
      expect((await browser.get(back)).status).to.equal(303);
      await browser.post('/logout');
      await expectRefused(browser, back, { status: 400, words: 'took too long, or was begun in another browser' });
      browser.cookies.set('signalbox-login', attempt);
      await expectRefused(browser, back, { status: 400, words: 'belongs to another login' });
    });

    it('in another browser than the one that began', async () => {
      const back = await createProviderBrowser().follow((await begin(console.browser())).href);
      await expectRefused(console.browser(), back, { status: 400, words: 'begun in another browser' });
    });

    it('after ten minutes', async () => {
      const browser = console.browser();
      const back = await createProviderBrowser().follow((await begin(browser)).href);
      later(10.1);
      await expectRefused(browser, back, { status: 400, words: 'took too long' });
    });

    it('when the provider denies it', async () => {
      provider.state.isDenied = true;
      const browser = console.browser();
      await expectRefused(browser, await createProviderBrowser().follow((await begin(browser)).href), {
        status: 403,
        words: 'the house has refused the login',
      });
    });

    it('without a group that has a role, and is recorded, with the groups that came in the log', async () => {
      for (const groups of [['others'], [], undefined, 'otherwise', { a: 'admins' }, [1]]) {
        provider.state.account = { sub: '24-7', preferred_username: 'Anna', groups };
        const browser = console.browser();
        await expectRefused(browser, await createProviderBrowser().follow((await begin(browser)).href), { status: 403, words: 'has no role here' });
      }
      expect((await begin(console.browser(), '?other=true')).searchParams.get('prompt'), 'the way for another account').to.equal('login');
      expect((await actions())[0]).to.deep.equal({ person: 'Anna', area: 'access', action: 'log in', target: 'noRole', outcome: 'refused' });
      expect(lines().some(({ groups }) => isDeepStrictEqual(groups, ['others']))).to.equal(true);
      expect(await people()).to.deep.equal([]);
    });

    it('where an admin of the console has disabled the person', async () => {
      await logIn(console.browser());
      await console.query('update people set disabled_at = now()');
      await console.query('delete from sessions');
      const browser = console.browser();
      await expectRefused(browser, await createProviderBrowser().follow((await begin(browser)).href), { status: 403, words: 'is disabled here' });
    });

    it('with a cookie that is none', async () => {
      const browser = console.browser();
      const back = await createProviderBrowser().follow((await begin(browser)).href);
      for (const cookie of ['', 'x', Buffer.from('{}').toString('base64url'), Buffer.from('[1,2,3,4]').toString('base64url')]) {
        browser.cookies.set('signalbox-login', cookie);
        await expectRefused(browser, back, { status: 400, words: 'begun in another browser' });
      }
    });

    it('after a hundred of one address, of which fewer stop no other person there', async () => {
      const browser = console.browser();
      const state = (await begin(browser)).searchParams.get('state') ?? '';
      const attempt = browser.cookies.get('signalbox-login') ?? '';
      async function guess(withState: string) {
        browser.cookies.set('signalbox-login', attempt);
        return (await browser.get(`${callback}?code=guessed&state=${withState}&iss=${encodeURIComponent(provider.issuer)}`)).status;
      }
      for (let count = 0; count < 90; count++) expect(await guess('another'), `try ${count}`).to.equal(400);
      expect((await logIn(console.browser())).answer.status, 'another person').to.equal(303);
      for (let count = 90; count < 100; count++) expect(await guess(state), `try ${count}`).to.equal(400);
      expect(await guess(state)).to.equal(429);
      expect((await logIn(console.browser({ 'X-Forwarded-For': '192.0.2.77' }))).answer.status, 'another address').to.equal(303);
    });
  });

  it('gives the roles of the groups at each login, to sessions of before too, and takes all sessions with the last role', async () => {
    const [browser, other] = [console.browser(), console.browser()];
    await logIn(browser);
    expect((await browser.get('/system/actions')).status).to.equal(403);
    provider.state.account = { ...provider.state.account, groups: ['admins'] };
    await logIn(other);
    expect((await browser.get('/system/actions')).status).to.equal(200);
    provider.state.account = { ...provider.state.account, groups: [] };
    expect((await logIn(console.browser())).answer.status).to.equal(403);
    expect((await browser.get('/system')).status).to.equal(303);
    expect(await people()).to.deep.equal([{ source: 'oidc', name: 'Anna', email: 'anna@example.org', roles: {} }]);
  });

  it('lets no person look like another: a name that is taken gets the subject', async () => {
    provider.state.account = { sub: '9', preferred_username: 'ADMIN', groups: ['readers'] };
    await logIn(console.browser());
    provider.state.account = { sub: '10', preferred_username: 'Anna', groups: ['readers'] };
    await logIn(console.browser());
    provider.state.account = { sub: '11', preferred_username: 'anna', groups: ['readers'] };
    await logIn(console.browser());
    expect((await people()).map(({ name }) => name as string)).to.have.members(['ADMIN (9)', 'Anna', 'anna (11)']);
  });

  it('takes a name of any length and characters', async () => {
    provider.state.account = { sub: '12', name: `  Zoë\n<b>${'x'.repeat(500)}`, groups: 'readers' };
    const browser = console.browser();
    expect((await logIn(browser)).answer.status).to.equal(303);
    const { text } = await browser.get('/me');
    expect(text).to.include('Zoë &lt;b>xxx').and.not.include('<b>x');
    provider.state.account = { sub: '13', groups: ['readers'] };
    expect((await logIn(console.browser())).answer.status).to.equal(303);
    expect((await people()).map(({ name }) => name as string)).to.include('13');
  });

  it('takes a blank name for none, and leaves out characters that show nothing or turn others round', async () => {
    provider.state.account = { sub: '14', preferred_username: ' \u200b ', name: 'Otto', email: '\n', groups: ['readers'] };
    await logIn(console.browser());
    provider.state.account = { sub: '15', preferred_username: 'an\u202ena\ufeff', groups: ['readers'] };
    await logIn(console.browser());
    provider.state.account = { sub: '16', preferred_username: 'علی\u200cرضا', groups: ['readers'] };
    await logIn(console.browser());
    expect((await people()).map(({ name, email }) => [name as string, email as string | null])).to.have.deep.members([
      ['Otto', null],
      ['an na', null],
      ['علی\u200cرضا', null],
    ]);
  });

  describe('once more, for what needs a recent login,', () => {
    beforeEach(() => void (provider.state.account = { ...provider.state.account, groups: ['admins'] }));
    const needy = '/admin/users/new';

    it('is asked of the provider, which has to ask for the password', async () => {
      const [browser, at] = [console.browser(), createProviderBrowser()];
      await logIn(browser, { at });
      expect((await browser.get(needy)).status, 'after the login').to.equal(200);
      later(11);
      const { status, headers } = await browser.get(needy);
      expect([status, headers.get('location')]).to.deep.equal([303, `/login?to=${encodeURIComponent(needy)}&again=true`]);
      const { text } = await browser.get(headers.get('location') ?? '');
      expect(text)
        .to.include(`href="${publicUrl}/login/oidc?to=${encodeURIComponent(needy)}&amp;again=true"`)
        .and.not.include('name="password"');
      now = new Date();
      const { searchParams } = await begin(browser, `?to=${needy}&again=true`);
      expect([searchParams.get('prompt'), searchParams.get('max_age')]).to.deep.equal(['login', '600']);
      const { answer } = await logIn(browser, { at, query: `?to=${needy}&again=true` });
      expect([answer.status, answer.headers.get('location')]).to.deep.equal([303, needy]);
      expect((await browser.get(needy)).status).to.equal(200);
    });

    it('is refused where the provider did not ask, and the session stays as it was', async () => {
      const [browser, at] = [console.browser(), createProviderBrowser()];
      await logIn(browser, { at });
      later(11);
      const change = (url: URL) => {
        url.searchParams.delete('prompt');
        url.searchParams.set('max_age', '100000');
        return url;
      };
      const { answer } = await logIn(browser, { at, query: '?again=true', change });
      expect(answer.status).to.equal(403);
      expect(answer.text).to.include('did not ask for your password just now');
      expect((await browser.get('/me')).status).to.equal(200);
      expect((await browser.get(needy)).status).to.equal(303);
    });

    it('is refused where the provider does not say when it asked', async () => {
      const browser = console.browser();
      const change = (url: URL) => {
        for (const name of ['prompt', 'max_age']) url.searchParams.delete(name);
        return url;
      };
      expect((await logIn(browser, { query: '?again=true', change })).answer.status).to.equal(403);
      await logIn(browser, { change });
      expect((await browser.get('/me')).status).to.equal(200);
      expect((await browser.get(needy)).status, 'a login of unknown age').to.equal(303);
    });
  });

  it('goes on to the provider with a logout', async () => {
    const browser = console.browser();
    await logIn(browser);
    const { status, headers, text } = await browser.post('/logout');
    expect(status).to.equal(200);
    const url = new URL((headers.get('refresh') ?? '').replace('0; url=', ''));
    expect(url.origin).to.equal(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).to.deep.equal({ client_id: client.id, post_logout_redirect_uri: `${publicUrl}/login` });
    expect(text).to.include('Log out of the house');
    expect((await browser.get('/')).status).to.equal(303);
    expect((await (await console.loggedIn()).post('/logout')).status, 'of a person with a password').to.equal(303);
  });

  it('shows both ways on the login page', async () => {
    const { text } = await console.browser().get('/login?to=%2Fme');
    expect(text).to.include('name="password"').and.include(`href="${publicUrl}/login/oidc?to=%2Fme"`);
  });
});

describe('console login at a provider that has claims in its token', () => {
  let provider: TestProvider;
  const console = useConsole(async () => {
    provider = await startProvider({ redirectUris: [publicUrl + callback], hasClaimsInToken: true });
    return {
      environment: {
        Console__PublicUrl: publicUrl,
        Console__LocalLogin: 'off',
        Console__AdminPasswordHash: '',
        Console__Oidc__Issuer: provider.issuer,
        Console__Oidc__ClientId: client.id,
        Console__Oidc__ClientSecret: client.secret,
        Console__Oidc__GroupsClaim: 'realm_access.roles',
        Console__GroupRoles: 'operators=admin',
      },
    };
  });
  after(() => provider.close());

  it('reads groups that are within another claim, and does not ask for more', async () => {
    provider.state.account = { sub: '1', preferred_username: 'Otto', realm_access: { roles: ['operators'] } };
    provider.state.asked = [];
    const browser = console.browser();
    const { headers } = await browser.get('/login/oidc');
    expect((await browser.get(await createProviderBrowser().follow(headers.get('location') ?? ''))).status).to.equal(303);
    expect(provider.state.asked.filter((asked) => asked.includes('/me'))).to.deep.equal([]);
    expect((await browser.get('/system/actions')).status).to.equal(200);
  });

  it('takes no name and password while these are switched off', async () => {
    const browser = console.browser();
    const { text } = await browser.get('/login');
    expect(text)
      .to.include(`Log in with ${new URL(provider.issuer).host}`)
      .and.not.include('name="password"');
    const answer = await browser.logIn();
    expect(answer.status).to.equal(403);
    expect(answer.text).to.include('switched off');
  });
});
