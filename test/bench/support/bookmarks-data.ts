// Bookmarks of a benchmark: words as a language has them, few that are everywhere and many that are rare, and what people look for among them.
import { createHash } from 'node:crypto';
import pg from 'pg';
import { withoutIndexes } from './without-indexes.ts';

const vocabulary = 50_000;

/** The same word for the same rank, of four to nine letters: as rare in others as parts of words of a language are. */
function wordOf(rank: number): string {
  const bytes = createHash('sha256').update(String(rank)).digest();
  return Array.from(bytes.subarray(1, 5 + ((bytes[0] ?? 0) % 6)), (byte) => String.fromCharCode(97 + (byte % 26))).join('');
}
const words = Array.from({ length: vocabulary }, (_, rank) => wordOf(rank));

/** A generator of the same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

// Zipf's law: the word of rank n is n times as rare as the first.
const anyWord = (random: () => number, most = 1) => words[Math.floor(most * (vocabulary / most) ** random()) - 1] ?? '';
const textOf = (random: () => number, count: number) => Array.from({ length: count }, () => anyWord(random)).join(' ');

const columns = 'id, title, url, url_sha256, description, thumbnail, tags, favorite, date_added';
const insert = `insert into bookmarks (${columns})
  select gen_random_uuid(), title, url, sha256(url::bytea), description, '', tags, false, added from json_to_recordset($1) as given (title text, url text, description text, tags text[], added timestamptz)`;
const repeat = `insert into bookmarks (${columns})
  select gen_random_uuid(), title, url || '/' || n, sha256((url || '/' || n)::bytea), description, thumbnail, tags, favorite, date_added + n * interval '10 days' from bookmarks cross join generate_series(1, $1) n`;

async function filling(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=bookmarks,public -c synchronous_commit=off' });
  await client.connect();
  try {
    await withoutIndexes(client, ['bookmarks'], () => work(client));
  } finally {
    await client.end();
  }
}

/** With 5 tags and about 480 bytes of JSON each. */
export const fillBookmarks = (url: string, count: number): Promise<void> =>
  filling(url, async (client) => {
    const random = createRandom(1);
    for (let at = 0; at < count; at += 5000) {
      const rows = Array.from({ length: Math.min(5000, count - at) }, (_, offset) => ({
        title: textOf(random, 5),
        url: `https://${anyWord(random)}.example.org/${anyWord(random)}/${at + offset}`,
        description: textOf(random, 30),
        tags: [...new Set(Array.from({ length: 5 }, () => anyWord(random)))].sort(),
        added: new Date(1_600_000_000_000 + (at + offset) * 1000),
      }));
      await client.query(insert, [JSON.stringify(rows)]);
    }
  });

/** So many times what is there, under other addresses. */
export const multiplyBookmarks = (url: string, times: number): Promise<void> => filling(url, async (client) => void (await client.query(repeat, [times - 1])));

/** Words of lower ranks are as frequent as `the` and `and`. */
const functionWords = 100;

/** A word, the part of one, two words: the more common a word, the more often it is looked for, but for function words. */
export function searchesOf(count: number): string[] {
  const random = createRandom(7);
  const word = () => anyWord(random, functionWords);
  const kinds = [word, () => word().slice(1), () => `${word()} ${word()}`];
  return Array.from({ length: count }, (_, index) => kinds[index % kinds.length]?.() ?? '');
}
