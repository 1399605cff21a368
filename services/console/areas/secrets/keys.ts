// The keys of an application: made, replaced, deleted. A new key is in one answer only, which no cache keeps and no redirect repeats.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { PlainKey } from '../../../secrets/contract.ts';
import { ApplicationKeys, BoundAccounts, CreatedKey } from '../../../secrets/management/contract.ts';
import { Common, Problem } from '../../../platform/problem.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { Problems } from '../../contract.ts';
import { action, type Shown, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { copyable } from '../../view/details.ts';
import { confirmByName, type Faults, field, form } from '../../view/forms.ts';
import { rowList } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty } from '../../view/states.ts';
import { badge, code, dotted, time } from '../../view/texts.ts';
import { applicationPage, appRoot } from './application-page.ts';
import { endOf } from './expiry.ts';
import { appPath, area, InApp, partPath } from './tabs.ts';

type Key = AnswerOf<typeof ApplicationKeys>['items'][number];

/** A refusal of the service as the fault of a field. */
export async function atField<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isRefused = error instanceof Problem && error.kind.type === Problems.notAllowed.type;
    throw isRefused ? Common.invalid({ errors: { [name]: [error.detail ?? error.kind.title] } }) : error;
  }
}

export function keyPage(locale: Locale, { app, title, key }: { readonly app: string; readonly title: string; readonly key: string }): Shown {
  const { keys } = locale.t.secrets;
  const link = h('p', { class: 'buttons' }, h('a', { class: 'button', href: partPath(app, 'keys') }, keys.kept));
  return {
    title,
    body: [pageHead({ title, trail: [{ label: app, href: appPath(app) }], lead: keys.once }), copyable(locale, key, { label: keys.made }), link],
  };
}

export type Refused = { readonly faults: Faults; /** The form that came back: `add`, `replace`, or the id of a key. */ readonly of: string };

export async function keyParts({ locale, ask, may }: Pick<Visit, 'locale' | 'ask' | 'may'>, app: string, refused?: Refused): Promise<VNode[]> {
  const api = ask('secrets');
  const [{ items }, accounts] = await Promise.all([
    api.get(`${appRoot(app)}/keys`, ApplicationKeys),
    api.get(`${appRoot(app)}/service-accounts`, BoundAccounts, { limit: 200 }),
  ]);
  const { keys } = locale.t.secrets;
  const isAdmin = may(area, 'admin');
  const faultsOf = (of: string) => (refused?.of === of ? refused.faults : undefined);
  const list = rowList<Key>({
    label: keys.title,
    kind: 'lines',
    items,
    idOf: ({ id }) => id,
    content: (key) => [keyText(locale, key), isAdmin ? deletion(locale, app, { key, faults: faultsOf(key.id) }) : null],
  });
  return [
    items.length > 0 ? list : empty({ title: keys.none, text: keys.noneText }),
    ...(accounts.items.length > 0 ? [section(keys.accounts, accountList(locale, accounts.items))] : []),
    ...(isAdmin ? [h('div', { class: 'columns' }, section(keys.add, newKey(locale, app, faultsOf('add'))), replacing(locale, app, faultsOf('replace')))] : []),
  ];
}

function keyText(locale: Locale, { name, fingerprint, createdAt, lastUsedAt, expiresAt }: Key): VNode {
  const { secrets } = locale.t;
  const isOver = expiresAt !== null && Date.parse(expiresAt) < locale.now.getTime();
  return h(
    'div',
    { class: 'text' },
    h('span', null, h('span', { class: 'strong' }, name ?? secrets.keys.unnamed), ' ', isOver ? badge('bad', secrets.expired) : null),
    dotted(
      [`${secrets.keys.fingerprint} `, code(fingerprint)],
      [`${secrets.keys.created} `, time(locale, createdAt)],
      lastUsedAt === null ? secrets.neverUsed : [`${secrets.used} `, time(locale, lastUsedAt, 'ago')],
      expiresAt === null || isOver ? null : [`${secrets.expires} `, time(locale, expiresAt)],
    ),
  );
}

const nameOf = ({ name, fingerprint }: Key) => name ?? fingerprint;

/** People type the name of a key, or else the beginning of its fingerprint: the whole one is copied without a look at it. */
const wordOf = ({ name, fingerprint }: Key) => name ?? fingerprint.slice(0, 4);

const deletion = (locale: Locale, app: string, { key, faults }: { readonly key: Key; readonly faults: Faults | undefined }): VNode =>
  confirmByName(locale, {
    path: `${appPath(app)}/keys/${key.id}/delete`,
    id: key.id,
    name: wordOf(key),
    label: locale.t.secrets.keys.delete,
    explanation: locale.t.secrets.keys.deleteExplained,
    faults,
  });

