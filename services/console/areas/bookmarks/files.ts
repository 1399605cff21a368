// Import and export of the bookmark files of browsers.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { ImportResult } from '../../../bookmarks/contract.ts';
import { answer, Content } from '../../../platform/http/route.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { action, fieldCheck, fieldFile, page, resource, type Visit } from '../../pages.ts';
import { field, form } from '../../view/forms.ts';
import { table } from '../../view/lists.ts';
import { pageHead, section } from '../../view/shell.ts';
import { path } from './catalogue.ts';

/** A hundred thousand bookmarks take about 20 MB; the command takes longer files. */
const mostFileBytes = 32 * 1_048_576;
const importMs = 120_000;
const mostShown = 200;

const headOf = ({ locale }: Pick<Visit, 'locale'>, title: string): VNode => pageHead({ title, trail: [{ label: locale.t.view.areas.bookmarks, href: path }] });

const files = page({
  path: '/bookmarks/files',
  area: 'bookmarks',
  show(visit) {
    const { locale, may } = visit;
    const { bookmarks } = locale.t;
    const upload = form(
      locale,
      { path: `${path}/import`, submit: bookmarks.import, isUpload: true },
      field(locale, { kind: 'file', name: 'file', label: bookmarks.file, accept: '.html,.htm,text/html', isRequired: true, hint: bookmarks.importHint }),
      field(locale, { kind: 'check', name: 'private', label: bookmarks.private, isChecked: false }),
      field(locale, { kind: 'check', name: 'dryRun', label: bookmarks.dryRun, isChecked: false }),
    );
    return {
      title: bookmarks.files,
      body: [
        headOf(visit, bookmarks.files),
        may('bookmarks', 'editor') ? section(bookmarks.import, upload) : null,
        section(
          bookmarks.export,
          h('p', { class: 'quiet' }, bookmarks.exportHint),
          h('p', null, h('a', { class: 'button', href: `${path}/export`, download: 'bookmarks.html' }, bookmarks.export)),
        ),
      ],
    };
  },
});

const take = action({
  path: '/bookmarks/import',
  area: 'bookmarks',
  hasFile: true,
  maxFormBytes: mostFileBytes,
  form: z.object({ file: fieldFile, private: fieldCheck, dryRun: fieldCheck }),
  async run(visit) {
    const { form: entered, ask, locale } = visit;
    const { bookmarks } = locale.t;
    const result = await ask('bookmarks').send(
      {
        method: 'POST',
        path: '/api/import',
        query: { dryRun: entered.dryRun, private: entered.private ? 'include' : 'exclude' },
        body: entered.file,
        headers: { 'Content-Type': 'text/html' },
        timeoutMs: importMs,
      },
      ImportResult,
    );
    const { created, skipped, failed } = result;
    const message = (entered.dryRun ? bookmarks.wouldImport : bookmarks.imported)(created, skipped, failed.length);
    return { message, target: `${created} bookmarks`, page: { title: bookmarks.outcome, body: outcome(visit, message, result) } };
  },
});

function outcome(visit: Pick<Visit, 'locale'>, message: string, { failed, leftOut }: AnswerOf<typeof ImportResult>): VNode[] {
  const { bookmarks } = visit.locale.t;
  const items = [...failed, ...leftOut].slice(0, mostShown);
  const columns = [
    { label: bookmarks.title, kind: 'main', cell: ({ title }: (typeof items)[number]) => title },
    { label: bookmarks.reason, cell: ({ reason }: (typeof items)[number]) => reason },
  ] as const;
  return [
    headOf(visit, bookmarks.outcome),
    h('p', { role: 'status' }, message),
    ...(items.length > 0
      ? [section(bookmarks.notImported, table({ caption: bookmarks.notImported, columns, items, idOf: ({ index }) => String(index) }))]
      : []),
  ];
}

const give = resource({
  path: '/bookmarks/export',
  area: 'bookmarks',
  async answer({ ask }) {
    const { body } = await ask('bookmarks').open({ path: '/api/export', headers: { Accept: 'text/html' }, timeoutMs: importMs });
    return answer(200, new Content('text/html; charset=utf-8', body), {
      'Content-Disposition': 'attachment; filename="bookmarks.html"',
    });
  },
});

export const filePages = [files, take, give];
