// Deciding on links by keys alone, in Chromium, on a real link digest.
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { chromium } from '../../../support/chromium.ts';
import { describeWith } from '../../../support/need.ts';
import { eventually } from '../../../support/wait.ts';
import { useService } from '../../link-digest/service.ts';
import { author, environmentOf, link, mail, newsletter } from '../../link-digest/store.ts';
import { useConsole } from '../service.ts';
import { accessibilityFaults } from './accessibility.ts';
import { openAs } from './sign-in.ts';

describeWith(chromium, 'links in a browser', () => {
  const digest = useService();
  const console = useConsole(async () => ({
    environment: { Console__DigestUrl: digest.url, Console__DigestKey: environmentOf(digest.database.url).Jwt__Key },
  }));
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeEach(async () => {
    const titles = ['Partitions without downtime', '<b>Bold</b> & "quoted"', 'A very long title '.repeat(12)];
    const links = Array.from({ length: 24 }, (_, index) =>
      link(`https://blog.example/${index}`, { title: `${titles[index % 3] ?? ''} ${index}`, authors: [author('Ada Example')] }),
    );
    await digest.database.newsletters.store(mail(), newsletter(links, { receivedDate: new Date() }));
    complaints = [];
    context = await openAs(await console.loggedIn(), console.url, complaints);
    page = await context.newPage();
  });
  afterEach(() => context.close());
  const waiting = async () => (await digest.database.query(`select count(*)::int as n from links where status = 'Awaiting'`))[0].n;
  const badge = () => page.locator('nav.areas [aria-current] .count').innerText({ timeout: 1000 });
  const chips = async () => (await page.locator('.chips a').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
  const rows = () => page.locator('[data-row]').count();

  it('likes and discards twenty links by keys, and undoes two', async () => {
    // The number of the navigation comes with a page as soon as the service has said it.
    await eventually(async () => {
      await page.goto('/links');
      expect(await badge()).to.equal('24');
    });
    await page.keyboard.press('j');
    for (let count = 0; count < 20; count++) await page.keyboard.press(count % 2 === 0 ? 'l' : 'd');
    expect(await rows()).to.equal(4);
    expect([await badge(), await chips()]).to.deep.equal(['4', ['Waiting 4', 'Liked 10', 'Discarded 10', 'Discarded after review 0']]);
    await eventually(async () => expect(await waiting()).to.equal(4));
    await page.keyboard.press('u');
    await page.keyboard.press('u');
    expect(await rows()).to.equal(6);
    expect([await badge(), await chips()]).to.deep.equal(['6', ['Waiting 6', 'Liked 9', 'Discarded 9', 'Discarded after review 0']]);
    await eventually(async () => expect(await waiting()).to.equal(6));
    await page.reload();
    expect(await rows()).to.equal(6);
    expect(complaints).to.deep.equal([]);
  });

  it('reads why a link is there and the newsletter that it came from', async () => {
    await page.goto('/links');
    await page.getByRole('link', { name: 'Details' }).first().click();
    await page.getByRole('heading', { name: 'Why it is here' }).waitFor();
    await page.getByRole('link', { name: 'A newsletter' }).click();
    await page.getByRole('heading', { name: 'The mail' }).waitFor();
  });

  for (const width of [320, 1280]) {
    it(`is accessible and fits the window: ${width} px`, async () => {
      await page.setViewportSize({ width, height: 900 });
      for (const path of ['/links', '/links?search=nothing', '/newsletters', '/newsletters?status=rejected', '/authors']) {
        await page.goto(path);
        expect(await accessibilityFaults(page), path).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
        expect(await page.evaluate('document.querySelectorAll("*").length'), path).to.be.below(1500);
      }
      expect(complaints).to.deep.equal([]);
    });
  }
});
