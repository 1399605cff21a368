// Keeps one bad message from failing its batch: a refused batch is halved until the culprit stands alone.
import { refusesData } from '../platform/postgres/errors.ts';

export type Refusal = { readonly refused: string };

/**
 * Works on all items at once; when the database refuses what is in them, on each half by itself, and so on.
 * @returns an outcome for each item, in order
 * @throws what failed for any other reason: the world, and not an item
 */
export async function isolating<Item, Outcome>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<readonly Outcome[]>,
): Promise<readonly (Outcome | Refusal)[]> {
  if (items.length === 0) return [];
  try {
    return await work(items);
  } catch (error) {
    if (!refusesData(error)) throw error;
    if (items.length === 1) return [{ refused: error.message }];
  }
  const middle = Math.ceil(items.length / 2);
  const first = await isolating(items.slice(0, middle), work);
  return [...first, ...(await isolating(items.slice(middle), work))];
}
