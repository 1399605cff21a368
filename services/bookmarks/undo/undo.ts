// Changes that can be taken back within a day.
import { v7 as newId } from 'uuid';
import { route } from '../../platform/http/route.ts';
import { Problems } from '../contract.ts';
import type { CatalogueStore, CatalogueWriter } from '../store.ts';
import { ByChange, Undone, undoHeader } from './contract.ts';
import type { Affected } from './store.ts';

export const undoRoute = (store: CatalogueStore) =>
  route({
    method: 'post',
    path: '/api/undo/{id}',
    operationId: 'undoChange',
    summary: 'Takes a change back that was made with undo=true',
    description:
      'Deleted bookmarks and folders return under their ids; changed bookmarks have their former tags, folder and mark of a favorite. All or nothing, and once: a repeat answers 404.',
    params: ByChange,
    answers: { 200: Undone },
    problems: [Problems.changeMissing],
    handle: ({ params }) =>
      store.write(async (writer) => {
        const undone = await writer.undo(params.id);
        if (!undone) throw Problems.changeMissing();
        return undone;
      }),
  });

/** Keeps what a change is about to take away, where it was asked for. @returns the header of the answer */
export async function remember(writer: CatalogueWriter, isWanted: boolean, affected: Affected): Promise<Readonly<Record<string, string>>> {
  if (!isWanted) return {};
  const id = newId();
  await writer.remember(id, affected);
  return { [undoHeader]: id };
}
