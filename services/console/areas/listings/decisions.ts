// Decisions on listings, one or many, and notes; each can be taken back.
import { z } from 'zod';
import { BulkResult, Property, PropertyStatus } from '../../../listings/contract.ts';
import { action, fieldList } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { decidePath } from './rows.ts';

const bulkAction = { approved: 'approve', recycled: 'recycle', inbox: 'restore' } as const;

/** A row has all listings of its flat on the page: their ids with commas between. */
const Ids = fieldList(500).transform((fields) => [...new Set(fields.flatMap((field) => field.split(',')))].filter((id) => id !== ''));

const decide = action({
  path: '/listings/decide/{from}/{to}',
  area: 'listings',
  params: z.object({ from: PropertyStatus, to: PropertyStatus }),
  form: z.object({ id: Ids }),
  async run({ params: { from, to }, form: { id: ids }, locale, ask }) {
    const api = ask('listings');
    const { decided } = locale.t.listings;
    const undo = { path: decidePath(to, from), fields: { id: ids.join(',') } };
    const [first = ''] = ids;
    if (ids.length === 1) {
      const { address } = await api.send({ method: 'PATCH', path: pathOf`/api/properties/${first}`, body: { status: to } }, Property);
      return { message: decided.one[to](address), target: `${to}: ${first}`, name: address, undo };
    }
    const { updated } = await api.send({ method: 'POST', path: '/api/properties/bulk', body: { ids, action: bulkAction[to] } }, BulkResult);
    return { message: decided.several[to](updated), target: `${to}: ${ids.slice(0, 3).join(', ')} (${ids.length})`, undo };
  },
});

const note = action({
  path: '/listings/{id}/note',
  area: 'listings',
  params: z.object({ id: z.string() }),
  form: z.object({ notes: z.string() }),
  async run({ params: { id }, form: { notes }, locale, ask }) {
    const api = ask('listings');
    const before = await api.get(pathOf`/api/properties/${id}`, Property);
    // Forms end lines with CRLF.
    await api.send({ method: 'PATCH', path: pathOf`/api/properties/${id}`, body: { notes: notes.replaceAll('\r\n', '\n').trim() } }, Property);
    return {
      message: locale.t.listings.note.saved,
      target: id,
      name: before.address,
      undo: { path: `/listings/${id}/note`, fields: { notes: before.notes ?? '' } },
    };
  },
});

export const decisionActions = [decide, note];
