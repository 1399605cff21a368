// Bookmarks that are added, renamed and deleted: each has the state that was promised last.
import { textAt } from '../../../services/platform/json.ts';
import { ask, createStates, createTotals, createTurns, type Load, outcomeOf } from '../load.ts';
import type { Random } from '../random.ts';

const pages = 300;

type Parts = { readonly url: string; readonly apiKey: string; readonly perSecond: number; readonly random: Random };

export function createBookmarks({ url, apiKey, perSecond, random }: Parts): Load {
  /** Titles by address. */
  const titles = createStates<string>();
  const ids = new Map<string, string>();
  const totals = createTotals();
  const inTurn = createTurns();
  const broken: string[] = [];
  const headers = { 'Content-Type': 'application/json', 'X-Api-Key': apiKey };
  let changes = 0;

  /** Looks what became of a change that had no answer. */
  async function look(page: string): Promise<void> {
    const { status, body } = await ask('GET', `${url}/api/bookmarks?url=${encodeURIComponent(page)}`, { headers });
    if (status !== 200) return;
    const found: unknown = Array.isArray(body) ? body[0] : undefined;
    const title = textAt(found, 'title');
    if (!titles.allowed(page).has(title)) broken.push(`bookmark ${page} has the title ${title}, and not ${[...titles.allowed(page)].join(' or ')}`);
    titles.isNow(page, title);
    const id = textAt(found, 'id');
    if (id === undefined) ids.delete(page);
    else ids.set(page, id);
  }

  async function change(page: string): Promise<void> {
    const title = `Title ${++changes}`;
    const id = ids.get(page);
    const isDeleted = id !== undefined && random.below(4) === 0;
    const answer =
      id === undefined
        ? await ask('POST', `${url}/api/bookmarks`, { headers, body: JSON.stringify({ title, url: page }) })
        : isDeleted
          ? await ask('DELETE', `${url}/api/bookmarks/${id}`, { headers })
          : await ask('PATCH', `${url}/api/bookmarks/${id}`, { headers, body: JSON.stringify({ title }) });
    const outcome = outcomeOf(answer);
    titles.changed(page, isDeleted ? undefined : title, outcome);
    totals.add(outcome);
    const added = textAt(answer.body, 'id');
    if (outcome !== 'promised') return;
    if (isDeleted) ids.delete(page);
    else if (added !== undefined) ids.set(page, added);
  }

  return {
    name: 'bookmarks',
    perSecond,
    atOnce: 10,
    step() {
      const page = `https://soak.example.org/${random.below(pages)}`;
      return inTurn(page, () => (titles.allowed(page).size > 1 ? look(page) : change(page)));
    },
    counts: totals.text,
    async balance(database) {
      const { rows } = await database.query<{ url: string; title: string }>(`select url, title from bookmarks.bookmarks where url like 'https://soak.%'`);
      const stored = Map.groupBy(rows, (row) => row.url);
      const wrong = titles.keys().flatMap((page) => {
        const found = stored.get(page) ?? [];
        if (found.length > 1) return [`bookmark ${page} is there ${found.length} times`];
        const title = found[0]?.title;
        return titles.allowed(page).has(title) ? [] : [`bookmark ${page} has the title ${title}, and not ${[...titles.allowed(page)].join(' or ')}`];
      });
      return [...broken, ...wrong];
    },
  };
}
