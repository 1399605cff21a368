// A page of Chromium with the session that a console of the tests gave.
import type { BrowserContext } from 'playwright-core';
import { sharedChromium } from '../../../support/chromium.ts';
import type { Browser } from '../service.ts';

/** @param complaints gets what the browser says about the pages: refusals of the policy, errors of the script */
export async function openAs(browser: Browser, url: string, complaints: string[] = []): Promise<BrowserContext> {
  const context = await (await sharedChromium()).newContext({ baseURL: url, viewport: { width: 1280, height: 900 } });
  await context.addCookies([...browser.cookies].map(([name, value]) => ({ name, value, url })));
  context.on('console', (message) => complaints.push(message.text()));
  context.on('weberror', (error) => complaints.push(error.error().message));
  return context;
}
