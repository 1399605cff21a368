// A person at the console, who opens page after page in one session: it outlives every fault, and at the end every page is there.
import { createBrowser } from '../../services/console/service.ts';
import { createTotals, type Load } from '../load.ts';
import type { Random } from '../random.ts';

const pages = ['/', '/events', '/links', '/secrets', '/bookmarks', '/listings', '/system', '/events?q=state'] as const;

type Parts = { readonly url: string; readonly perSecond: number; readonly random: Random };

/** Logs in. */
export async function createConsole({ url, perSecond, random }: Parts): Promise<Load> {
  const browser = createBrowser(url);
  const { status } = await browser.logIn();
  if (status !== 303) throw new Error(`the login was answered ${status}`);
  const totals = createTotals();
  const broken: string[] = [];
  const open = (page: string) => browser.get(page).catch(() => undefined);
  return {
    name: 'pages of the console',
    perSecond,
    atOnce: 5,
    async step() {
      const page = random.pick(pages);
      const answer = await open(page);
      totals.add(!answer ? 'unknown' : answer.status === 200 ? 'promised' : 'refused');
      if (answer?.status === 303) broken.push(`${page} asked for another login`);
    },
    counts: totals.text,
    async balance() {
      const answers = await Promise.all(pages.map(async (page) => ({ page, status: (await open(page))?.status })));
      return [...broken, ...answers.flatMap(({ page, status }) => (status === 200 ? [] : [`${page} is answered ${status}`]))];
    },
  };
}
