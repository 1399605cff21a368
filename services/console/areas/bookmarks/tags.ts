// Tags: how many bookmarks have each, renaming, merging and deleting.
import { h } from 'preact';
import { z } from 'zod';
import { Counts } from '../../../bookmarks/contract.ts';
import { RenamedTag } from '../../../bookmarks/many/contract.ts';
import { Common } from '../../../platform/problem.ts';
import { Problems } from '../../contract.ts';
import { action, page } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { chips } from '../../view/filters.ts';
import { confirmByName, field, form } from '../../view/forms.ts';
import { withQuery } from '../../view/pager.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty } from '../../view/states.ts';
import { path } from './catalogue.ts';

const tagsPath = '/bookmarks/tags';
const ByName = z.object({ name: z.string() });

const list = page({
  path: tagsPath,
  area: 'bookmarks',
  async show({ locale, ask, may }) {
    const { bookmarks, view } = locale.t;
    const { tags } = await ask('bookmarks').get('/api/bookmarks/counts', Counts);
    const hrefOf = (name: string) => (may('bookmarks', 'editor') ? pathOf`/bookmarks/tags/${name}` : withQuery(path, { tag: name }));
    return {
      title: bookmarks.tagsPage,
      body: [
        pageHead({ title: bookmarks.tagsPage, trail: [{ label: view.areas.bookmarks, href: path }] }),
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

const one = page({
  path: '/bookmarks/tags/{name}',
  area: 'bookmarks',
  role: 'editor',
  params: ByName,
  async show({ locale, params: { name }, ask }) {
    const { bookmarks } = locale.t;
    const { tags } = await ask('bookmarks').get('/api/bookmarks/counts', Counts);
    const tag = tags.find((each) => each.name === name);
    if (!tag) throw Problems.missing();
    const suggestions = tags.map((each) => each.name).filter((other) => other !== name);
    const at = pathOf`/bookmarks/tags/${name}`;
    return {
      title: name,
      body: [
        pageHead({
          title: name,
          trail: [{ label: bookmarks.tagsPage, href: tagsPath }],
          lead: h('a', { href: withQuery(path, { tag: name }) }, bookmarks.withThisTag(tag.count)),
        }),
        section(
          bookmarks.rename,
          form(
            locale,
            { path: at, submit: bookmarks.rename },
            field(locale, { kind: 'text', name: 'name', label: bookmarks.newName, hint: bookmarks.mergeHint, isRequired: true, maxLength: 100, suggestions }),
          ),
        ),
        confirmByName(locale, { path: `${at}/delete`, name, label: bookmarks.deleteTag, explanation: bookmarks.deleteTagHint }),
      ],
    };
  },
});

const rename = action({
  path: '/bookmarks/tags/{name}',
  area: 'bookmarks',
  params: ByName,
  form: z.object({ name: z.string() }),
  async run({ params, form: { name }, locale, ask }) {
    const tag = await ask('bookmarks').send({ method: 'PUT', path: pathOf`/api/tags/${params.name}`, body: { name } }, RenamedTag);
    return { message: locale.t.bookmarks.renamed(params.name, tag.name), target: params.name, to: withQuery(path, { tag: tag.name }) };
  },
});

const remove = action({
  path: '/bookmarks/tags/{name}/delete',
  area: 'bookmarks',
  params: ByName,
  form: z.object({ confirm: z.string() }),
  async run({ params: { name }, form: { confirm }, locale, ask }) {
    const { bookmarks } = locale.t;
    if (confirm !== name) throw Common.invalid({ errors: { confirm: [bookmarks.wrongName] } });
    await ask('bookmarks').send({ method: 'DELETE', path: pathOf`/api/tags/${name}` }, z.undefined());
    return { message: bookmarks.tagDeleted(name), target: name, to: tagsPath };
  },
});

export const tagPages = [list, one, rename, remove];
