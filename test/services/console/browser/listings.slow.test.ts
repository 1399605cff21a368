// Hunting for a flat in Chromium, by keys and by mouse, on a real listing triage.
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { chromium } from '../../../support/chromium.ts';
import { describeWith } from '../../../support/need.ts';
import { eventually } from '../../../support/wait.ts';
import { hostile, useListings } from '../areas/listings-fixture.ts';
import { accessibilityFaults } from './accessibility.ts';
import { openAs } from './sign-in.ts';

describeWith(chromium, 'listings in a browser', () => {
  const running = useListings();
  const { console } = running;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeEach(async () => {
    complaints = [];
    context = await openAs(await console.loggedIn(), console.url, complaints);
    page = await context.newPage();
  });
  afterEach(() => context.close());
  const isNow = (sourceId: string, status: string) => eventually(async () => expect(await running.statusOf(sourceId)).to.equal(status));
  const rows = () => page.locator('[data-row]').count();

  it('finds the default preset by the area, and approves with one click', async () => {
    await running.preset({ name: 'Cheap', maxPrice: 1500, isDefault: true });
    await page.goto('/');
    await page.getByRole('link', { name: 'Listings' }).first().click();
    expect(await rows()).to.equal(1);
    await page.getByRole('button', { name: 'Approve' }).first().click();
    await isNow('studio', 'approved');
  });

  it('approves, recycles and undoes by keys', async () => {
    await page.goto('/listings?preset=none&sort=price-asc');
    for (const key of ['j', 'a', 'x']) await page.keyboard.press(key);
    expect(await rows()).to.equal(3);
    await isNow('studio', 'approved');
    await isNow('cork', 'recycled');
    await page.keyboard.press('u');
    await isNow('cork', 'inbox');
    await page.keyboard.press('u');
    await isNow('studio', 'inbox');
    expect(await rows()).to.equal(5);
    expect(complaints).to.deep.equal([]);
  });

  it('selects by keys, and recycles all that are selected', async () => {
    await page.goto('/listings?preset=none&sort=price-asc&view=rows');
    for (const key of ['j', 's', 'j', 's']) await page.keyboard.press(key);
    const bar = page.getByRole('form', { name: 'Actions for the selected rows' });
    expect(await bar.innerText()).to.include('2 selected');
    await bar.getByRole('button', { name: 'Recycle' }).press('Enter');
    await isNow('studio', 'recycled');
    await isNow('cork', 'recycled');
    expect(await rows()).to.equal(3);
  });

  it('writes a note by keys', async () => {
    await page.goto('/listings?preset=none&sort=price-asc');
    await page.keyboard.press('j');
    await page.keyboard.press('n');
    await page.waitForURL(`**/listings/${running.idOf('studio')}#field-notes`);
    await eventually(async () => expect(await page.evaluate('document.activeElement?.id')).to.equal('field-notes'));
    await page.keyboard.type('Viewing on Friday');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('The notes are saved').waitFor();
    expect(await running.query('select notes from properties where notes is not null')).to.deep.equal([{ notes: 'Viewing on Friday' }]);
  });

  it('goes over the map to a single listing', async () => {
    await page.goto('/listings?preset=none');
    await page.keyboard.press('m');
    await page.getByRole('heading', { name: 'Map of listings' }).waitFor();
    await page.getByRole('link', { name: '5 Patrick Hill, Cork, rent €1,650' }).first().click();
    await page.getByRole('heading', { name: '5 Patrick Hill, Cork' }).waitFor();
  });

  it('keeps filters as a preset', async () => {
    await page.goto('/listings?maxPrice=1700');
    await page.getByRole('link', { name: 'Keep as preset' }).click();
    await page.getByLabel('Name').fill('Cheap');
    await page.getByLabel('Name').press('Enter');
    await page.getByText('“Cheap” is added').waitFor();
    await page.getByRole('link', { name: 'Cheap' }).click();
    expect(await rows()).to.equal(2);
  });

  for (const theme of ['light', 'dark'] as const) {
    for (const width of [320, 1280]) {
      it(`is accessible and fits the window: ${theme}, ${width} px`, async () => {
        await running.preset({ name: hostile, isDefault: true });
        await page.emulateMedia({ colorScheme: theme });
        await page.setViewportSize({ width, height: 900 });
        const one = `/listings/${running.idOf('quay')}`;
        for (const path of [
          '/listings',
          '/listings?view=rows',
          '/listings?search=nothing',
          '/listings/approved',
          one,
          '/listings/map',
          '/listings/rents',
          '/presets',
          '/presets/new',
        ]) {
          await page.goto(path);
          expect(await accessibilityFaults(page), path).to.deep.equal([]);
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
        }
        expect(complaints).to.deep.equal([]);
      });
    }
  }
});
