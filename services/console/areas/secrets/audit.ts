// The audit of secrets: who did what, when, and with what outcome.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { ApplicationKeys } from '../../../secrets/management/contract.ts';
import { actions, AuditPage, outcomes, planes } from '../../../secrets/overview/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { instantOf } from '../../days.ts';
import { page, pageRows, type Visit } from '../../pages.ts';
import { besideMs, partOf } from '../../parts.ts';
import { type Filter, filterForm } from '../../view/filters.ts';
import { type Column, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager, withQuery } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, code, time, type Tone, wordIn } from '../../view/texts.ts';
import { appRoot, askedAtOnce } from './application-page.ts';
import { area, areaTabs, auditPath } from './tabs.ts';

type Entry = AnswerOf<typeof AuditPage>['items'][number];

const text = z.string().optional();
const AuditFilter = z.object({
  subject: text,
  application: text,
  person: text,
  actor: text,
  action: text,
  plane: text,
  outcome: text,
  /** A day in the zone of the person. */
  from: text,
  /** The last day. */
  to: text,
  after: text,
});

const list = page({
  path: auditPath,
  area,
  query: AuditFilter,
  async show(visit) {
    const { locale, query, person, ask } = visit;
    const { audit } = locale.t.secrets;
    const asked = { ...query, from: instantOf(query.from, person.zone, 0), to: instantOf(query.to, person.zone, 1), limit: pageRows };
    const { items, next } = await ask('secrets').get('/api/management/audit', AuditPage, asked);
    const { after: _, ...filters } = query;
    const isFiltered = Object.values(filters).some((value) => value !== undefined);
    return {
      title: audit.title,
      body: [
        pageHead({ title: audit.title, lead: audit.lead }),
        areaTabs(locale, 'audit'),
        filterForm(locale, { path: auditPath, query: filters, filters: filtersIn(locale), linked: ['application'] }),
        items.length > 0
          ? table<Entry>({ caption: audit.title, items, idOf: ({ id }) => id, columns: columnsIn(locale, await keyNames(visit, items)) })
          : isFiltered
            ? filteredEmpty(locale, auditPath)
            : empty({ title: audit.none, text: audit.noneText }),
        items.length > 0 ? pager(locale, { path: auditPath, query, shown: items.length, next }) : null,
      ],
    };
  },
});

function filtersIn({ t }: Locale): readonly Filter[] {
  const { audit } = t.secrets;
  const choice = (name: 'action' | 'plane' | 'outcome', options: readonly { readonly value: string; readonly label: string }[]): Filter => ({
    kind: 'choice',
    name,
    label: audit.filters[name],
    options,
  });
  return [
    { kind: 'search', name: 'subject', label: audit.filters.subject },
    { kind: 'text', name: 'application', label: audit.filters.application },
    { kind: 'text', name: 'person', label: audit.filters.person },
    { kind: 'text', name: 'actor', label: audit.filters.actor },
    choice(
      'plane',
      planes.map((value) => ({ value, label: audit.planes[value] })),
    ),
    choice(
      'action',
      actions.map((value) => ({ value, label: audit.actions[value] })),
    ),
    choice(
      'outcome',
      outcomes.map((value) => ({ value, label: audit.outcomes[value] })),
    ),
    { kind: 'date', name: 'from', label: audit.filters.from },
    { kind: 'date', name: 'to', label: audit.filters.to },
  ];
}

const tones: Readonly<Partial<Record<Entry['outcome'], Tone>>> = { done: 'good', 'not-found': 'warn', conflict: 'warn', invalid: 'warn' };

type KeyNames = ReadonlyMap<string, string>;

/** The name of a key, which its entries keep: it may be gone. */
const keptName = (entry: Entry) => (isOfKey(entry) ? /^named (.+)$/s.exec(entry.detail ?? '')?.[1] : undefined);

/** The names of keys by their ids, of the first applications of the page; one that was deleted has its name where this page has an entry of it. */
async function keyNames({ ask }: Pick<Visit, 'ask'>, entries: readonly Entry[]): Promise<KeyNames> {
  const apps = new Set(entries.flatMap((entry) => (isOfKey(entry) || entry.plane === 'consumer' ? [entry.application] : [])));
  const asked = [...apps]
    .slice(0, askedAtOnce)
    .map((app) => partOf(ask('secrets').send({ path: `${appRoot(app)}/keys`, timeoutMs: besideMs }, ApplicationKeys)));
  const found = await Promise.all(asked);
  const kept = entries.flatMap((entry) => {
    const name = keptName(entry);
    return entry.subject === null || name === undefined ? [] : [[entry.subject, name] as const];
  });
  return new Map([...kept, ...found.flatMap(({ value }) => value?.items.map(({ id, name, fingerprint }) => [id, name ?? fingerprint] as const) ?? [])]);
}

/** An action that this version does not know keeps its name. */
const wordsOf = ({ t }: Locale, { action }: Entry): string => wordIn(t.secrets.audit.actions, action) ?? action;

const isOfKey = ({ action }: Entry) => action === 'application.create-key' || action === 'application.delete-key';

function columnsIn(locale: Locale, names: KeyNames): readonly Column<Entry>[] {
  const { audit, version } = locale.t.secrets;
  return [
    { label: audit.when, cell: ({ occurredAt }) => time(locale, occurredAt) },
    {
      label: audit.what,
      kind: 'main',
      cell: (entry) => [
        h('span', { title: entry.action }, wordsOf(locale, entry)),
        ' ',
        subjectOf(entry, names),
        ' ',
        entry.version === null ? null : h('span', { class: 'quiet' }, version(entry.version)),
      ],
    },
    { label: audit.where, cell: (entry) => placeOf(locale, entry) },
    { label: audit.who, cell: (entry) => whoOf(locale, entry, names) },
    {
      label: audit.outcome,
      cell: (entry) => {
        const { outcome, detail } = entry;
        const said = keptName(entry) === undefined ? detail : null;
        return [badge(tones[outcome] ?? 'bad', audit.outcomes[outcome]), said === null ? null : h('p', { class: 'second' }, said)];
      },
    },
    { label: audit.request, kind: 'minor', cell: ({ requestId }) => h('code', { class: 'cut', title: requestId }, requestId) },
  ];
}

function placeOf({ t }: Locale, { application, environment }: Entry): VNode {
  const app =
    application === '*' ? t.secrets.audit.all : h('a', { class: 'plain-link', href: withQuery(auditPath, { application }), title: application }, application);
  return h(
    'span',
    { class: 'where' },
    h('span', { class: 'cut' }, app),
    environment === null ? null : h('span', { class: 'second cut', title: environment }, environment),
  );
}

/** As it is searched for by a link. */
const subjectOf = ({ subject, application }: Entry, names: KeyNames) =>
  subject === null
    ? null
    : h(
        'a',
        { class: 'plain-link strong', title: subject, href: withQuery(auditPath, { application: application === '*' ? undefined : application, subject }) },
        names.get(subject) ?? subject,
      );

/** The person that the console asked for, else the key or token. */
function whoOf({ t }: Locale, { person, keyId, plane }: Entry, known: KeyNames): VNode {
  const { planes: names } = t.secrets.audit;
  const key = h('a', { class: 'plain-link', href: withQuery(auditPath, { actor: keyId }), title: keyId }, known.get(keyId) ?? code(keyId));
  if (person === null) return h('span', { class: 'who' }, names[plane], h('span', { class: 'second cut' }, key));
  return h('a', { class: 'plain-link', href: withQuery(auditPath, { person }), title: `${names[plane]} ${keyId}` }, person);
}

export const auditPages = [list];
