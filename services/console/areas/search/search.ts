// Search over all areas that a person may see, at once; an area whose service fails says so in its own place.
import { h, type VNode } from 'preact';
import { z } from 'zod';
import { Problem } from '../../../platform/problem.ts';
import { Problems } from '../../contract.ts';
import { page, type Visit } from '../../pages.ts';
import { rowList } from '../../view/lists.ts';
import { icon } from '../../view/icons.ts';
import { pageHead } from '../../view/shell.ts';
import { empty, failure } from '../../view/states.ts';
import { type Found, type Source, sources } from './sources.ts';

type Outcome = { readonly source: Source; readonly found: readonly Found[] } | { readonly source: Source; readonly problem: Problem };

async function look({ ask, locale }: Visit, source: Source, q: string): Promise<Outcome> {
  try {
    return { source, found: await source.ask(ask(source.service), q, locale) };
  } catch (error) {
    if (error instanceof Problem) return { source, problem: error };
    throw error;
  }
}

function part({ locale, requestId, path }: Visit, outcome: Outcome, q: string): VNode | null {
  const { area, all } = outcome.source;
  const title = locale.t.view.areas[area];
  const head = (more: VNode | null) => h('h2', { class: 'found-in' }, icon(area), title, more);
  if ('problem' in outcome) {
    const { problem } = outcome;
    const isCredentialRefused = problem.kind === Problems.credentialRefused;
    return h(
      'section',
      { class: 'part' },
      head(null),
      failure(locale, { service: outcome.source.service, requestId, detail: problem.detail, isCredentialRefused, again: path }),
    );
  }
  if (outcome.found.length === 0) return null;
  return h(
    'section',
    { class: 'part' },
    head(h('a', { href: all(q), 'aria-label': locale.t.search.allIn(title) }, locale.t.search.all)),
    rowList({ label: title, kind: 'lines', items: outcome.found, idOf: ({ id }) => id, content: ({ content }) => content }),
  );
}

const search = page({
  path: '/search',
  area: 'me',
  query: z.object({ q: z.string().max(200).optional() }),
  async show(visit) {
    const { locale, query, may, has } = visit;
    const words = locale.t.search;
    const q = query.q?.trim() ?? '';
    const asked = q === '' ? [] : sources.filter(({ area, service }) => may(area) && has(service));
    const outcomes = await Promise.all(asked.map((source) => look(visit, source, q)));
    const parts = outcomes.flatMap((outcome) => part(visit, outcome, q) ?? []);
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
      h('button', null, words.title),
    );
    const nothing = q === '' ? empty({ title: words.start, text: words.startHint }) : empty({ title: words.nothing(q), text: words.nothingHint });
    return { title: q === '' ? words.title : words.titleOf(q), body: [pageHead({ title: words.title }), form, parts.length > 0 ? parts : nothing] };
  },
});

export const searchPages = [search];
