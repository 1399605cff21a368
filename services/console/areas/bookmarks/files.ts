// Import and export of the bookmark files of browsers.
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { ImportResult } from '../../../bookmarks/contract.ts';
import { answer, Content } from '../../../platform/http/route.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { Common } from '../../../platform/problem.ts';
import { action, fieldCheck, fieldFile, page, type Refilled, resource, type Shown, type Visit } from '../../pages.ts';
import { field, form } from '../../view/forms.ts';
import { table } from '../../view/lists.ts';
import { pageHead, section } from '../../view/shell.ts';
import { path } from './catalogue.ts';

/** A hundred thousand bookmarks take about 20 MB; the command takes longer files. */
const mostFileMebibytes = 32;
const importMs = 120_000;
const mostShown = 200;
const progressPath = `${path}/import/progress`;

/** Bytes of the file that the catalogue has taken, for a session. */
type Importing = Map<string, { readonly taken: number; readonly all: number }>;

const headOf = ({ locale }: Pick<Visit, 'locale'>, title: string): VNode => pageHead({ title, trail: [{ label: locale.t.view.areas.bookmarks, href: path }] });

function filesPage({ locale, may }: Visit, refilled?: Refilled): Shown {
  const { bookmarks } = locale.t;
  const faults = refilled?.faults;
  const isChecked = (name: string) => refilled?.fields[name] === 'true';
  const hint = bookmarks.importHint(mostFileMebibytes);
  const upload = form(
    locale,
    { path: `${path}/import`, submit: bookmarks.import, isUpload: true, progressPath, faults },
    field(locale, { kind: 'file', name: 'file', label: bookmarks.file, accept: '.html,.htm,text/html', isRequired: true, hint, faults }),
    field(locale, { kind: 'check', name: 'private', label: bookmarks.private, isChecked: isChecked('private') }),
    field(locale, { kind: 'check', name: 'dryRun', label: bookmarks.dryRun, isChecked: isChecked('dryRun') }),
  );
  return {
    title: bookmarks.files,
    body: [
      headOf({ locale }, bookmarks.files),
      may('bookmarks', 'editor') ? section(bookmarks.import, upload) : null,
      section(
        bookmarks.export,
        h('p', { class: 'quiet' }, bookmarks.exportHint),
        h('p', null, h('a', { class: 'button', href: `${path}/export`, download: 'bookmarks.html' }, bookmarks.export)),
      ),
    ],
  };
}

const files = page({ path: '/bookmarks/files', area: 'bookmarks', show: (visit) => filesPage(visit) });

/** The catalogue reads a stream: it refuses a file that is not legible only in its middle, and keeps what it has stored by then. */
function isLegible(file: Buffer): boolean {
  const beginning = file.toString('latin1', 0, 1024);
  const isUtf16 = /^(?:\xff\xfe|\xfe\xff|.?\0)/s.test(beginning);
  return isUtf16 || /\bcharset/i.test(beginning) || isUtf8(file);
}

const refuse = (reason: string) => Common.invalid({ errors: { file: [reason] } });

const take = (importing: Importing) =>
  action({
    path: '/bookmarks/import',
    area: 'bookmarks',
    hasFile: true,
    maxFormBytes: mostFileMebibytes * 1_048_576,
    form: z.object({ file: fieldFile, private: fieldCheck, dryRun: fieldCheck }),
    async run(visit) {
      const { form: entered, ask, locale, session } = visit;
      const { bookmarks } = locale.t;
      const { file } = entered;
      if (!isLegible(file)) throw refuse(bookmarks.illegible);
      const call = {
        method: 'POST',
        path: '/api/import',
        query: { dryRun: entered.dryRun, private: entered.private ? 'include' : 'exclude' },
        body: file,
        headers: { 'Content-Type': 'text/html' },
        timeoutMs: importMs,
        onSent(taken: number) {
          // A refusal may come before all of it was sent.
          if (importing.has(session.id)) importing.set(session.id, { taken, all: file.length });
        },
      } as const;
      importing.set(session.id, { taken: 0, all: file.length });
      const result = await ask('bookmarks')
        .send(call, ImportResult)
        .finally(() => importing.delete(session.id));
      const { created, skipped, failed } = result;
      if (created + skipped + failed.length === 0) throw refuse(bookmarks.noneInFile);
      const message = (entered.dryRun ? bookmarks.wouldImport : bookmarks.imported)(created, skipped, failed.length);
      return { message, target: `${created} bookmarks`, page: { title: bookmarks.outcome, body: outcome(visit, message, result) } };
    },
    again: (visit) => filesPage(visit, visit),
  });

/** How far the import of this session is; empty where another process has it, or none is under way. */
const progress = (importing: Importing) =>
  resource({
    path: '/bookmarks/import/progress',
    area: 'bookmarks',
    role: 'editor',
    answer: async ({ session }) => answer(200, new Content('application/json', JSON.stringify(importing.get(session.id) ?? {}))),
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

export function createFilePages() {
  const importing: Importing = new Map();
  return [files, take(importing), progress(importing), give];
}
