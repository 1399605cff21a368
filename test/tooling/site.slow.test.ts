// The documentation's site in a real browser: versions beside each other, contents, copying, the search, light and dark, on a phone and on a desk.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { root } from '../../scripts/site/pages.ts';
import { accessibilityFaults } from '../services/console/browser/accessibility.ts';
import { chromium, sharedChromium } from '../support/chromium.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { eventually } from '../support/wait.ts';

const kinds: Readonly<Record<string, string>> = { html: 'text/html', css: 'text/css', js: 'text/javascript', json: 'application/json', png: 'image/png' };

/** Files of a folder over HTTP. */
async function serve(folder: string) {
  const server = createServer(({ url = '/' }, response) => {
    const path = join(folder, normalize(decodeURIComponent(new URL(url, 'http://here').pathname)));
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return void response.writeHead(404).end();
    response.writeHead(200, { 'Content-Type': kinds[path.split('.').at(-1) ?? ''] ?? 'text/plain' }).end(readFileSync(path));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

const { version }: { readonly version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

describeWith(chromium, 'the site', function () {
  this.timeout(300_000);
  const folder = temporaryDirectory('versions');
  let server: Awaited<ReturnType<typeof serve>>;
  let context: BrowserContext;
  let page: Page;
  const errors: string[] = [];

  before(async () => {
    execFileSync(process.execPath, [join(root, 'scripts/site.ts'), join(folder, version)]);
    for (const other of ['10.0.0-rc.2', '10.0.0-rc.1', '9.9.9']) {
      cpSync(join(folder, version), join(folder, other), { recursive: true });
      for (const name of ['install', 'index']) {
        const file = join(folder, other, `docs/${name}.html`);
        writeFileSync(file, readFileSync(file, 'utf8').replace(`<option>${version}</option>`, `<option>${other}</option>`));
      }
    }
    rmSync(join(folder, '9.9.9/docs/scoring.html')); // the newer version lacks a page
    writeFileSync(join(folder, 'versions.json'), JSON.stringify(['10.0.0-rc.2', '10.0.0-rc.1', '9.9.9', version]));
    server = await serve(folder);
  });
  beforeEach(async () => {
    context = await (await sharedChromium()).newContext({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] });
    context.setDefaultTimeout(120_000);
    page = await context.newPage();
    page.on('pageerror', ({ message }) => errors.push(message));
  });
  afterEach(async () => {
    await context.close();
    expect(errors.splice(0)).to.deep.equal([]);
  });
  after(() => server?.close());
  const visit = (path: string) => page.goto(`${server.url}/${version}/docs/${path}`);

  it('says that its version is not the newest, and leads to the same page of that', async () => {
    await visit('install.html');
    await page.getByText(`These pages are about ${version}. The newest version is 9.9.9.`).waitFor();
    await page.getByLabel('Version').selectOption('9.9.9');
    await page.waitForURL('**/9.9.9/docs/install.html');
    await page.getByLabel('Version').getByRole('option', { name: version }).waitFor({ state: 'attached' });
    expect(await page.getByText('The newest version is').count()).to.equal(0);
    expect(await page.getByLabel('Version').inputValue()).to.equal('9.9.9');
  });

  it('offers a pre-release as the newest to readers of an older pre-release only', async () => {
    const said = async (of: string) => {
      await page.goto(`${server.url}/${of}/docs/install.html`);
      await page.getByLabel('Version').locator('option').nth(3).waitFor({ state: 'attached' });
      return page.locator('#older').textContent();
    };
    expect(await said('10.0.0-rc.1')).to.equal('These pages are about 10.0.0-rc.1. The newest version is 10.0.0-rc.2.');
    for (const newest of ['10.0.0-rc.2', '9.9.9']) expect(await said(newest), newest).to.equal('');
    await page.getByLabel('Version').selectOption('10.0.0-rc.2');
    await page.waitForURL('**/10.0.0-rc.2/docs/install.html');
  });

  it('leads by the sentence on the newest version, too', async () => {
    await visit('install.html#2-values');
    await page.getByRole('link', { name: '9.9.9' }).click();
    await page.waitForURL('**/9.9.9/docs/install.html#2-values');
  });

  it('leads to the index of a version that lacks the page', async () => {
    await visit('scoring.html');
    await page.getByLabel('Version').locator('option').nth(1).waitFor({ state: 'attached' });
    await page.getByLabel('Version').selectOption('9.9.9');
    await page.waitForURL('**/9.9.9/docs/index.html');
  });

  it('shows its own version where there are no others', async () => {
    await page.goto(`file://${join(folder, version, 'docs/install.html')}`);
    expect(await page.getByLabel('Version').inputValue()).to.equal(version);
    await page.getByRole('searchbox').fill('redeliver');
    await page.locator('#found a').first().waitFor();
  });

  it('copies a block', async () => {
    await visit('follow-events.html');
    const block = page.locator('main pre').first();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(await block.locator('code').textContent());
  });

  for (const width of [390, 1440])
    it(`leads to the parts of a page, and to other pages: ${width} px`, async () => {
      await page.setViewportSize({ width, height: 844 });
      await visit('install.html');
      for (const [name, label] of [
        ['On this page', 'How large'],
        ['Pages', 'Upgrade'],
      ] as const) {
        const list = page.locator('details', { has: page.locator('summary', { hasText: name }) });
        if (width < 1000) await list.locator('summary').click();
        await list.getByRole('link', { name: label, exact: true }).click();
      }
      await page.waitForURL('**/docs/upgrade.html');
    });

  it('finds a section, by the keyboard alone', async () => {
    await visit('index.html');
    await page.keyboard.press('/');
    await page.keyboard.type('follow new events');
    await page.locator('#found a').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/follow-events.html#follow-new-events');
  });

  it('remembers light or dark', async () => {
    await visit('index.html');
    const colour = () => page.evaluate(`getComputedStyle(document.body).backgroundColor`);
    const light = await colour();
    await page.getByRole('button', { name: 'Light or dark' }).click();
    await eventually(async () => expect(await colour()).not.to.equal(light));
    const dark = await colour();
    await page.reload();
    expect(await colour()).to.equal(dark);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [390, 1440])
      it(`is accessible and no wider than the screen: ${colorScheme}, ${width} px`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 844 });
        for (const name of ['index', 'install', 'settings', 'follow-events']) {
          await visit(`${name}.html`);
          expect(await accessibilityFaults(page), name).to.deep.equal([]);
          expect(await page.evaluate('document.documentElement.scrollWidth'), name).to.be.at.most(width);
        }
      });
});
