// The schemas of changes that can be taken back.
import { z } from 'zod';
import { Count } from '../../platform/schema.ts';
import { asId } from '../contract.ts';

/** The header with the id by which a change is taken back. */
export const undoHeader = 'X-Undo-Id';
export const withUndo = { [undoHeader]: { description: 'With `undo=true`: takes the change back, as `POST /api/undo/{id}`', isOptional: true } } as const;

export const ByChange = z.object({ id: z.string().transform(asId).meta({ description: 'The id in the header X-Undo-Id of a change', format: 'uuid' }) });

export const Undone = z
  .object({
    bookmarks: Count.meta({ description: 'How many of its bookmarks are there' }),
    folders: Count.meta({ description: 'How many folders are back' }),
  })
  .meta({ id: 'Undone', description: 'The result of taking a change back' });
