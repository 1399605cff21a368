// The envelopes of everything that the link digest answers: success with data, failure with a message.
import { z } from 'zod';
import type { RefusalForm } from '../platform/http/refusals.ts';
import { Count } from '../platform/schema.ts';
import { isObject } from '../platform/json.ts';
import type { Problem } from '../platform/problem.ts';

const Failure = z.object({ success: z.literal(false), message: z.string() }).meta({ id: 'Failure', examples: [{ success: false, message: 'No such link' }] });

export const Pagination = z
  .object({ page: z.int().min(1), perPage: z.int().min(1), totalItems: Count, totalPages: Count })
  .meta({ id: 'Pagination', examples: [{ page: 1, perPage: 20, totalItems: 41, totalPages: 3 }] });

/** Of each kind of data one: it has the name of that in the API description. */
export const Success = <S extends z.ZodType>(data: S) => z.object({ success: z.literal(true), data }).meta({ id: `${String(data.meta()?.id)}Answer` });
export const Page = <S extends z.ZodType>(item: S) =>
  z.object({ success: z.literal(true), data: z.array(item), pagination: Pagination }).meta({ id: `${String(item.meta()?.id)}Page` });
/** Of a list that is paged when it is asked for a page, and whole otherwise. */
export const List = <S extends z.ZodType>(item: S) =>
  z.object({ success: z.literal(true), data: z.array(item), pagination: Pagination.optional() }).meta({ id: `${String(item.meta()?.id)}List` });

export const success = <T>(data: T) => ({ success: true as const, data });

export type PageRequest = { readonly page: number; readonly perPage: number };
export const paginationOf = ({ page, perPage }: PageRequest, totalItems: number) => ({
  page,
  perPage,
  totalItems,
  totalPages: totalItems === 0 ? 0 : Math.ceil(totalItems / perPage),
});

/** Where single members are at fault, each with what is wrong with it. */
function messageOf({ kind, detail, members: { errors } }: Problem): string {
  if (!isObject(errors)) return detail ?? kind.title;
  return Object.entries(errors)
    .map(([name, faults]) => `${name}: ${String(faults)}`)
    .join('; ');
}

export const failureEnvelope: RefusalForm = {
  mediaType: 'application/json',
  toBody: (problem) => ({ success: false, message: messageOf(problem) }),
  schemaOf: () => Failure,
};
