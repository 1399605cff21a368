// Presets: filters under a name, one of them the default.
import { z } from 'zod';
import { type ComponentChildren, h, type VNode } from '../../view/elements.ts';
import { energyGrades, propertyTypes } from '../../../listings/contract.ts';
import { FilterPreset, mostCounted, PresetCount } from '../../../listings/presets/contract.ts';
import { action, ById, fieldCheck, fieldList, noFields, page, type Refilled } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import type { Fields, Shown, Visit } from '../../visits.ts';
import { field, type Faults, form } from '../../view/forms.ts';
import { icon } from '../../view/icons.ts';
import { actionBar, actionButton, actionsFormElement, rowLink, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pageHead } from '../../view/shell.ts';
import { empty } from '../../view/states.ts';
import { badge } from '../../view/texts.ts';
import { FilteredQuery, filterOf, inWords, type Preset, Presets } from './filters.ts';
import { areaTabs } from './tabs.ts';

const path = '/presets';
const numbers = ['minBeds', 'maxBeds', 'minBaths', 'minPrice', 'maxPrice'] as const;

const list = page({
  path,
  area: 'listings',
  async show({ locale, ask, may }) {
    const api = ask('listings');
    const [presets, counts] = await Promise.all([api.get('/api/presets', Presets), api.get('/api/presets/counts', z.array(PresetCount))]);
    const known = new Map(counts.map(({ id, count }) => [id, count]));
    const { presets: words } = locale.t.listings;
    const isEditor = may('listings', 'editor');
    const shown = table<Preset>({
      caption: words.title,
      items: presets,
      idOf: ({ id }) => id,
      columns: [
        {
          label: words.name,
          kind: 'main',
          cell: ({ id, name, isDefault }) => [rowLink(`/listings?preset=${id}`, name), ' ', isDefault ? badge('info', words.default) : null],
        },
        { label: words.filters, cell: (preset) => inWords(locale, preset) || words.everything },
        { label: words.waiting, kind: 'number', cell: ({ id }) => locale.format.upTo(known.get(id) ?? 0, mostCounted.listings) },
        ...(isEditor ? [{ label: words.actions, kind: 'actions', cell: (preset: Preset) => rowActions(locale, preset) } as const] : []),
      ],
    });
    return {
      title: words.title,
      body: [
        pageHead({
          title: words.title,
          lead: words.lead,
          actions: isEditor
            ? h('a', { class: 'button primary', href: `${path}/new`, 'data-key': 'n', 'data-key-label': words.add }, icon('add'), words.add)
            : null,
        }),
        areaTabs(locale, 'presets'),
        presets.length > 0 ? shown : empty({ ...words.empty, ...(isEditor && { link: { href: `${path}/new`, label: words.add } }) }),
        isEditor ? actionsFormElement() : null,
      ],
    };
  },
});

const rowActions = ({ t }: Locale, { id, isDefault }: Preset): VNode =>
  actionBar(
    isDefault ? null : actionButton({ path: `${path}/${id}/default`, label: t.listings.presets.makeDefault, icon: 'yes' }),
    h('a', { class: 'button', href: `${path}/${id}`, 'data-key': 'e', 'data-key-label': t.listings.presets.edit }, icon('edit'), t.listings.presets.edit),
    actionButton({ path: `${path}/${id}/delete`, label: t.view.form.delete, icon: 'delete', key: 'd', inPlace: 'leave', isIconOnly: true }),
  );

type Entries = { readonly values: Fields; readonly faults?: Faults };

const textOf = (values: Fields, name: string) => [values[name]].flat().join(', ');

