// The message that a page shows once, with the way to take the change back.
import { h, type VNode } from './elements.ts';
import type { Notice, NoticeLink, Undo } from './frame.ts';
import { icon } from './icons.ts';
import type { Locale } from './locale.ts';

/** Present on every page, so that screen readers hear what a script writes into it. */
export function noticeOf(locale: Locale, notice: Notice | undefined): VNode {
  const { view } = locale.t;
  const texts = { 'data-undo': view.undo, 'data-dismiss': view.dismiss, 'data-failed': view.client.failed, 'data-offline': view.client.offline };
  const more = { 'data-nothing': view.client.nothingToUndo, 'data-copied': view.copy.copied, 'data-uncopied': view.copy.failed };
  return h(
    'div',
    { id: 'notice', role: 'status', class: notice ? `notice ${notice.tone ?? 'good'}` : 'notice', ...texts, ...more },
    notice
      ? [
          h('p', null, notice.message),
          notice.link ? linkTo(notice.link) : null,
          notice.undo ? undoForm(locale, notice.undo) : null,
          notice.again ? againForm(locale, notice.again) : null,
        ]
      : null,
  );
}

export const hiddenFields = (fields: Readonly<Record<string, string | readonly string[]>>): VNode[] =>
  Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one) => h('input', { type: 'hidden', name, value: one })));

const linkTo = ({ href, label }: NoticeLink): VNode => h('a', { class: 'button plain', href }, label);

const undoForm = (locale: Locale, { path, fields }: Undo): VNode =>
  h('form', { method: 'post', action: path }, hiddenFields(fields), h('button', { 'data-key': 'u', class: 'plain' }, icon('undo'), locale.t.view.undo));

const againForm = ({ t }: Locale, { path, fields }: NonNullable<Notice['again']>): VNode =>
  h('form', { method: 'post', action: path }, hiddenFields(fields), h('button', { class: 'plain' }, icon('again'), t.access.entered.again));
