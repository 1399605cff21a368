// A provider of OpenID Connect that is away, or has new keys.
import { expect } from 'chai';
import { exportJWK, generateKeyPair } from 'jose';
import { useConsole } from './service.ts';
import { callback, client, createProviderBrowser, publicUrl, settingsAt, startProvider, type TestProvider } from './provider.ts';

describe('console whose provider is away', () => {
  let provider: TestProvider;
  let isUp = true;
  let now = new Date();
  const console = useConsole(async () => {
    provider = await startProvider({ redirectUris: [publicUrl + callback] });
    return {
      clock: () => now,
      environment: { ...settingsAt(provider), Console__GroupRoles: '*=reader' },
    };
  });
  const close = async () => {
    if (isUp) await provider.close();
    isUp = false;
  };
  after(close);

  it('says so on the login page, and takes passwords on', async () => {
    const begun = console.browser();
    const { headers } = await begun.get('/login/oidc');
    const back = await createProviderBrowser().follow(headers.get('location') ?? '');
    await close();
    now = new Date(now.getTime() + 60_000);
    expect((await console.browser().get('/login/oidc')).status, 'the way there').to.equal(502);
    const ended = await begun.get(back);
    expect(ended.status).to.equal(502);
    expect(ended.text).to.include('the house does not answer').and.include('name="password"');
    expect((await console.browser().logIn()).status).to.equal(303);
  });
});

describe('console whose provider has new keys', () => {
  let provider: TestProvider;
  const start = async (kid: string, port = 0) => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const keys = [{ ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' }];
    return startProvider({ redirectUris: [publicUrl + callback], port, keys });
  };
  const console = useConsole(async () => {
    provider = await start('first');
    return {
      environment: { ...settingsAt(provider), Console__GroupRoles: '*=reader' },
    };
  });
  after(() => provider.close());

  it('takes the second login after them, however lately it asked for the keys', async () => {
    async function logIn() {
      const browser = console.browser();
      const { headers } = await browser.get('/login/oidc');
      return browser.get(await createProviderBrowser().follow(headers.get('location') ?? ''));
    }
    expect((await logIn()).status).to.equal(303);
    await provider.close();
    provider = await start('second', Number(new URL(provider.issuer).port));
    const { status, text } = await logIn();
    expect(status).to.equal(502);
    expect(text).to.include('the house does not answer as it should');
    expect((await logIn()).status).to.equal(303);
  });
});

describe('console that starts while its provider is away', () => {
  const console = useConsole({
    environment: {
      Console__PublicUrl: publicUrl,
      Console__Oidc__Issuer: 'http://127.0.0.1:9/realms/house',
      Console__Oidc__ClientId: client.id,
      Console__GroupRoles: '*=reader',
    },
  });

  it('answers the way to the provider with a page that says so, each time', async () => {
    for (let count = 0; count < 2; count++) {
      const { status, text } = await console.browser().get('/login/oidc?to=/me');
      expect(status).to.equal(502);
      expect(text).to.include('127.0.0.1:9 does not answer as it should').and.include('name="password"').and.include('value="/me"');
    }
  });
});
