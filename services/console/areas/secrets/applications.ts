// Applications with secrets, and what expires. No page of this area holds a value of a secret.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { CreatedWithKey } from '../../../secrets/contract.ts';
import { ApplicationSummaries, Expiring } from '../../../secrets/overview/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { action, page, pageRows, type Refilled, type Visit } from '../../pages.ts';
import { besideMs, faultOf, partOf } from '../../parts.ts';
import { filterForm } from '../../view/filters.ts';
import { type Faults, field, form } from '../../view/forms.ts';
import { icon } from '../../view/icons.ts';
import { type Column, rowLink, rowList, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager } from '../../view/pager.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, dotted, quiet, time } from '../../view/texts.ts';
import { type ExpiringVersion, expiringQuery, expiryOf, isExpired } from './expiry.ts';
import { atField, keyPage } from './keys.ts';
import { appPath, area, areaTabs, listPath, newPath, secretPath } from './tabs.ts';

type Summary = AnswerOf<typeof ApplicationSummaries>['items'][number];

/** The audit and the matrix of an application have the others. */
const mostExpiring = 20;

const list = page({
  path: listPath,
  area,
  query: z.object({ q: z.string().optional(), after: z.string().optional() }),
  async show(visit) {
    const { locale, query, ask, may } = visit;
    const { secrets } = locale.t;
    const [{ items, next }, expiring] = await Promise.all([
      ask('secrets').get('/api/management/application-summaries', ApplicationSummaries, { ...query, limit: pageRows }),
      query.q
        ? undefined
        : partOf(ask('secrets').send({ path: '/api/management/expiring', query: { ...expiringQuery, limit: mostExpiring }, timeoutMs: besideMs }, Expiring)),
    ]);
    const isAdmin = may(area, 'admin');
    const nothing = empty({ ...secrets.empty, ...(isAdmin && { link: { href: newPath, label: secrets.newApplication } }) });
    const add = h(
      'a',
      { class: 'button primary', href: newPath, 'data-key': 'n', 'data-key-label': secrets.newApplication },
      icon('add'),
      secrets.newApplication,
    );
    return {
      title: locale.t.view.areas.secrets,
      body: [
        pageHead({ title: locale.t.view.areas.secrets, lead: secrets.lead, actions: isAdmin ? add : null }),
        areaTabs(locale, 'applications'),
        filterForm(locale, { path: listPath, query, filters: [{ kind: 'search', name: 'q', label: secrets.findApplication }] }),
        items.length > 0
          ? table<Summary>({ caption: secrets.applications, items, idOf: ({ slug }) => slug, columns: columnsIn(locale) })
          : query.q
            ? filteredEmpty(locale, listPath)
            : nothing,
        items.length > 0 ? pager(locale, { path: listPath, query, shown: items.length, next }) : null,
        expiring?.problem ? faultOf(visit, expiring.problem) : null,
        expiring?.value && expiring.value.items.length > 0 ? section(secrets.expiring, soon(locale, expiring.value.items)) : null,
      ],
    };
  },
});

function columnsIn(locale: Locale): readonly Column<Summary>[] {
  const { secrets } = locale.t;
  const number = (label: string, member: 'secrets' | 'environments' | 'keys') =>
    ({ label, kind: 'number', cell: (summary: Summary) => locale.format.number(summary[member]) }) as const;
  return [
    {
      label: secrets.columns.application,
      kind: 'main',
      cell: ({ slug, name, description }) => [rowLink(appPath(slug), name), description ? h('p', { class: 'quiet about' }, description) : null],
    },
    number(secrets.columns.secrets, 'secrets'),
    number(secrets.columns.environments, 'environments'),
    number(secrets.columns.keys, 'keys'),
    {
      label: secrets.columns.used,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? quiet(secrets.neverUsed) : time(locale, lastUsedAt, 'ago')),
    },
    {
      label: secrets.columns.expires,
      cell: ({ expiring, expiresAt }) => (expiring === 0 ? null : badge('warn', [`${secrets.expireCount(expiring)}, `, time(locale, expiresAt, 'ago')])),
    },
  ];
}

const soon = (locale: Locale, items: readonly ExpiringVersion[]): VNode =>
  rowList({
    label: locale.t.secrets.expiring,
    kind: 'lines',
    items,
    idOf: ({ application, environment, secret }) => `${application} ${environment} ${secret}`,
    content: (one) =>
      h(
        'div',
        { class: 'text' },
        rowLink(secretPath(one.application, one.secret), one.secret),
        dotted(one.application, one.environment, locale.t.secrets.version(one.version), [
          isExpired(locale, one) ? null : `${locale.t.secrets.expires} `,
          ...expiryOf(locale, one),
        ]),
      ),
  });

type Entered = { readonly name?: string; readonly description?: string; readonly faults?: Faults };

function newForm({ locale }: Pick<Visit, 'locale'>, { name = '', description = '', faults }: Entered = {}) {
  const { secrets, view } = locale.t;
  return {
    title: secrets.newApplication,
    body: [
      pageHead({ title: secrets.newApplication, trail: [{ label: view.areas.secrets, href: listPath }], lead: secrets.newApplicationLead }),
      form(
        locale,
        { path: newPath, submit: secrets.newApplication, cancel: listPath, faults },
        field(locale, {
          kind: 'text',
          name: 'name',
          label: secrets.columns.name,
          hint: secrets.nameHint,
          value: name,
          isRequired: true,
          maxLength: 200,
          isFocused: true,
          faults,
        }),
        field(locale, { kind: 'text', name: 'description', label: secrets.columns.description, value: description, maxLength: 1000, faults }),
      ),
    ],
  };
}

const add = page({ path: newPath, area, role: 'admin', show: (visit) => newForm(visit) });

/** Its first key is in this answer only. */
const create = action({
  path: newPath,
  area,
  role: 'admin',
  isRecentLoginNeeded: true,
  form: z.object({ name: z.string(), description: z.string().default('') }),
  async run({ form: { name, description }, locale, ask }) {
    const body = { name, description: description === '' ? null : description };
    const { slug, plainApiKey } = await atField('name', ask('secrets').send({ method: 'POST', path: '/api/management/applications', body }, CreatedWithKey));
    const message = locale.t.secrets.applicationAdded(name);
    return { message, target: slug, page: keyPage(locale, { app: slug, title: message, key: plainApiKey }) };
  },
  again: (visit: Visit & Refilled) => newForm(visit, { name: textIn(visit, 'name'), description: textIn(visit, 'description'), faults: visit.faults }),
});

const textIn = ({ fields }: Refilled, name: string) => [fields[name] ?? ''].flat()[0] ?? '';

export const applicationPages = [list, add, create];
