// Search over all areas that a person may see, at once; an area whose service fails says so in its own place.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { page, type Visit } from '../../pages.ts';
import { faultOf, type Part, partOf } from '../../parts.ts';
import { rowList } from '../../view/lists.ts';
import { icon } from '../../view/icons.ts';
import type { Locale } from '../../view/locale.ts';
import { pageHead } from '../../view/shell.ts';
import { empty } from '../../view/states.ts';
import { tracePath } from '../events/event-table.ts';
import { type Found, type Source, sources } from './sources.ts';

type Outcome = { readonly source: Source; readonly looked: Part<readonly Found[]> };

function outcomeOf(visit: Visit, { source: { area, all }, looked }: Outcome, q: string): VNode | null {
  const title = visit.locale.t.view.areas[area];
  const { search: words } = visit.locale.t;
  const head = (more: VNode | null) => h('h2', { class: 'found-in' }, icon(area), title, more);
  if (looked.problem) return h('section', { class: 'part' }, head(null), faultOf(visit, looked.problem));
  if (looked.value.length === 0) return null;
  return h(
    'section',
    { class: 'part' },
    head(h('a', { href: all(q), 'aria-label': words.allIn(title) }, words.all)),
    rowList({ label: title, kind: 'lines', items: looked.value, idOf: ({ id }) => id, content: ({ content }) => content }),
  );
}

/** An id as forges give one to a delivery. */
const looksLikeDelivery = /^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i;

/** Searches do not look at the ids of deliveries, so for one that exists they find nothing either. */
function nothingFor({ t: { search: words, events } }: Locale, q: string, isDelivery: boolean): VNode {
  if (q === '') return empty({ title: words.start, text: words.startHint });
  if (!isDelivery) return empty({ title: words.nothing(q), text: words.nothingHint });
  return empty({ title: words.nothingNamed, text: words.perhapsDelivery, link: { href: tracePath(q), label: events.toTrace } });
}

const search = page({
  path: '/search',
  area: 'me',
  query: z.object({ q: z.string().max(200).optional() }),
  async show(visit) {
    const { locale, query, may, has, ask } = visit;
    const words = locale.t.search;
    const q = query.q?.trim() ?? '';
    const asked = q === '' ? [] : sources.filter(({ area, service }) => may(area) && has(service));
    const outcomes = await Promise.all(asked.map(async (source) => ({ source, looked: await partOf(source.ask(ask(source.service), q, locale)) })));
    const parts = outcomes.flatMap((outcome) => outcomeOf(visit, outcome, q) ?? []);
    const isDelivery = looksLikeDelivery.test(q) && may('events') && has('intake');
    const way = isDelivery && parts.length > 0 ? h('p', null, h('a', { href: tracePath(q) }, locale.t.events.toTrace)) : null;
    const form = h(
      'form',
      { class: 'filters', action: '/search', role: 'search', 'aria-label': words.title },
      h(
        'label',
        { class: 'find' },
        h('span', { class: 'unseen' }, locale.t.view.searchEverything),
        icon('search'),
        h('input', {
          type: 'search',
          name: 'q',
          value: q,
          placeholder: locale.t.view.searchEverything,
          'data-key': '/',
          'data-key-label': locale.t.view.searchEverything,
        }),
      ),
      h('button', null, locale.t.view.search),
    );
    return {
      title: q === '' ? words.title : words.titleOf(q),
      body: [pageHead({ title: words.title }), form, way, parts.length > 0 ? parts : nothingFor(locale, q, isDelivery)],
    };
  },
});

export const searchPages = [search];
