// Forms: fields with their labels, hints and faults, and the form that asks for a name before something is gone.
import { type Attributes, type ComponentChildren, h, type VNode } from './elements.ts';
import type { Option } from './filters.ts';
import type { Locale } from './locale.ts';

/** As a problem document has them: member to messages. */
export type Faults = Readonly<Record<string, readonly string[]>>;

type Common = {
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly faults?: Faults | undefined;
  readonly isRequired?: boolean;
};

export type Field = Common &
  (
    | {
        readonly kind: 'text' | 'url' | 'password' | 'search' | 'number' | 'date' | 'datetime-local';
        readonly value?: string | undefined;
        /** `off`, `username`, `current-password`, … */
        readonly autocomplete?: string;
        readonly suggestions?: readonly string[];
        readonly maxLength?: number;
        readonly isFocused?: boolean;
      }
    | { readonly kind: 'lines'; readonly value?: string | undefined; readonly rows?: number; readonly maxLength?: number }
    /** Lines that are masked while they are typed, and that no page fills. */
    | { readonly kind: 'secret'; readonly rows?: number }
    | { readonly kind: 'choice'; readonly value?: string | undefined; readonly options: readonly Option[] }
    | { readonly kind: 'check'; readonly isChecked: boolean }
    | { readonly kind: 'file'; readonly accept: string }
  );

const idOf = (name: string) => `field-${name}`;

export function field(locale: Locale, of: Field): VNode {
  const { name, label, hint, faults, isRequired } = of;
  const messages = faults?.[name] ?? [];
  const id = idOf(name);
  const described = [hint ? `${id}-hint` : '', messages.length > 0 ? `${id}-fault` : ''].filter(Boolean).join(' ');
  const attributes = {
    id,
    name,
    required: isRequired,
    'aria-describedby': described || undefined,
    'aria-invalid': messages.length > 0 ? 'true' : undefined,
  } as const;
  const notes = [
    hint ? h('p', { id: `${id}-hint`, class: 'hint' }, hint) : null,
    messages.length > 0 ? h('p', { id: `${id}-fault`, class: 'fault' }, messages.join(' ')) : null,
  ];
  if (of.kind === 'check') {
    return h(
      'div',
      { class: 'field check' },
      h('label', null, h('input', { type: 'checkbox', value: 'true', checked: of.isChecked, ...attributes }), label),
      notes,
    );
  }
  const mark = isRequired ? null : h('span', { class: 'quiet' }, locale.t.view.form.optional);
  return h('div', { class: 'field' }, h('label', { for: id }, label, mark && ' ', mark), controlOf(of, attributes), notes);
}

function controlOf(of: Exclude<Field, { kind: 'check' }>, attributes: Attributes & { readonly id: string }): ComponentChildren {
  switch (of.kind) {
    case 'lines':
      return h('textarea', { ...attributes, rows: of.rows ?? 4, maxlength: of.maxLength }, of.value ?? '');
    case 'secret':
      // A spelling check may ask a server of the browser's maker.
      return h('textarea', { ...attributes, class: 'masked', rows: of.rows ?? 2, autocomplete: 'off', autocapitalize: 'off', spellcheck: false });
    case 'choice':
      return h(
        'select',
        attributes,
        of.options.map(({ value, label }) => h('option', { value, selected: value === of.value }, label)),
      );
    case 'file':
      return h('input', { ...attributes, type: 'file', accept: of.accept });
    default: {
      const list = of.suggestions ? `${attributes.id}-list` : undefined;
      const { kind: type, value, maxLength, autocomplete } = of;
      return [
        h('input', { ...attributes, type, value, maxlength: maxLength, autocomplete, list, autofocus: of.isFocused }),
        list
          ? h(
              'datalist',
              { id: list },
              of.suggestions?.map((suggestion) => h('option', { value: suggestion })),
            )
          : null,
      ];
    }
  }
}

/**
 * Above a form that came back: how many entries need a change, each a link to its field. It has the focus, so that keys and screen readers begin there.
 * @param field the id of the only field, where its name does not give it
 */
export function faultSummary({ t }: Locale, faults: Faults | undefined, field?: string): VNode | null {
  const entries = Object.entries(faults ?? {});
  if (entries.length === 0) return null;
  return h(
    'div',
    { class: 'faults', role: 'alert', id: field && `${field}-fault`, ...(field === undefined && { tabindex: -1, autofocus: true }) },
    h('p', { class: 'strong' }, t.view.form.faults(entries.length)),
    h(
      'ul',
      null,
      entries.map(([name, messages]) => h('li', null, h('a', { href: `#${field ?? idOf(name)}` }, messages.join(' ')))),
    ),
  );
}

export type Form = {
  readonly path: string;
  readonly faults?: Faults | undefined;
  readonly submit: string;
  readonly cancel?: string | undefined;
  /** Buttons beside those. */
  readonly further?: ComponentChildren;
  readonly isUpload?: boolean;
  /** Where the script asks how far an upload is. */
  readonly progressPath?: string;
};

export const form = (locale: Locale, { path, faults, submit, cancel, further, isUpload, progressPath }: Form, ...fields: ComponentChildren[]): VNode =>
  h(
    'form',
    { class: 'entry', method: 'post', action: path, ...(isUpload && { enctype: 'multipart/form-data' }) },
    faultSummary(locale, faults),
    ...fields,
    h(
      'div',
      { class: 'buttons' },
      h('button', { class: 'primary' }, submit),
      further,
      cancel === undefined ? null : h('a', { class: 'button plain', href: cancel }, locale.t.view.form.cancel),
    ),
    // Shown by the script while the file is on its way.
    isUpload
      ? h(
          'p',
          { hidden: true, class: 'wait', role: 'status', 'data-wait': progressPath ?? '' },
          h('progress', { 'aria-label': submit }),
          locale.t.view.form.uploading,
        )
      : null,
  );

export type Confirmation = {
  readonly path: string;
  /** Where a page has several: part of the id of its field. */
  readonly id?: string;
  /** The text to type; the action compares it with the member `confirm` once more. */
  readonly name: string;
  readonly label: string;
  readonly explanation: ComponentChildren;
  readonly fields?: ComponentChildren;
  readonly faults?: Faults | undefined;
};

/** The one question before something is gone for good, folded until it is wanted. */
export function confirmByName(locale: Locale, { path, id, name, label, explanation, fields, faults }: Confirmation): VNode {
  const isRefused = Object.keys(faults ?? {}).length > 0;
  const field = idOf(id === undefined ? 'confirm' : `confirm-${id}`);
  const input = h('input', {
    id: field,
    name: 'confirm',
    required: true,
    autocomplete: 'off',
    spellcheck: false,
    autofocus: isRefused,
    pattern: escaped(name),
    'aria-describedby': `${field}-hint${isRefused ? ` ${field}-fault` : ''}`,
    'aria-invalid': isRefused ? 'true' : undefined,
  });
  return h(
    'details',
    { class: 'confirm', open: isRefused },
    h('summary', null, label),
    h(
      'form',
      { method: 'post', action: path },
      h('p', { id: `${field}-hint` }, explanation),
      fields,
      h('label', null, h('span', null, locale.t.view.form.confirmName(name)), input),
      faultSummary(locale, faults, field),
      h('button', { class: 'danger' }, label),
    ),
  );
}

/** A pattern of HTML that only this text matches; its syntax is that of the `v` flag. */
const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/&!#%,:;<=>@`~-]/g, '\\$&');
