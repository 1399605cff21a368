// The map of listings with tiles, in Chromium, before a tile server of the test.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type BrowserContext, devices, type Page } from 'playwright-core';
import { chromium, sharedChromium } from '../../../support/chromium.ts';
import { describeWith } from '../../../support/need.ts';
import { eventually } from '../../../support/wait.ts';
import { useListings } from '../areas/listings-fixture.ts';
import { accessibilityFaults } from './accessibility.ts';
import { openAs } from './sign-in.ts';

/** One transparent pixel. */
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');

describeWith(chromium, 'the map with tiles in a browser', () => {
  let server: Server;
  let asked: { readonly path: string; readonly referer: string | undefined }[] = [];
  let hasTiles = true;
  before(async () => {
    server = createServer((request, response) => {
      asked.push({ path: request.url ?? '', referer: request.headers.referer });
      if (hasTiles) response.writeHead(200, { 'Content-Type': 'image/png' }).end(pixel);
      else response.writeHead(500).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  const running = useListings({
    get Map__TileUrl() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/{z}/{x}/{y}.png`;
    },
    Map__Attribution: '© the tests https://tiles.example.org/licence',
  });
  const { console } = running;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  beforeEach(async () => {
    asked = [];
    hasTiles = true;
    complaints = [];
    context = await openAs(await console.loggedIn(), console.url, complaints);
    page = await context.newPage();
  });
  afterEach(() => context.close());
  const dots = () => page.locator('.map-place > a');
  const areLoaded = () => eventually(async () => expect(await page.locator('.leaflet-tile-loaded').count()).to.be.at.least(1));

  it('shows tiles with dots that lead to listings, without a complaint of the policy', async () => {
    await page.goto('/listings/map');
    await areLoaded();
    expect(asked[0]?.path).to.match(/^\/\d+\/\d+\/\d+\.png$/);
    expect(asked[0]?.referer).to.equal(`${console.url}/`);
    expect(await page.locator('.coast').isVisible()).to.equal(false);
    expect(await page.getByRole('link', { name: 'tiles.example.org' }).getAttribute('href')).to.equal('https://tiles.example.org/licence');
    await page.locator('.map-place > .single').first().click();
    await page.getByRole('heading', { name: '5 Patrick Hill, Cork' }).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it('asks for the places of the part that is in sight', async () => {
    await page.goto('/listings/map');
    await areLoaded();
    await page.getByText('6 listings in this part').waitFor();
    const before = await dots().count();
    const rows = page.locator('.map-and-list tbody tr');
    for (let times = 0; times < 4; times++) await page.keyboard.press('+');
    expect(new URL(page.url()).searchParams.get('bbox'), 'the address has the part').to.match(/^-?\d/);
    // The middle of the island has none of them.
    await eventually(async () => expect([await dots().count(), await rows.count()]).to.deep.equal([0, 0]));
    await page.keyboard.press('0');
    await eventually(async () => expect(await dots().count()).to.equal(before));
    expect(complaints).to.deep.equal([]);
  });

  it('leaves the wheel and one finger to the page', async () => {
    await page.setViewportSize({ width: 1280, height: 500 });
    await page.goto('/listings/map');
    await areLoaded();
    const part = () => new URL(page.url()).searchParams.get('bbox');
    await page.locator('.tiled').hover();
    await page.mouse.wheel(0, 200);
    await page.waitForFunction('scrollY > 0');
    expect(part(), 'the map stays').to.equal(null);
    await page.locator('.tiled').hover();
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await eventually(() => expect(part()).to.match(/^-?\d/));
    const phone = await (await sharedChromium()).newContext({ ...devices['Pixel 7'], baseURL: console.url, storageState: await context.storageState() });
    try {
      const small = await phone.newPage();
      await small.goto('/listings/map');
      await small.locator('.leaflet-tile-loaded').first().waitFor();
      expect(await small.evaluate(`getComputedStyle(document.querySelector('.tiled')).touchAction`)).to.equal('pan-x pan-y');
      expect(await small.getByText('Two fingers move the map').isVisible()).to.equal(true);
    } finally {
      await phone.close();
    }
  });

  it('stays the drawn map while no tile comes', async () => {
    hasTiles = false;
    await page.goto('/listings/map');
    await eventually(() => expect(asked).not.to.have.length(0));
    await page.locator('.coast').waitFor({ state: 'visible' });
    expect(await page.locator('.tiled').isVisible()).to.equal(false);
    await page.keyboard.press('+');
    await page.waitForURL('**/listings/map?bbox=*');
    expect(await page.locator('.coast').isVisible(), 'its links move it').to.equal(true);
  });

  it('is accessible, fits the window, and takes at most 90 kB without tiles', async () => {
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto('/listings/map');
      await areLoaded();
      expect(await accessibilityFaults(page), `${width} px`).to.deep.equal([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${width} px`).to.be.at.most(0);
    }
    const cold = await openAs(await console.loggedIn(), console.url);
    try {
      const first = await cold.newPage();
      const sizes: Promise<number>[] = [];
      first.on('requestfinished', (request) => {
        const isFile = request.url().startsWith(`${console.url}/assets/`);
        if (isFile) sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
      });
      const shown = await first.goto('/listings/map', { waitUntil: 'networkidle' });
      // A proxy in front compresses pages.
      sizes.push(Promise.resolve(gzipSync((await shown?.body()) ?? '').length));
      const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      expect(bytes).to.be.within(40_000, 90_000);
    } finally {
      await cold.close();
    }
  });

  it('gives no other page the origin of the tiles', async () => {
    const browser = await console.loggedIn();
    const policyAt = async (path: string) => (await browser.get(path)).headers.get('content-security-policy') ?? '';
    expect(await policyAt('/listings/map'))
      .to.include(`:${(server.address() as AddressInfo).port};`)
      .and.include('trusted-types default');
    expect(await policyAt('/listings')).not.to.include('127.0.0.1');
    expect(await policyAt('/listings')).to.include("trusted-types 'none'");
  });
});
