// Bookmarks by keys alone, in Chromium, on a real catalogue.
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { apiKey, migrations, startService, type TestService } from '../../bookmarks/service.ts';
import { call } from '../../../support/call.ts';
import { chromium } from '../../../support/chromium.ts';
import { describeWith } from '../../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { useConsole } from '../service.ts';
import { accessibilityFaults } from './accessibility.ts';
import { openAs } from './sign-in.ts';

describeWith(chromium, 'bookmarks in a browser', () => {
  let database: TestDatabase;
  let catalogue: TestService;
  const console = useConsole(async () => {
    database = await createTestDatabase({ schema: 'bookmarks', migrations });
    catalogue = await startService({ databaseUrl: database.url });
    return { environment: { Console__BookmarksUrl: catalogue.url, Console__BookmarksKey: apiKey } };
  });
  after(async () => {
    await catalogue.close();
    await database.drop();
  });
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  const send = async (path: string, body: object) => (await call(catalogue.url, 'POST', path, { headers: { 'X-Api-Key': apiKey }, body })).body;

  beforeEach(async () => {
    await catalogue.database.driver.query('truncate bookmarks, folders, tags');
    const { id: folderId } = await send('/api/folders', { name: 'Databases <b>' });
    await send('/api/folders', { name: 'Postgres', parentId: folderId });
    for (let count = 0; count < 12; count++) {
      const tags = count % 2 === 0 ? ['maps', 'a tag of many words'] : ['map'];
      await send('/api/bookmarks', {
        url: `https://example.org/${count}`,
        title: `${'Flood maps of the Shannon '.repeat((count % 3) + 1)}${count}`,
        tags,
        folderId: count % 4 === 0 ? folderId : null,
        description: 'By year & "place"',
      });
    }
    complaints = [];
    context = await openAs(await console.loggedIn(), console.url, complaints);
    page = await context.newPage();
  });
  afterEach(() => context.close());
  const stored = async () => Number((await catalogue.database.driver.query('select count(*) as n from bookmarks')).rows[0].n);

  it('adds, edits, marks and deletes by keys, and undoes the deletion', async () => {
    await page.goto('/bookmarks');
    await page.keyboard.press('n');
    await page.waitForURL('**/bookmarks/new');
    await page.locator('#content .entry [name=url]').fill('https://example.org/new');
    await page.locator('#content .entry [name=title]').fill('A new one');
    await page.keyboard.press('Enter');
    await page.getByText('“A new one” is saved').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await page.getByRole('textbox', { name: 'Tags' }).fill('maps, rivers');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'rivers' }).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('d');
    expect(await page.locator('[data-row]').count()).to.equal(12);
    await eventually(async () => expect(await stored()).to.equal(12));
    await page.keyboard.press('u');
    expect(await page.locator('[data-row]').count()).to.equal(13);
    await eventually(async () => expect(await stored()).to.equal(13));
    expect(complaints).to.deep.equal([]);
  });

  it('fits the window of a phone with the longest name of a folder in the bar for selected rows', async () => {
    await send('/api/folders', { name: 'W'.repeat(200) });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto('/bookmarks');
    await page.locator('[data-select]').first().check();
    await page.getByRole('button', { name: 'Move' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(390);
  });

  it('opens the form from any page by the bookmark of the browser', async () => {
    await page.goto('/bookmarks/new');
    const script = (await page.getByRole('link', { name: 'Add to Signalbox' }).getAttribute('href')) ?? '';
    expect(script)
      .to.match(/^javascript:/)
      .and.include(`'${console.url}/bookmarks/new`);
    await page.getByText('The address of such a bookmark').click();
    expect(await page.locator('.copyable pre').innerText()).to.equal(script);
    const foreign = await context.newPage();
    await foreign.route('https://foreign.example/**', (request) =>
      request.fulfill({ contentType: 'text/html; charset=utf-8', body: '<!doctype html><title>Tide & "times"</title><p>Hello' }),
    );
    await foreign.goto('https://foreign.example/a?b=c&d=%20#e');
    const [opened] = await Promise.all([context.waitForEvent('page'), foreign.evaluate(script.slice('javascript:'.length))]);
    await opened.waitForURL('**/bookmarks/new?**');
    expect(await opened.locator('.entry [name=url]').inputValue()).to.equal('https://foreign.example/a?b=c&d=%20#e');
    expect(await opened.locator('.entry [name=title]').inputValue()).to.equal('Tide & "times"');
    expect(await foreign.locator('p').innerText(), 'the page stays').to.equal('Hello');
  });

  it('says that a file is on its way and how far it is, and takes no second one', async () => {
    await page.goto('/bookmarks/files');
    // The page stays.
    await page.route('**/bookmarks/import', (asked) => asked.fulfill({ status: 204 }));
    await page.route('**/bookmarks/import/progress', (asked) => asked.fulfill({ json: { taken: 30, all: 40 } }));
    await page.setInputFiles('[name=file]', { name: 'bookmarks.html', mimeType: 'text/html', buffer: Buffer.from('<!DOCTYPE NETSCAPE-Bookmark-file-1>') });
    const button = page.getByRole('button', { name: 'Import' });
    await button.click();
    await page.getByText('The file is being read').waitFor();
    expect(await button.isDisabled()).to.equal(true);
    await page.locator('progress[value="30"][max="40"]').waitFor();
    await page.evaluate(`dispatchEvent(new Event('pagehide'))`);
    expect(await button.isEnabled(), 'on the way back').to.equal(true);
    expect(await page.getByText('The file is being read').isVisible()).to.equal(false);
  });

  it('takes the file again after the upload was stopped', async () => {
    await page.goto('/bookmarks/files');
    // No answer comes.
    await page.route('**/bookmarks/import', () => undefined);
    await page.setInputFiles('[name=file]', { name: 'bookmarks.html', mimeType: 'text/html', buffer: Buffer.from('<!DOCTYPE NETSCAPE-Bookmark-file-1>') });
    const button = page.getByRole('button', { name: 'Import' });
    // The page stops by itself: a look at it waits for the next page otherwise.
    await page.evaluate(`{
      const form = document.querySelector('form[enctype]');
      form.addEventListener('submit', () => setTimeout(() => {
        globalThis.wasDisabled = form.querySelector('.primary').disabled;
        stop();
      }, 200));
    }`);
    await button.click({ noWaitAfter: true });
    await eventually(async () => expect(await page.evaluate('globalThis.wasDisabled')).to.equal(true));
    await eventually(async () => expect(await button.isEnabled()).to.equal(true));
    expect(await page.getByText('The file is being read').isVisible()).to.equal(false);
  });

  it('merges two tags', async () => {
    await page.goto('/bookmarks/tags');
    await page.getByRole('link', { name: /^map\s*6$/ }).click();
    await page.getByRole('combobox', { name: 'New name' }).fill('maps');
    await page.keyboard.press('Enter');
    await page.getByText('“map” is merged with “maps”').waitFor();
    expect(await page.locator('[data-row]').count()).to.equal(12);
  });

  it('moves several into a folder', async () => {
    await page.goto('/bookmarks');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByRole('combobox', { name: 'To folder' }).selectOption({ label: '\u2003Postgres' });
    await page.getByRole('button', { name: 'Move' }).click();
    await page.getByText('2 bookmarks are changed').waitFor();
    await page.getByRole('link', { name: 'Postgres' }).click();
    await eventually(async () => expect(await page.locator('[data-row]').count()).to.equal(2));
  });

  for (const width of [320, 1280]) {
    it(`is accessible and fits the window: ${width} px`, async () => {
      await page.setViewportSize({ width, height: 900 });
      for (const path of [
        '/bookmarks',
        '/bookmarks?q=nothing',
        '/bookmarks/new',
        '/bookmarks/tags',
        '/bookmarks/tags/maps',
        '/bookmarks/folders',
        '/bookmarks/files',
      ]) {
        await page.goto(path);
        expect(await accessibilityFaults(page), path).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
      }
      expect(complaints).to.deep.equal([]);
    });
  }
});