const accountList = (locale: Locale, items: AnswerOf<typeof BoundAccounts>['items']): VNode =>
  rowList({
    label: locale.t.secrets.keys.accounts,
    kind: 'lines',
    items,
    idOf: ({ id }) => id,
    content: ({ namespace, name, createdAt, lastUsedAt }) =>
      h(
        'div',
        { class: 'text' },
        h('span', { class: 'strong' }, `${namespace}/${name}`),
        dotted(
          [`${locale.t.secrets.keys.bound} `, time(locale, createdAt)],
          lastUsedAt === null ? locale.t.secrets.neverUsed : [`${locale.t.secrets.used} `, time(locale, lastUsedAt, 'ago')],
        ),
      ),
  });

function newKey(locale: Locale, app: string, faults: Faults | undefined): VNode {
  const { keys, add } = locale.t.secrets;
  return form(
    locale,
    { path: `${appPath(app)}/keys/add`, submit: keys.add, faults },
    field(locale, { kind: 'text', name: 'name', label: keys.name, hint: keys.hint, maxLength: 200, autocomplete: 'off', faults }),
    field(locale, { kind: 'date', name: 'expiresAt', label: add.expiresAt, faults }),
  );
}

function replacing(locale: Locale, app: string, faults: Faults | undefined): VNode {
  const { keys } = locale.t.secrets;
  const path = `${appPath(app)}/keys/replace`;
  return section(
    keys.replaceTitle,
    h('p', { class: 'quiet' }, keys.rotateGently),
    confirmByName(locale, { path, name: app, label: keys.replace, explanation: keys.replaceExplained, faults }),
  );
}

type Again = Visit & { readonly params: { readonly app: string; readonly id?: string }; readonly faults: Faults };

/** The part of keys once more, as a form of it was refused. */
const again =
  (of: (visit: Again) => string) =>
  async (visit: Again): Promise<Shown> => {
    const { app } = visit.params;
    return applicationPage(visit, { app, part: 'keys', content: await keyParts(visit, app, { faults: visit.faults, of: of(visit) }) });
  };

const add = action({
  path: '/secrets/{app}/keys/add',
  area,
  role: 'admin',
  isRecentLoginNeeded: true,
  params: InApp,
  form: z.object({ name: z.string().default(''), expiresAt: z.string().default('') }),
  async run({ params: { app }, form: { name, expiresAt }, locale, person, ask }) {
    const body = { name: name === '' ? null : name, expiresAt: endOf(locale, person.zone, expiresAt) };
    const { id, plainApiKey } = await atField('name', ask('secrets').send({ method: 'POST', path: `${appRoot(app)}/keys`, body }, CreatedKey));
    const { made } = locale.t.secrets.keys;
    return {
      message: made,
      target: `${app} ${id}`,
      ...(name !== '' && { name }),
      page: keyPage(locale, { app, title: name === '' ? made : `${made}: ${name}`, key: plainApiKey }),
    };
  },
  again: again(() => 'add'),
});

const Confirmed = z.object({ confirm: z.string() });

const replace = action({
  path: '/secrets/{app}/keys/replace',
  area,
  role: 'admin',
  isRecentLoginNeeded: true,
  params: InApp,
  form: Confirmed,
  async run({ params: { app }, form: { confirm }, locale, ask }) {
    requireName(locale, confirm, app);
    const { plainApiKey } = await ask('secrets').send({ method: 'POST', path: `${appRoot(app)}/rotate-key` }, PlainKey);
    const { made } = locale.t.secrets.keys;
    return { message: made, target: app, page: keyPage(locale, { app, title: made, key: plainApiKey }) };
  },
  again: again(() => 'replace'),
});

const remove = action({
  path: '/secrets/{app}/keys/{id}/delete',
  area,
  role: 'admin',
  isRecentLoginNeeded: true,
  params: InApp.extend({ id: z.string() }),
  form: Confirmed,
  async run({ params: { app, id }, form: { confirm }, locale, ask }) {
    const { items } = await ask('secrets').get(`${appRoot(app)}/keys`, ApplicationKeys);
    const key = items.find((one) => one.id === id);
    if (!key) throw Problems.missing();
    requireName(locale, confirm, wordOf(key));
    await ask('secrets').send({ method: 'DELETE', path: `${appRoot(app)}${pathOf`/keys/${id}`}` }, z.undefined());
    return { message: locale.t.secrets.keys.deleted(nameOf(key)), target: `${app} ${id}`, name: nameOf(key), to: partPath(app, 'keys') };
  },
  again: again(({ params: { id = '' } }) => id),
});

/** @throws Problem 400 where another text was typed */
export function requireName({ t }: Locale, typed: string, name: string): void {
  if (typed !== name) throw Common.invalid({ errors: { confirm: [t.view.form.confirmName(name)] } });
}

export const keyActions = [add, replace, remove];
