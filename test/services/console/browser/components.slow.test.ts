// Components in Debian's Chromium under the policy of pages: accessible in each width and theme, operated by keys, painted at once.
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { h } from '../../../../services/console/view/elements.ts';
import { Common } from '../../../../services/platform/problem.ts';
import { badge } from '../../../../services/console/view/texts.ts';
import { toTrees } from '../../../../services/console/view/tree-message.ts';
import { chromium, sharedChromium } from '../../../support/chromium.ts';
import { describeWith } from '../../../support/need.ts';
import { eventually } from '../../../support/wait.ts';
import { accessibilityFaults } from './accessibility.ts';
import { gallery, galleryFrame, markup, queue } from './gallery.ts';
import { type Posted, servePage } from './page-server.ts';

describeWith(chromium, 'the components in a browser', () => {
  let server: Awaited<ReturnType<typeof servePage>>;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  let stream = '';
  let act: (posted: Posted) => Promise<object> | object;
  const done = { message: 'Liked', undo: { path: '/undo', fields: { id: 'link-1' } } };

  before(async () => {
    server = await servePage({
      frame: (query, path) => {
        const theme = query.get('theme');
        const appearance = { theme: theme === 'dark' || theme === 'light' ? theme : 'auto', density: 'normal', hasKeys: query.get('keys') !== 'off' } as const;
        const person = { id: query.get('person') ?? '1', name: 'Ada Lovelace' };
        return galleryFrame({
          path,
          appearance,
          person,
          ...(query.has('notice') && { notice: { message: 'Link liked', undo: { path: '/undo', fields: {} } } }),
        });
      },
      body: (frame) => (frame.path.startsWith('/queue') ? queue(frame) : gallery(frame)),
      act: (posted) => act(posted),
      stream: () => stream,
    });
  });
  after(() => server.close());

  beforeEach(async () => {
    act = () => done;
    server.posted.length = 0;
    stream = news;
    complaints = [];
    context = await (await sharedChromium()).newContext({ baseURL: server.url, viewport: { width: 1440, height: 900 } });
    page = await context.newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterEach(() => context.close());

  const rows = ['first', markup].map((name) =>
    h('tr', { role: 'row', 'data-row': `new-${name.length}`, tabindex: -1 }, h('td', { role: 'cell' }, badge('info', name))),
  );
  const nothing = 'retry: 100\n\n';
  const news = nothing + rows.map((row, index) => `id: ${index + 1}\nevent: row\ndata: ${JSON.stringify(toTrees(row)[0])}\n\n`).join('');
  const titles = () => page.locator('.lines > li .row-link').allInnerTexts();
  const first = 'How Postgres keeps its promises when the power goes';

  for (const theme of ['light', 'dark']) {
    for (const width of [320, 390, 768, 1440]) {
      it(`is accessible and fits the window: ${theme}, ${width} px`, async () => {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`/links?theme=${theme}&notice=1`);
        expect(await accessibilityFaults(page)).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
        expect(complaints).to.deep.equal([]);
      });
    }
  }

  it('has tables that stay within the window, whatever words are in them', async () => {
    for (const width of [390, 900, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto('/links');
      await page.evaluate(
        `document.querySelectorAll('table[role=table] tr:first-child :is(td, [role=rowheader]):not(.number)').forEach((cell) => cell.append('x'.repeat(300)))`,
      );
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${width} px`).to.be.at.most(0);
    }
  });

  it('has buttons, fields and tabs of 44 px for a finger, and smaller ones for a mouse', async () => {
    const heights = (of: Page): Promise<number[]> =>
      of.evaluate(
        `[...document.querySelectorAll('button, .button, select, input:not([type=checkbox], [type=hidden]), main summary, .tabs a')].filter((one) => one.checkVisibility() && !one.closest('.tree, .copyable')).map((one) => one.getBoundingClientRect().height)`,
      );
    const touched = await (await sharedChromium()).newContext({ baseURL: server.url, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    try {
      const phone = await touched.newPage();
      await phone.goto('/links');
      const found = await heights(phone);
      expect(found).to.have.length.above(10);
      expect(Math.min(...found)).to.be.at.least(44);
    } finally {
      await touched.close();
    }
    await page.goto('/links');
    expect(Math.min(...(await heights(page)))).to.be.below(40);
  });

  it('is accessible with the menu, the keys and the confirmation open', async () => {
    await page.goto('/links');
    await page.getByRole('button', { name: 'Menu: Ada Lovelace' }).click();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    expect(await page.getByRole('dialog').innerText())
      .to.include('Like')
      .and.include('Discard')
      .and.include('Go to Bookmarks')
      .and.include('the first key only marks one');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).to.equal(0);
  });

  it('likes and discards by keys, the row gone before the service answers, and undoes both', async () => {
    const answers = Promise.withResolvers<object>();
    act = () => answers.promise;
    await page.goto('/queue');
    await page.keyboard.press('j');
    await page.keyboard.press('l');
    expect(await titles()).to.have.length(7);
    expect((await titles())[0]).not.to.equal(first);
    await page.keyboard.press('d');
    expect(await titles()).to.have.length(6);
    answers.resolve(done);
    await page.locator('#notice').getByText('Liked').waitFor();
    expect(server.posted.map(({ path }) => path)).to.deep.equal(['/links/link-1/like', '/links/link-2/discard']);
    await page.keyboard.press('u');
    await page.keyboard.press('u');
    expect(await titles()).to.have.length(8);
    expect((await titles())[0]).to.equal(first);
    await eventually(() => expect(server.posted.filter(({ path }) => path === '/undo')).to.have.length(2));
    await page.keyboard.press('u');
    await page.getByText('Nothing to undo').waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it('undoes on the next page of the tab, but nothing of the person who was there before', async () => {
    await page.goto('/queue?person=1');
    await page.keyboard.press('j');
    await page.keyboard.press('l');
    await page.getByText('Liked').first().waitFor();
    await page.goto('/links?person=2');
    await page.keyboard.press('u');
    await page.getByText('Nothing to undo').waitFor();
    await page.goto('/queue?person=1');
    await page.keyboard.press('u');
    await page.getByText('Nothing to undo').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('l');
    await page.getByText('Liked').first().waitFor();
    await page.goto('/links?person=1');
    await page.keyboard.press('u');
    await eventually(() => expect(server.posted.filter(({ path }) => path === '/undo')).to.have.length(1));
  });

  it('brings a row back, with the reason, where the service refuses', async () => {
    act = () => {
      throw Common.unavailable({ detail: 'The link digest is being updated.' });
    };
    await page.goto('/queue');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const before = await titles();
    await page.keyboard.press('l');
    await page.getByText('The link digest is being updated.').waitFor();
    expect(await titles()).to.deep.equal(before);
  });

  it('selects several rows by x and Shift, and changes them together', async () => {
    await page.goto('/queue');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Shift+X');
    await page.getByText('3 selected').waitFor();
    await page.getByRole('form', { name: 'Actions for the selected rows' }).getByRole('button', { name: 'Discard' }).click();
    expect(await titles()).to.have.length(5);
    await eventually(() => expect(server.posted[0]?.fields.getAll('id')).to.deep.equal(['link-1', 'link-2', 'link-3']));
  });

  it('selects all rows by a button, and none by the same', async () => {
    await page.goto('/queue');
    await page.getByRole('checkbox').first().check();
    const all = page.getByRole('button', { name: 'Select all', pressed: false });
    await all.click();
    await page.getByText('8 selected').waitFor();
    await page.getByRole('button', { name: 'Select all', pressed: true }).click();
    await all.waitFor({ state: 'hidden' });
    expect(await page.getByRole('checkbox', { checked: true }).count()).to.equal(0);
    expect(await page.locator('[data-row]:focus').count()).to.equal(1);
  });

  it('says a notice that came with the page to screen readers, by putting it in once more', async () => {
    await page.addInitScript(
      `document.addEventListener('DOMContentLoaded', () => new MutationObserver((changes) => (globalThis.said = changes.flatMap(({ addedNodes }) => [...addedNodes].map(({ textContent }) => textContent)))).observe(document.querySelector('#notice'), { childList: true }))`,
    );
    await page.goto('/queue?notice=1');
    await eventually(async () => expect(await page.evaluate('globalThis.said')).to.include('Link liked'));
    expect(await page.locator('#notice p').count()).to.equal(1);
  });

  it('counts what waits in the areas of the menu, too', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto('/queue');
    await page.getByRole('button', { name: 'Menu: Ada Lovelace' }).click();
    await page.locator('#menu').getByRole('link', { name: 'System 3' }).waitFor();
  });

  it('leaves keys alone while one types, and altogether where they are off', async () => {
    await page.goto('/queue');
    await page.keyboard.press('/');
    await page.keyboard.type('jld');
    expect(await page.getByRole('searchbox', { name: 'Search everything' }).inputValue()).to.equal('jld');
    await page.goto('/queue?keys=off');
    await page.keyboard.press('j');
    await page.keyboard.press('l');
    await page.keyboard.press('?');
    expect(await titles()).to.have.length(8);
    expect(await page.getByRole('dialog').count()).to.equal(0);
  });

  it('goes to an area by g and its letter', async () => {
    await page.goto('/queue');
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.waitForURL('**/bookmarks');
  });

  it('changes theme and density at once, and tells the server', async () => {
    await page.goto('/queue');
    await page.getByRole('button', { name: 'Menu: Ada Lovelace' }).click();
    await page.getByRole('button', { name: 'Dark' }).click();
    expect(await page.locator('html').getAttribute('data-theme')).to.equal('dark');
    expect(await page.getByRole('button', { name: 'Dark' }).getAttribute('aria-pressed')).to.equal('true');
    await eventually(() => expect(Object.fromEntries(server.posted[0]?.fields ?? [])).to.deep.equal({ back: '/queue', theme: 'dark' }));
  });

  it('adds rows that come, and waits with them while one reads', async () => {
    await page.goto('/links');
    // The form that came back has the focus, and may have moved the page before the rows come: then they wait.
    await eventually(async () => {
      await page.evaluate('scrollTo({ top: 0, behavior: "instant" })');
      expect(await page.locator('[data-rows] tr[data-row^=new]').count()).to.equal(2);
    });
    expect(await page.locator('[data-rows] tr').first().innerText()).to.equal(markup);
    expect(await page.locator('[data-rows] tr').count()).to.equal(5);
    stream = nothing;
    await page.goto('/links');
    await page.locator('[data-rows] tr a').first().focus();
    stream = news;
    await page.getByRole('button', { name: 'Show 2 new' }).waitFor();
    expect(await page.locator('[data-rows] tr').count()).to.equal(3);
    await page.getByRole('button', { name: 'Show 2 new' }).click();
    expect(await page.locator('[data-rows] tr').count()).to.equal(5);
  });

  it('copies a block and a value of a tree', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/links');
    await page.getByRole('button', { name: 'full_name' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal('signalbox/signalbox');
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await eventually(async () => expect(await page.evaluate('navigator.clipboard.readText()')).to.include('curl -X POST'));
  });

  it('paints what a key does within 50 ms, also where the service takes long', async () => {
    act = () => new Promise((resolve) => setTimeout(() => resolve(done), 400).unref());
    await page.goto('/queue');
    await page.keyboard.press('j');
    await page.evaluate(`
      window.took = new Promise((resolve) => addEventListener('keydown', ({ timeStamp }) =>
        requestAnimationFrame(() => { const left = !document.querySelector('[data-row=link-1]'); setTimeout(() => resolve({ left, ms: performance.now() - timeStamp })); }), { once: true })); 0
    `);
    await page.keyboard.press('l');
    const { left, ms }: { left: boolean; ms: number } = await page.evaluate('window.took');
    expect(left).to.equal(true);
    // The goal of 50 ms is of a quiet machine, and held by the bench.
    expect(ms).to.be.below(400);
  });

  it('keeps relative times true while the page stays open, also where the clock of the machine is wrong', async () => {
    await page.clock.install({ time: new Date('2001-01-01T00:00:00Z') });
    await page.goto('/links');
    const shown = page.locator('time[data-ago]').first();
    const [, hours = ''] = /^(\d+) hours ago$/.exec(await shown.innerText()) ?? [];
    await page.clock.fastForward('02:01:00');
    expect(await shown.innerText()).to.equal(`${Number(hours) + 2} hours ago`);
  });

  it('works without a script: theme, actions and confirmation are forms', async () => {
    const plain = await (await sharedChromium()).newContext({ baseURL: server.url, javaScriptEnabled: false });
    const bare = await plain.newPage();
    await bare.goto('/queue');
    await bare.getByRole('button', { name: 'Like' }).first().click();
    await eventually(() => expect(server.posted[0]?.path).to.equal('/links/link-1/like'));
    await bare.goto('/queue');
    await bare.getByRole('button', { name: 'Menu: Ada Lovelace' }).click();
    await bare.getByRole('button', { name: 'Dense' }).click();
    await eventually(() => expect(server.posted[1]?.fields.get('density')).to.equal('dense'));
    await plain.close();
  });

  it('is small: script, style and page', async () => {
    const sizes = new Map<string, number>();
    page.on('response', (response) => {
      void response
        .request()
        .sizes()
        .then(({ responseBodySize }) => sizes.set(new URL(response.url()).pathname.replace(/\.[^.]*(?=\.\w+$)/, ''), responseBodySize));
    });
    await page.goto('/queue', { waitUntil: 'networkidle' });
    await eventually(() => expect([...sizes.keys()]).to.include.members(['/queue', '/assets/style.css', '/assets/script.js']));
    expect(sizes.get('/assets/script.js')).to.be.below(20_000).and.above(500);
    expect(sizes.get('/assets/style.css')).to.be.below(10_000).and.above(500);
    expect(sizes.size).to.be.at.most(10);
  });
});