function presetForm({ locale }: Visit, id: string | undefined, { values, faults }: Entries): Shown {
  const { presets, filters, types } = locale.t.listings;
  const title = id === undefined ? presets.add : presets.edit;
  const chosen = new Set([values['propertyTypes'] ?? []].flat().flatMap((text) => text.split(',')));
  const boxes = propertyTypes.map((type) =>
    h('label', null, h('input', { type: 'checkbox', name: 'propertyTypes', value: type, checked: chosen.has(type) }), types[type]),
  );
  const number = (name: (typeof numbers)[number]) => field(locale, { kind: 'number', name, label: filters[name], value: textOf(values, name), faults });
  return {
    title,
    body: [
      pageHead({ title, trail: [{ label: presets.title, href: path }] }),
      form(
        locale,
        { path: id === undefined ? `${path}/add` : `${path}/${id}/save`, submit: locale.t.view.form.save, cancel: path, faults },
        field(locale, {
          kind: 'text',
          name: 'name',
          label: presets.name,
          value: textOf(values, 'name'),
          isRequired: true,
          maxLength: 200,
          isFocused: true,
          faults,
        }),
        field(locale, { kind: 'text', name: 'routingKeys', label: filters.routingKeys, hint: presets.keysHint, value: textOf(values, 'routingKeys'), faults }),
        pair(number('minPrice'), number('maxPrice')),
        pair(number('minBeds'), number('maxBeds')),
        pair(
          number('minBaths'),
          field(locale, {
            kind: 'choice',
            name: 'berMin',
            label: filters.berMin,
            value: textOf(values, 'berMin'),
            options: [{ value: '', label: locale.t.view.filters.any }, ...energyGrades.map((value) => ({ value, label: value }))],
            faults,
          }),
        ),
        h('fieldset', { class: 'field boxes' }, h('legend', null, filters.propertyType), boxes),
        field(locale, { kind: 'check', name: 'isDefault', label: presets.isDefault, isChecked: values['isDefault'] === 'true' }),
      ),
    ],
  };
}

const pair = (...fields: ComponentChildren[]) => h('div', { class: 'pair' }, fields);

const fieldsOf = (preset: Preset): Fields => ({
  ...Object.fromEntries(Object.entries(filterOf(preset)).map(([name, value]) => [name, value ?? ''])),
  name: preset.name,
  isDefault: String(preset.isDefault),
});

const PresetForm = z.object({
  name: z.string(),
  routingKeys: z.string().default(''),
  propertyTypes: fieldList(),
  berMin: z.string().default(''),
  isDefault: fieldCheck,
  ...Object.fromEntries(numbers.map((name) => [name, z.string().default('')])),
});

/** The body as the API takes it; the API finds the faults, so that both say the same. */
function bodyOf({ name, routingKeys, propertyTypes: types, berMin, isDefault, ...given }: z.output<typeof PresetForm>) {
  const bounds = Object.fromEntries(Object.entries(given).map(([bound, text]) => [bound, numberOf(String(text))]));
  const keys = routingKeys.split(/[\s,]+/).filter((key) => key !== '');
  return { ...bounds, name, routingKeys: keys, propertyTypes: types, berMin: berMin === '' ? null : berMin, isDefault };
}

/** Null for none; a text that is no number stays, and is refused. */
function numberOf(text: string): number | string | null {
  const trimmed = text.trim();
  const value = Number(trimmed.replace(',', '.'));
  return trimmed === '' ? null : Number.isNaN(value) ? trimmed : value;
}

