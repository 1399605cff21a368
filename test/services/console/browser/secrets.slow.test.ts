// Secrets in Chromium, by keys and by mouse, on a real service: values that go in, and none that comes out.
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { chromium } from '../../../support/chromium.ts';
import { describeWith } from '../../../support/need.ts';
import { consume, manage, newApplication, putSecret, secretValue, type TestApplication, useService } from '../../secrets/service.ts';
import { useConsole } from '../service.ts';
import { accessibilityFaults } from './accessibility.ts';
import { openAs } from './sign-in.ts';

const consoleToken = secretValue('the token of the console');
const hostile = `<img src=x onerror=alert(1)> ${'a long name '.repeat(12)}`.trim();

describeWith(chromium, 'secrets in a browser', () => {
  const secrets = useService({ environment: { Console__SecretsToken: consoleToken } });
  const console = useConsole(async () => ({ environment: { Console__SecretsUrl: secrets.url, Console__SecretsToken: consoleToken } }));
  let app: TestApplication;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeEach(async () => {
    app = await newApplication(secrets.url);
    for (const name of ['Staging', 'Production']) await manage(secrets.url, 'POST', `/${app.slug}/environments`, { name });
    await putSecret(secrets.url, app.slug, 'db', { value: secretValue('browser') });
    complaints = [];
    context = await openAs(await console.loggedIn(), console.url, complaints);
    page = await context.newPage();
  });
  afterEach(() => context.close());
  const valueOf = async (name: string, environment: string) =>
    Object((await consume(secrets.url, app.key, `/secrets/${name}?environment=${environment}`)).body).value;
  const focused = (id: string) => page.waitForFunction(`document.activeElement?.id === ${JSON.stringify(id)}`);

  it('adds a secret to two of three environments by keys, and shows which lacks it', async () => {
    await page.goto('/secrets');
    await page.keyboard.press('/');
    await page.keyboard.type(app.slug);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/secrets?q=*');
    for (const key of ['j', 'o']) await page.keyboard.press(key);
    await page.waitForURL(`**/secrets/${app.slug}`);
    await page.keyboard.press('n');
    await focused('field-name');
    await page.keyboard.type('api-key');
    await page.keyboard.press('Tab');
    const value = secretValue('typed');
    for (const key of ['Tab', 'Space', 'Tab', 'Space', 'Tab', 'Tab']) await page.keyboard.press(key);
    await focused('field-value');
    await page.keyboard.type(value);
    for (const key of ['Tab', 'Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
    await page.getByText('A new version is in local and staging').waitFor();
    expect(await page.content()).not.to.include(value);
    expect([await valueOf('api-key', 'local'), await valueOf('api-key', 'staging'), await valueOf('api-key', 'production')]).to.deep.equal([
      value,
      value,
      undefined,
    ]);
    await page.goto(`/secrets/${app.slug}?lacking=true`);
    const cell = page.getByRole('row', { name: 'api-key' }).getByRole('link', { name: 'no value' });
    expect(await cell.count()).to.equal(1);
    await cell.click();
    expect(await page.getByRole('checkbox', { name: 'production' }).isChecked()).to.equal(true);
    expect(complaints).to.deep.equal([]);
  });

  it('masks what is typed until the person asks to see it', async () => {
    await page.goto(`/secrets/${app.slug}/db`);
    await page.keyboard.press('n');
    await focused('field-environment');
    const masking = () => page.evaluate('getComputedStyle(document.querySelector("#field-value")).webkitTextSecurity');
    expect(await masking()).to.equal('disc');
    await page.getByRole('checkbox', { name: 'Show it while I type' }).press('Space');
    expect(await masking()).to.equal('none');
  });

  it('begins at what is wrong where a form comes back, and says that the value is to be typed again', async () => {
    await page.goto(`/secrets/${app.slug}?part=new`);
    await page.getByLabel('Name', { exact: true }).fill('late');
    await page.locator('[name=value]').fill('a value');
    await page.getByRole('button', { name: 'Add a secret' }).click();
    await page.getByText('Type it once more').waitFor();
    expect(await page.evaluate('document.activeElement.innerText')).to.include('Choose at least one environment.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('location.hash')).to.equal('#field-environment');
  });

  it('adds a version by mouse, undoes it by a key, copies and restores', async () => {
    await page.goto(`/secrets/${app.slug}/db`);
    const before = await valueOf('db', 'local');
    await page.getByRole('checkbox', { name: 'local' }).click();
    await page.locator('#field-value').fill(secretValue('second'));
    await page.getByRole('button', { name: 'Add the version' }).click();
    await page.getByText('A new version is in local').waitFor();
    await page.keyboard.press('u');
    await page.getByText('The version before is served again in local').waitFor();
    expect(await valueOf('db', 'local')).to.equal(before);
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('Version 2 in local is enabled').waitFor();
    await page.getByLabel('To', { exact: true }).selectOption('production');
    await page.getByRole('button', { name: 'Copy the value' }).click();
    await page.getByText('The value of local is version 1 in production').waitFor();
    expect(await valueOf('db', 'production'))
      .to.equal(await valueOf('db', 'local'))
      .and.not.to.equal(before);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Version 1 is back as version 3').waitFor();
    expect(await valueOf('db', 'local')).to.equal(before);
    expect(complaints).to.deep.equal([]);
  });

  it('rotates a key by keyboard: the new one is shown once, the former one is deleted by its name', async () => {
    await page.goto(`/secrets/${app.slug}?part=keys`);
    await page.getByRole('textbox', { name: 'Name of the key' }).focus();
    await page.keyboard.type('blue');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New key' }).waitFor();
    const key = await page.getByLabel('New key').innerText();
    expect((await consume(secrets.url, key, '/secrets?environment=local')).status).to.equal(200);
    await page.getByRole('link', { name: 'I have kept it' }).press('Enter');
    await page.getByText('blue', { exact: true }).waitFor();
    expect(await page.content()).not.to.include(key);
    const former = page.getByRole('listitem').filter({ hasText: 'without a name' });
    await former.locator('summary').press('Enter');
    await former.getByRole('textbox').fill((await former.locator('code').first().innerText()).trim().slice(0, 4));
    await page.keyboard.press('Enter');
    await page.getByText(/^The key “[0-9a-f]{16}” is deleted$/).waitFor();
    expect((await consume(secrets.url, app.key, '/secrets?environment=local')).status).to.equal(401);
    expect((await consume(secrets.url, key, '/secrets?environment=local')).status).to.equal(200);
  });

  it('finds who changed a secret', async () => {
    await page.goto(`/secrets/${app.slug}/db`);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Version 1 in local is disabled').waitFor();
    await page.getByRole('link', { name: 'Audit' }).click();
    const [, row] = await page.getByRole('row').all();
    expect(await row?.innerText())
      .to.include('version disabled')
      .and.include('admin');
  });

  it('imports a file', async () => {
    await page.goto(`/secrets/${app.slug}`);
    await page.getByRole('link', { name: 'Import .env' }).click();
    const value = secretValue('from a file').replaceAll(' ', '_');
    await page.getByLabel('File').setInputFiles({ name: '.env', mimeType: 'text/plain', buffer: Buffer.from(`A_TOKEN=${value}\nEMPTY=\n`) });
    await page.getByLabel('Environment').selectOption('staging');
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByText('1 line is imported').waitFor();
    expect(await page.content()).not.to.include(value);
    expect(await valueOf('A_TOKEN', 'staging')).to.equal(value);
  });

  for (const theme of ['light', 'dark'] as const) {
    for (const width of [320, 1280]) {
      it(`is accessible and fits the window: ${theme}, ${width} px`, async () => {
        await putSecret(secrets.url, app.slug, hostile.slice(0, 200), {
          value: secretValue('odd'),
          expiresAt: new Date(Date.now() + 5 * 86_400_000).toISOString(),
        });
        await manage(secrets.url, 'POST', `/${app.slug}/configurations`, { environmentSlug: 'local', key: hostile, value: hostile.repeat(3) });
        await manage(secrets.url, 'POST', `/${app.slug}/keys`, { name: hostile.slice(0, 200) });
        await page.emulateMedia({ colorScheme: theme });
        await page.setViewportSize({ width, height: 900 });
        const own = [
          '',
          '?q=nothing',
          '?part=new',
          '?part=configuration',
          '?part=keys',
          '?part=import',
          '/db',
          `/${encodeURIComponent(hostile.slice(0, 200))}`,
        ];
        for (const path of ['/secrets', '/secrets/new', '/secrets/audit', ...own.map((rest) => `/secrets/${app.slug}${rest}`)]) {
          await page.goto(path);
          expect(await accessibilityFaults(page), path).to.deep.equal([]);
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
        }
        expect(complaints).to.deep.equal([]);
      });
    }
  }
});
