// The envelopes of the link digest's answers: success with data, failure with a message.
import { z } from 'zod';
import type { RefusalForm } from '../platform/http/refusals.ts';
import { Count } from '../platform/schema.ts';
import { isObject } from '../platform/json.ts';
import type { Problem } from '../platform/problem.ts';

const Failure = z
  .object({ success: z.literal(false).meta({ description: 'Always false' }), message: z.string().meta({ description: 'The fault of the request' }) })
  .meta({ id: 'Failure', description: 'A refusal', examples: [{ success: false, message: 'No such link' }] });

export const Pagination = z
  .object({
    page: z.int().min(1).meta({ description: 'The number of the page, from 1' }),
    perPage: z.int().min(1).meta({ description: 'How many items a page holds at most' }),
    totalItems: Count.meta({ description: 'How many items there are on all pages' }),
    totalPages: Count.meta({ description: 'How many pages there are; 0 without items' }),
  })
  .meta({ id: 'Pagination', description: 'The page of a list', examples: [{ page: 1, perPage: 20, totalItems: 41, totalPages: 3 }] });

const isSuccess = z.literal(true).meta({ description: 'Always true' });
/** A schema for each kind of data, named after it in the API description. */
export const Success = <S extends z.ZodType>(data: S) =>
  z.object({ success: isSuccess, data }).meta({ id: `${String(data.meta()?.id)}Answer`, description: 'The envelope of an answer' });
const itemsOf = <S extends z.ZodType>(item: S) => z.array(item).meta({ description: 'The items, in the order of the list' });
const Next = z
  .string()
  .nullable()
  .meta({ description: 'The `after` of the next page, or null at the end; present where `after` or `limit` was given', examples: [null] });
/** A list that is paged on request, by number or by cursor. */
export const List = <S extends z.ZodType>(item: S) =>
  z
    .object({ success: isSuccess, data: itemsOf(item), pagination: Pagination.optional(), next: Next.optional() })
    .meta({ id: `${String(item.meta()?.id)}List`, description: 'The envelope of a list; `pagination` is absent where no numbered page was asked for' });

export const success = <T>(data: T) => ({ success: true as const, data });

export type PageRequest = { readonly page: number; readonly perPage: number };
export const paginationOf = ({ page, perPage }: PageRequest, totalItems: number) => ({
  page,
  perPage,
  totalItems,
  totalPages: totalItems === 0 ? 0 : Math.ceil(totalItems / perPage),
});

/** Faults of single members are named one by one. */
function messageOf({ kind, detail, members: { errors } }: Problem): string {
  if (!isObject(errors)) return detail ?? kind.title;
  return Object.entries(errors)
    .map(([name, faults]) => `${name}: ${String(faults)}`)
    .join('; ');
}

export const failureEnvelope: RefusalForm = {
  description: 'Every answer is an envelope; a refusal has `success: false` and a `message`.',
  mediaType: 'application/json',
  toBody: (problem) => ({ success: false, message: messageOf(problem) }),
  schemaOf: () => Failure,
};
