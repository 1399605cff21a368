// The area of events in Debian's Chromium: accessible in both themes and on a narrow screen, followed, and operated by keys and by mouse.
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { chromium, sharedChromium } from '../../../support/chromium.ts';
import { describeWith } from '../../../support/need.ts';
import { eventually } from '../../../support/wait.ts';
import { issue, pullRequest } from '../../webhook-intake/dashboard/ground.ts';
import { examples } from '../../webhook-intake/deliveries.ts';
import { startIntake, type TestIntake } from '../areas/intake.ts';
import { password, useConsole } from '../service.ts';
import { accessibilityFaults } from './accessibility.ts';

describeWith(chromium, 'events in a browser', () => {
  let intake: TestIntake;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  const console = useConsole(async () => {
    intake = await startIntake();
    return { environment: intake.settings, heartbeatMs: 50 };
  });
  after(() => intake.close());
  beforeEach(() => intake.database.empty());
  afterEach(() => context.close());

  async function enter(theme: 'light' | 'dark' = 'light'): Promise<void> {
    complaints = [];
    context = await (await sharedChromium()).newContext({ baseURL: console.url, viewport: { width: 1440, height: 900 }, colorScheme: theme });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    page = await context.newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto('/login');
    await page.fill('[name=name]', 'admin');
    await page.fill('[name=password]', password);
    await page.click('main button');
    await page.waitForURL('**/');
  }
  const opened = (number: number) => ({ event: 'issues', payload: issue(number), deliveryId: `delivery-${number}` });
  const shown = () => page.locator('[data-rows] > [data-row] .second').allInnerTexts();
  const following = () => page.locator('[data-live-bar] output', { hasText: 'Following' }).waitFor();

  for (const theme of ['light', 'dark'] as const) {
    it(`is accessible and fits the window, ${theme}`, async () => {
      await intake.deliver(examples.filter((_, index) => index % 3 === 0));
      const [event] = await intake.database.rows<{ id: string; delivery: string }>(`select id, delivery_id as delivery from events where event = 'issues'`);
      await enter(theme);
      const paths = [
        '/events',
        '/events?q=nothing',
        `/events/${event?.id}?find=login`,
        `/trace/${event?.delivery}`,
        '/events/issues',
        '/events/runs',
        '/search?q=hello',
        '/search',
      ];
      for (const path of paths) {
        for (const width of [320, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          await page.goto(path);
          expect(await page.evaluate('document.documentElement.scrollWidth'), `${path} at ${width}`).to.be.at.most(width);
          expect(await accessibilityFaults(page), `${path} at ${width}`).to.deep.equal([]);
        }
        expect(await page.evaluate('document.getElementsByTagName("*").length'), path).to.be.at.most(1500);
      }
      expect(complaints).to.deep.equal([]);
    });
  }

  it('puts what is stored on top, and keeps it back while a row is read', async () => {
    await intake.deliver([opened(1)]);
    await enter();
    await page.goto('/events');
    await following();
    await intake.deliver([opened(2)]);
    await eventually(async () => expect(await shown()).to.deep.equal(['#2: Issue 2', '#1: Issue 1']));
    await page.keyboard.press('j');
    await intake.deliver([opened(3)]);
    await page.locator('[data-show-fresh]', { hasText: 'Show 1 new' }).waitFor();
    expect(await shown()).to.have.length(2);
    await page.click('[data-show-fresh]');
    await eventually(async () => expect(await shown()).to.have.length(3));
    expect(complaints).to.deep.equal([]);
  });

  it('fills an empty list, and stops and goes on by a key', async () => {
    await enter();
    await page.goto('/events?event=issues');
    await page.getByText('Nothing matches these filters').waitFor();
    await following();
    await intake.deliver([{ event: 'pull_request', payload: pullRequest(9), deliveryId: 'pull' }, opened(1)]);
    await eventually(async () => expect(await shown()).to.deep.equal(['#1: Issue 1']));
    expect(await page.getByText('Nothing matches these filters').isVisible()).to.equal(false);
    await page.keyboard.press('f');
    await eventually(() => expect(intake.polls()).to.equal(0));
    expect(await page.locator('[data-live-bar]').innerText()).to.equal('Follow');
    await intake.deliver([opened(2)]);
    await page.keyboard.press('f');
    expect(await page.locator('[data-live-bar] button').first().innerText()).to.equal('Pause');
    await eventually(async () => expect(await shown()).to.deep.equal(['#2: Issue 2', '#1: Issue 1']));
  });

  it('opens, searches, replays and copies by keys alone', async () => {
    await intake.deliver([opened(1), opened(2)]);
    await enter();
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.waitForURL('**/events');
    await page.keyboard.press('j');
    await page.keyboard.press('y');
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.match(/^delivery-[12]$/);
    await page.keyboard.press('o');
    await page.waitForURL('**/events/*-*');
    await page.keyboard.press('r');
    await page.getByText('goes through rules and lists once more').waitFor();
    await page.getByRole('link', { name: 'Show its run' }).click();
    await page.waitForURL('**/system/workers?worker=replay');
    await page.getByRole('rowheader', { name: 'replay', exact: true }).waitFor();
    await page.goBack();
    await page.keyboard.press('/');
    await page.keyboard.type('Issue');
    await page.keyboard.press('Enter');
    await page.getByText('issue.title').waitFor();
    await page.keyboard.press('t');
    await page.waitForURL('**/trace/delivery-*');
    expect(complaints).to.deep.equal([]);
  });

  it('narrows by a facet and finds its way back by mouse', async () => {
    await intake.deliver([opened(1), { event: 'pull_request', payload: pullRequest(9), deliveryId: 'pull' }]);
    await enter();
    await page.goto('/events');
    const facet = page.getByRole('navigation', { name: 'Events' }).getByRole('link', { name: 'pull_request' });
    await facet.click();
    await eventually(async () => expect(await shown()).to.deep.equal(['#9: Change 9']));
    await facet.click();
    await eventually(async () => expect(await shown()).to.have.length(2));
  });

  it('leads to the login where the session ends while a list follows', async () => {
    await enter();
    await page.goto('/events');
    await following();
    await console.query('delete from sessions');
    await page.waitForURL('**/login?to=%2Fevents');
  });
});
