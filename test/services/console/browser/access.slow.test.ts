// Logging in and the people of the console, in Chromium: by password, at a real provider, by keys, with axe in both themes.
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { chromium, sharedChromium } from '../../../support/chromium.ts';
import { describeWith } from '../../../support/need.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { startIntake, type TestIntake } from '../areas/intake.ts';
import { client, startProvider, type TestProvider } from '../provider.ts';
import { password, useConsole } from '../service.ts';
import { accessibilityFaults } from './accessibility.ts';

describeWith(chromium, 'access in a browser', () => {
  let provider: TestProvider;
  let intake: TestIntake;
  let url: string;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  const console = useConsole(async () => {
    const port = await freePort();
    url = `http://localhost:${port}`;
    intake = await startIntake();
    provider = await startProvider({ redirectUris: [`${url}/login/oidc/callback`], logoutUris: [`${url}/login`] });
    return {
      port,
      heartbeatMs: 600_000,
      environment: {
        ...intake.settings,
        Console__PublicUrl: url,
        Console__Oidc__Issuer: provider.issuer,
        Console__Oidc__Name: 'Keycloak of the house',
        Console__Oidc__ClientId: client.id,
        Console__Oidc__ClientSecret: client.secret,
        Console__GroupRoles: 'admins=admin, readers=reader',
      },
    };
  });
  after(async () => {
    await provider.close();
    await intake.close();
  });
  afterEach(() => context.close());

  async function open(theme: 'light' | 'dark' = 'light'): Promise<void> {
    complaints = [];
    provider.state.account = { sub: '1', preferred_username: 'Anna', email: 'anna@example.org', groups: ['admins'] };
    context = await (await sharedChromium()).newContext({ baseURL: url, viewport: { width: 1440, height: 900 }, colorScheme: theme });
    page = await context.newPage();
    // The provider's own pages are none of ours.
    page.on('console', (message) => message.location().url.startsWith(url) && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
  }
  async function logIn(name = 'admin', given = password): Promise<void> {
    await page.goto('/login');
    await page.fill('[name=name]', name);
    await page.fill('[name=password]', given);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/');
  }
  async function add(name: string): Promise<void> {
    await page.goto('/admin/users/new');
    await page.fill('[name=name]', name);
    await page.fill('main [name=password]', 'a password of a person');
    await page.getByRole('combobox', { name: 'System' }).selectOption('reader');
    await page.getByRole('button', { name: 'Add a person' }).click();
    await page.getByText(`${name} can log in now`).waitFor();
  }

  it('logs in at the provider by keys, to the page that was asked for, and out of it', async () => {
    await open();
    await page.goto('/me?a=b');
    await page.waitForURL('**/login?to=*');
    await page.getByRole('link', { name: 'Log in with Keycloak of the house' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/me?a=b');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    const cookies = await context.cookies(url);
    expect(cookies.map(({ name }) => name)).to.deep.equal(['signalbox']);
    expect(JSON.stringify(await context.storageState())).to.not.match(/eyJ[\w-]{10,}\./);
    await page.getByRole('button', { name: 'Menu: Anna' }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(`${provider.issuer}/session/end?**`);
    await page.goto('/me');
    await page.waitForURL('**/login?to=*');
    expect(complaints).to.deep.equal([]);
  });

  it('says why the provider’s person is not let in, and lets another way be taken', async () => {
    await open();
    provider.state.account = { sub: '2', preferred_username: 'Otto', groups: ['others'] };
    await page.goto('/login?to=%2Fme');
    await page.getByRole('link', { name: 'Log in with Keycloak of the house' }).click();
    await page.getByRole('alert').getByText('has no role here').waitFor();
    await page.fill('[name=name]', 'admin');
    await page.fill('[name=password]', password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/me');
  });

  it('adds a person by keys, changes roles, undoes it, disables and deletes by name', async () => {
    await open();
    await logIn();
    await page.getByRole('button', { name: 'Menu: admin' }).click();
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('heading', { name: 'People' }).waitFor();
    await page.keyboard.press('n');
    await page.waitForURL('**/admin/users/new');
    await page.keyboard.type('Anna');
    await page.keyboard.press('Tab');
    await page.keyboard.type('a password of a person');
    await page.keyboard.press('Enter');
    await page.getByText('Anna can log in now').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.getByRole('heading', { name: 'Anna' }).waitFor();
    await page.getByRole('combobox', { name: 'Links' }).selectOption('editor');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The roles of Anna are changed').waitFor();
    await page.keyboard.press('u');
    await eventually(async () => expect(await console.query(`select roles from people where name = 'Anna'`)).to.deep.equal([{ roles: {} }]));
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Anna is disabled').waitFor();
    await page.getByText('Delete', { exact: true }).first().click();
    await page.fill('[name=confirm]', 'Anna');
    await page.keyboard.press('Enter');
    await page.getByText('Anna is deleted').waitFor();
    expect(await console.query(`select name from people`)).to.deep.equal([{ name: 'admin' }]);
    expect(complaints).to.deep.equal([]);
  });

  it('leads a list that follows to the login once another page has logged out', async () => {
    await open();
    await logIn();
    await page.goto('/events');
    await page.locator('[data-live-bar] output', { hasText: 'Following' }).waitFor();
    const other = await context.newPage();
    await other.goto('/me');
    await other.getByRole('button', { name: 'Menu: admin' }).click();
    await other.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL('**/login?to=%2Fevents');
  });

  it('stops a list that is refused, and says what to do', async () => {
    await open();
    await logIn();
    await page.goto('/events');
    await page.locator('[data-live-bar] output', { hasText: 'Following' }).waitFor();
    await page.keyboard.press('f');
    await console.query('delete from sessions');
    let asked = 0;
    page.on('request', (request) => (asked += request.url().includes('/events/follow') ? 1 : 0));
    await page.keyboard.press('f');
    await page.locator('[data-live-bar] a', { hasText: 'Log in again' }).waitFor();
    expect(asked, 'the source, and the question why').to.equal(2);
    await page.locator('[data-live-bar] a').click();
    await page.waitForURL('**/login?to=%2Fevents');
  });

  for (const theme of ['light', 'dark'] as const) {
    it(`is accessible and fits the window, ${theme}`, async () => {
      await open(theme);
      const picturesTo = process.env['SIGNALBOX_PICTURES'];
      async function look(name: string): Promise<void> {
        for (const width of [320, 390, 768, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          expect(await page.evaluate('document.documentElement.scrollWidth'), `${name} at ${width}`).to.be.at.most(width);
          if (width === 320 || width === 1440) expect(await accessibilityFaults(page), `${name} at ${width}`).to.deep.equal([]);
          if (picturesTo !== undefined && width !== 320) await page.screenshot({ path: `${picturesTo}/${name}-${width}-${theme}.png`, fullPage: true });
        }
      }
      await page.goto('/login');
      await look('login');
      provider.state.account = { sub: '2', preferred_username: 'Otto', groups: [] };
      await page.goto('/login/oidc');
      await look('refused');
      await logIn();
      await page.goto('/login?to=%2Fme&again=true');
      await look('again');
      await add('Anna with a name of many words');
      await page.goto('/admin/users');
      await look('people');
      await page.goto('/admin/users/new');
      await look('new');
      await page.goto('/admin/users');
      await page.getByRole('link', { name: 'Anna with' }).click();
      await look('person');
      expect(complaints.filter((text) => !text.includes('403'))).to.deep.equal([]);
    });
  }
});
