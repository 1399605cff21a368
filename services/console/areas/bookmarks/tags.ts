// Tags: how many bookmarks have each, renaming, merging and deleting.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { RenamedTag } from '../../../bookmarks/many/contract.ts';
import { Problems } from '../../contract.ts';
import { action, fieldText, noFields, page, type Refilled, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { chips } from '../../view/filters.ts';
import { type Faults, field, form } from '../../view/forms.ts';
import type { Locale } from '../../view/locale.ts';
import { actionButton, actionsFormElement } from '../../view/lists.ts';
import { withQuery } from '../../view/pager.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty } from '../../view/states.ts';
import { change, countsOf, path } from './catalogue.ts';

const tagsPath = '/bookmarks/tags';
const ByName = z.object({ name: z.string() });

const list = page({
  path: tagsPath,
  area: 'bookmarks',
  async show({ locale, ask, may }) {
    const { bookmarks, view } = locale.t;
    const { tags } = await countsOf({ ask });
    const hrefOf = (name: string) => (may('bookmarks', 'editor') ? pathOf`/bookmarks/tags/${name}` : withQuery(path, { tag: name }));
    return {
      title: bookmarks.tagsPage,
      body: [
        pageHead({
          title: bookmarks.tagsPage,
          trail: [{ label: view.areas.bookmarks, href: path }],
          lead: tags.length > 0 && may('bookmarks', 'editor') ? bookmarks.tagsLead : undefined,
        }),
        tags.length === 0
          ? empty(bookmarks.noTags)
          : h(
              'div',
              { class: 'cloud' },
              chips(
                locale,
                bookmarks.tagsPage,
                tags.map(({ name, count }) => ({ label: name, href: hrefOf(name), count, isCurrent: false })),
              ),
            ),
      ],
    };
  },
});

async function showOne({ locale, ask }: Pick<Visit, 'ask' | 'locale'>, name: string, entered?: Refilled) {
  const { bookmarks } = locale.t;
  const { tags } = await countsOf({ ask });
  const tag = tags.find((each) => each.name === name);
  if (!tag) throw Problems.missing();
  const suggestions = tags.map((each) => each.name).filter((other) => other !== name);
  const at = pathOf`/bookmarks/tags/${name}`;
  const faults = entered?.faults;
  const value = entered && fieldText(entered.fields, 'name');
  return {
    title: name,
    body: [
      pageHead({
        title: name,
        trail: [{ label: bookmarks.tagsPage, href: tagsPath }],
        lead: h('a', { href: withQuery(path, { tag: name }) }, bookmarks.withThisTag(tag.count)),
      }),
      section(bookmarks.renameOrMerge, renameForm(locale, { at, value, suggestions, faults })),
      section(
        bookmarks.deleteTag,
        h('p', null, bookmarks.deleteTagHint),
        actionButton({ path: `${at}/delete`, label: bookmarks.deleteTag, icon: 'delete', tone: 'danger' }),
      ),
      actionsFormElement(),
    ],
  };
}

type Renaming = { readonly at: string; readonly value: string | undefined; readonly suggestions: readonly string[]; readonly faults: Faults | undefined };

const renameForm = (locale: Locale, { at, value, suggestions, faults }: Renaming): VNode => {
  const { bookmarks } = locale.t;
  const entry = { label: bookmarks.newName, hint: bookmarks.mergeHint, value, isRequired: true, maxLength: 100, suggestions, faults };
  return form(locale, { path: at, submit: bookmarks.rename, faults }, field(locale, { kind: 'text', name: 'name', ...entry }));
};

const one = page({ path: '/bookmarks/tags/{name}', area: 'bookmarks', role: 'editor', params: ByName, show: (visit) => showOne(visit, visit.params.name) });

const rename = action({
  path: '/bookmarks/tags/{name}',
  area: 'bookmarks',
  params: ByName,
  form: z.object({ name: z.string() }),
  async run(visit) {
    const { params, form: entered, locale } = visit;
    const { answer, ...taken } = await change(visit, { method: 'PUT', path: pathOf`/api/tags/${params.name}`, body: entered }, RenamedTag);
    return {
      message: locale.t.bookmarks[answer.merged ? 'merged' : 'renamed'](params.name, answer.name),
      target: `${params.name} → ${answer.name}`,
      to: withQuery(path, { tag: answer.name }),
      ...taken,
    };
  },
  again: (visit) => showOne(visit, visit.params.name, visit),
});

const remove = action({
  path: '/bookmarks/tags/{name}/delete',
  area: 'bookmarks',
  params: ByName,
  form: noFields,
  async run(visit) {
    const { name } = visit.params;
    const { answer: _, ...taken } = await change(visit, { method: 'DELETE', path: pathOf`/api/tags/${name}` }, z.undefined());
    return { message: visit.locale.t.bookmarks.tagDeleted(name), target: name, to: tagsPath, ...taken };
  },
});

export const tagPages = [list, one, rename, remove];