/** Faults of entries of lists are of the field. */
const ofFields = (faults: Refilled['faults']): Faults =>
  Object.fromEntries(Object.entries(faults).map(([name, messages]) => [name.replace(/[.[].*/, ''), messages]));

const newPreset = page({
  path: '/presets/new',
  area: 'listings',
  role: 'editor',
  query: FilteredQuery,
  show: (visit) => presetForm(visit, undefined, { values: Object.fromEntries(Object.entries(visit.query).map(([name, value]) => [name, value ?? ''])) }),
});

const add = action({
  path: '/presets/add',
  area: 'listings',
  form: PresetForm,
  async run({ form: given, locale, ask }) {
    const { id, name } = await ask('listings').send({ method: 'POST', path: '/api/presets', body: bodyOf(given) }, FilterPreset);
    return { message: locale.t.listings.presets.added(name), target: id, to: path, undo: { path: `${path}/${id}/delete`, fields: {} } };
  },
  again: (visit) => presetForm(visit, undefined, { values: visit.fields, faults: ofFields(visit.faults) }),
});

const edit = page({
  path: '/presets/{id}',
  area: 'listings',
  role: 'editor',
  params: ById,
  show: async (visit) =>
    presetForm(visit, visit.params.id, { values: fieldsOf(await visit.ask('listings').get(pathOf`/api/presets/${visit.params.id}`, FilterPreset)) }),
});

/** The members that a form or an undo writes back. */
const asJson = ({ id: _, createdAt: __, ...preset }: Preset) => JSON.stringify(preset);

const save = action({
  path: '/presets/{id}/save',
  area: 'listings',
  params: ById,
  form: PresetForm,
  async run({ params: { id }, form: given, locale, ask }) {
    const api = ask('listings');
    const before = await api.get(pathOf`/api/presets/${id}`, FilterPreset);
    const { name } = await api.send({ method: 'PUT', path: pathOf`/api/presets/${id}`, body: bodyOf(given) }, FilterPreset);
    return { message: locale.t.listings.presets.saved(name), target: id, to: path, undo: { path: `${path}/${id}/put`, fields: { preset: asJson(before) } } };
  },
  again: (visit) => presetForm(visit, visit.params.id, { values: visit.fields, faults: ofFields(visit.faults) }),
});

const json = { 'Content-Type': 'application/json' };
const AsJson = z.object({ preset: z.string() });

/** Takes an edit back. */
const put = action({
  path: '/presets/{id}/put',
  area: 'listings',
  params: ById,
  form: AsJson,
  async run({ params: { id }, form: { preset }, locale, ask }) {
    const { name } = await ask('listings').send({ method: 'PUT', path: pathOf`/api/presets/${id}`, body: preset, headers: json }, FilterPreset);
    return { message: locale.t.listings.presets.saved(name), target: id };
  },
});

const makeDefault = action({
  path: '/presets/{id}/default',
  area: 'listings',
  params: ById,
  form: noFields,
  async run({ params: { id }, locale, ask }) {
    const api = ask('listings');
    const presets = await api.get('/api/presets', Presets);
    const { createdAt: _, ...preset } = await api.get(pathOf`/api/presets/${id}`, FilterPreset);
    await api.send({ method: 'PUT', path: pathOf`/api/presets/${id}`, body: { ...preset, isDefault: true } }, FilterPreset);
    const former = presets.find(({ isDefault }) => isDefault);
    const undo = former ? { path: `${path}/${former.id}/default`, fields: {} } : { path: `${path}/${id}/put`, fields: { preset: JSON.stringify(preset) } };
    return { message: locale.t.listings.presets.isNowDefault(preset.name), target: id, undo };
  },
});

const remove = action({
  path: '/presets/{id}/delete',
  area: 'listings',
  params: ById,
  form: noFields,
  async run({ params: { id }, locale, ask }) {
    const api = ask('listings');
    const before = await api.get(pathOf`/api/presets/${id}`, FilterPreset);
    await api.send({ method: 'DELETE', path: pathOf`/api/presets/${id}` }, z.undefined());
    return { message: locale.t.listings.presets.deleted(before.name), target: id, undo: { path: `${path}/restore`, fields: { preset: asJson(before) } } };
  },
});

/** It gets another id. */
const restore = action({
  path: '/presets/restore',
  area: 'listings',
  form: AsJson,
  async run({ form: { preset }, locale, ask }) {
    const { id, name } = await ask('listings').send({ method: 'POST', path: '/api/presets', body: preset, headers: json }, FilterPreset);
    return { message: locale.t.listings.presets.added(name), target: id };
  },
});

export const presetPages = [list, newPreset, add, edit, save, put, makeDefault, remove, restore];
