// A page with every component, for tests in a browser: ordinary, long, empty and hostile content.
import { h, type VNode } from '../../../../services/console/view/elements.ts';
import { confirmByName, field, form } from '../../../../services/console/view/forms.ts';
import { copyable, detailList, jsonTree, meter, tiles } from '../../../../services/console/view/details.ts';
import { chips, filterForm, tabs } from '../../../../services/console/view/filters.ts';
import type { Frame } from '../../../../services/console/view/frame.ts';
import {
  actionBar,
  actionsFor,
  actionButton,
  actionsFormElement,
  bulkBar,
  liveBar,
  rowLink,
  rowList,
  selectBox,
  table,
} from '../../../../services/console/view/lists.ts';
import { createLocale } from '../../../../services/console/view/locale.ts';
import { pager } from '../../../../services/console/view/pager.ts';
import { bars, lines, stackedBars } from '../../../../services/console/view/plots.ts';
import { pageHead, section } from '../../../../services/console/view/shell.ts';
import { empty, failure, filteredEmpty, stale } from '../../../../services/console/view/states.ts';
import { badge, dotted, externalLink, hostOf, time } from '../../../../services/console/view/texts.ts';
import { assetPaths } from '../../../../services/console/assets.ts';

export const now = new Date('2026-11-26T12:00:00Z');
export const markup = '<img src=x onerror=alert(1)>"\'&';

export const galleryFrame = (given: Partial<Frame> = {}): Frame => ({
  locale: createLocale({ language: 'en', zone: 'Europe/Dublin', now }),
  appearance: { theme: 'auto', density: 'normal', hasKeys: true },
  assets: assetPaths(),
  path: '/gallery',
  person: { id: '0197c000-0000-7000-8000-000000000001', name: 'Ada Lovelace' },
  navigation: [
    { area: 'now' },
    { area: 'events' },
    { area: 'links', waiting: 24 },
    { area: 'listings', waiting: 7 },
    { area: 'bookmarks' },
    { area: 'secrets' },
    { area: 'system', waiting: 3 },
  ],
  ...given,
});

export type Link = { readonly id: string; readonly title: string; readonly url: string; readonly score: number; readonly at: string };

const titles = [
  'How Postgres keeps its promises when the power goes',
  'A field guide to back-off, jitter and the thundering herd',
  'Why your queue is always full: a short introduction to Little’s law, with examples from hospitals, supermarkets and message brokers that are all full as well',
  'SQL for people who count',
  markup,
];
export const links: readonly Link[] = Array.from({ length: 8 }, (_, index) => ({
  id: `link-${index + 1}`,
  title: titles[index % titles.length] ?? '',
  url: index === 4 ? 'javascript:alert(1)' : `https://www.example.org/articles/${index + 1}?a=b`,
  score: 9.5 - index / 2,
  at: new Date(now.getTime() - index * 7_200_000 * (index + 1)).toISOString(),
}));

export function queue({ locale }: Frame): VNode {
  return h(
    'section',
    { class: 'part' },
    h('h2', null, 'Waiting'),
    rowList({
      label: 'Waiting links',
      kind: 'lines',
      items: links,
      idOf: ({ id }) => id,
      content: ({ id, title, url, score, at }) => [
        selectBox(locale, id, title),
        h(
          'div',
          { class: 'text' },
          rowLink(`/links/${id}`, title),
          dotted(externalLink(url, hostOf(url) || url), time(locale, at), `score ${locale.format.number(score)}`),
        ),
        actionsFor(
          title,
          actionButton({ path: `/links/${id}/like`, label: 'Like', icon: 'like', key: 'l', inPlace: 'leave', tone: 'plain', isIconOnly: true }),
          actionButton({ path: `/links/${id}/discard`, label: 'Discard', icon: 'no', key: 'd', inPlace: 'leave', tone: 'plain', isIconOnly: true }),
        ),
      ],
    }),
    bulkBar(locale, [
      { path: '/links/bulk/like', label: 'Like', icon: 'like', inPlace: 'leave' },
      { path: '/links/bulk/discard', label: 'Discard', icon: 'no', inPlace: 'leave' },
    ]),
    actionsFormElement(),
    pager(locale, { path: '/links', query: { q: 'postgres', after: 'x' }, shown: 8, next: 'abc' }),
  );
}

const events = [
  { id: 'e1', source: 'github', event: 'push', repository: 'signalbox/signalbox', sender: 'ada', score: 7.2, bytes: 21_400 },
  { id: 'e2', source: 'stripe', event: 'invoice.payment_failed', repository: '', sender: markup, score: 9.9, bytes: 1200 },
  {
    id: 'e3',
    source: 'gitea',
    event: 'workflow_run · completed',
    repository: `${'a-very-long-name-'.repeat(6)}/repository`,
    sender: 'build-bot',
    score: 3,
    bytes: 1_048_576,
  },
];

const eventTable = ({ locale }: Frame) =>
  table({
    caption: 'Events',
    columns: [
      { label: 'Event', kind: 'main', cell: ({ id, event }) => rowLink(`/events/${id}`, event) },
      { label: 'Source', cell: ({ source }) => badge('plain', source) },
      { label: 'Repository', cell: ({ repository }) => repository },
      { label: 'Sender', kind: 'minor', cell: ({ sender }) => sender },
      { label: 'Score', kind: 'number', cell: ({ score }) => locale.format.number(score) },
      { label: 'Size', kind: 'number', cell: ({ bytes }) => locale.format.bytes(bytes) },
      { label: 'Received', cell: () => time(locale, '2026-11-26T11:41:00Z') },
    ],
    items: events,
    idOf: ({ id }) => id,
    live: '/events/stream',
  });

const hours = Array.from({ length: 24 }, (_, hour) => ({
  label: `${hour}:00`,
  tick: hour % 6 === 0 ? `${hour}:00` : undefined,
  value: Math.round(300 + 280 * Math.sin(hour / 3.2)),
}));

function plots({ locale }: Frame): VNode {
  const places = hours.map(({ label, tick }) => ({ label, tick }));
  const series = ['github', 'gitea', 'stripe'].map((name, index) => ({ name, values: hours.map(({ value }) => Math.round(value / (index + 1))) }));
  return h(
    'div',
    { class: 'columns' },
    bars(locale, { id: 'hourly', title: 'Deliveries per hour', description: 'From 20 to 580 deliveries an hour, most at five in the morning.' }, hours),
    stackedBars(locale, { id: 'sources', title: 'Deliveries by source', description: 'GitHub sends most.' }, { places, series }),
    lines(
      locale,
      { id: 'usage', title: 'Messages used', description: 'Usage of two connections and the limit.', format: locale.format.compact },
      { places, series: series.slice(0, 2), limit: { value: 700, label: 'Limit' } },
    ),
    lines(
      locale,
      { id: 'price', title: 'Rent', description: 'The rent fell twice.' },
      { places: places.slice(0, 6), series: [{ name: 'Rent', values: [2100, 2100, 1950, 1950, 1800, 1800] }], isStepped: true },
    ),
    bars(
      locale,
      { id: 'nothing', title: 'Nothing yet', description: 'No deliveries.' },
      hours.map((hour) => ({ ...hour, value: 0 })),
    ),
  );
}

const payload = {
  action: 'opened',
  number: 42,
  isDraft: false,
  merged_at: null,
  title: markup,
  repository: { full_name: 'signalbox/signalbox', topics: ['webhooks', 'queues'], owner: { login: 'ada' } },
  commits: Array.from({ length: 400 }, (_, index) => `commit ${index}`),
  body: 'long '.repeat(200),
  nothing: {},
};

export function gallery(frame: Frame): VNode[] {
  const { locale } = frame;
  const faults = { url: ['An address must begin with http:// or https://.'] };
  return [
    pageHead({
      title: 'Every component',
      trail: [{ label: 'Links', href: '/links' }],
      lead: 'Ordinary, long, empty and hostile content, to look at in each width and theme.',
      actions: [
        h('a', { class: 'button', href: '/bookmarks/new', 'data-key': 'n' }, 'Add'),
        actionButton({ path: '/check', label: 'Check now', tone: 'primary', inPlace: 'stay' }),
      ],
    }),
    stale(locale, '2026-11-26T11:30:00Z'),
    tiles([
      { label: 'Deliveries today', value: '4,812', note: '12 % more than yesterday', href: '/events' },
      { label: 'Dead letters', value: '3', note: 'oldest 2 hours ago', href: '/system/dead-letters', tone: 'bad' },
      { label: 'Links that wait', value: '24', note: 'the best scores 9.5' },
      { label: 'Services', value: 'All answer', tone: 'good' },
    ]),
    tabs('Parts', [
      { label: 'Queue', href: '/links', isCurrent: true },
      { label: 'Newsletters', href: '/newsletters', isCurrent: false },
      { label: 'Authors', href: '/authors', isCurrent: false },
    ]),
    filterForm(locale, {
      path: '/links',
      query: { q: 'postgres', status: 'liked', sort: 'newest' },
      kept: ['sort'],
      filters: [
        { kind: 'search', name: 'q', label: 'Search in titles' },
        {
          kind: 'choice',
          name: 'status',
          label: 'Status',
          options: [
            { value: 'liked', label: 'Liked' },
            { value: 'discarded', label: 'Discarded' },
          ],
        },
        { kind: 'text', name: 'host', label: 'Host', suggestions: ['example.org'] },
        { kind: 'date', name: 'from', label: 'Since' },
      ],
    }),
    chips(locale, 'Presets', [
      { label: 'All', href: '/listings', count: 12_345, isCurrent: true },
      { label: 'Two beds below 2,000', href: '/listings?preset=two', count: 7, isCurrent: false },
      { label: markup, href: '/listings?preset=three', isCurrent: false },
    ]),
    queue(frame),
    section('Events', liveBar(locale), eventTable(frame)),
    section('Plots', plots(frame)),
    section(
      'Cards',
      rowList({
        label: 'Listings',
        kind: 'cards',
        items: links.slice(0, 3),
        idOf: ({ id }) => `card-${id}`,
        content: ({ id, title, at }) => [
          h('strong', null, '€1,850'),
          rowLink(`/listings/${id}`, title),
          dotted('2 beds', 'Dublin 8', time(locale, at, 'ago')),
          actionBar(
            actionButton({ path: `/listings/${id}/approve`, label: 'Approve', icon: 'yes', key: 'a', inPlace: 'leave' }),
            actionButton({ path: `/listings/${id}/note`, label: 'Note', tone: 'plain' }),
          ),
        ],
      }),
    ),
    h(
      'div',
      { class: 'columns' },
      section(
        'Detail',
        h(
          'div',
          { class: 'card' },
          detailList([
            ['Received', time(locale, '2026-11-26T06:41:51Z', 'whole')],
            ['Delivery', h('code', null, '0193a5b2-7c1e-7f00-8000-1a2b3c4d5e6f')],
            ['Sender', markup],
            ['Note', ''],
          ]),
        ),
        h(
          'div',
          { class: 'buttons' },
          badge('good', 'published'),
          badge('warn', 'retrying'),
          badge('bad', 'dead letter'),
          badge('info', 'new'),
          badge('plain', 'push'),
        ),
        meter({ label: 'cloudamqp-1', value: 8200, most: 10_000, text: '8,200 of 10,000', tone: 'warn' }),
        meter({ label: 'cloudamqp-2', value: 1200, most: 10_000, text: '1,200 of 10,000' }),
        copyable(locale, `curl -X POST https://relay.example.org/webhook \\\n  -d '${markup}'`, { label: 'As curl' }),
      ),
      section('Payload', jsonTree(locale, payload)),
    ),
    h(
      'div',
      { class: 'columns' },
      section(
        'Form',
        form(
          locale,
          { path: '/bookmarks', submit: 'Add', cancel: '/bookmarks', faults },
          field(locale, { kind: 'url', name: 'url', label: 'Address', value: 'ftp://example.org', isRequired: true, faults }),
          field(locale, { kind: 'text', name: 'title', label: 'Title', hint: 'Fetched from the page when left empty.' }),
          field(locale, {
            kind: 'choice',
            name: 'folder',
            label: 'Folder',
            value: 'b',
            options: [
              { value: 'a', label: 'Reading' },
              { value: 'b', label: 'Databases' },
            ],
          }),
          field(locale, { kind: 'lines', name: 'description', label: 'Description' }),
          field(locale, { kind: 'check', name: 'favorite', label: 'Favourite', isChecked: true }),
        ),
        confirmByName(locale, {
          path: '/delete',
          name: 'shop (test)',
          label: 'Delete this application',
          explanation: 'Its keys stop working at once.',
          faults: { confirm: ['This is not its name.'] },
        }),
      ),
      section(
        'States',
        empty({
          title: 'No bookmarks yet',
          text: 'Add the first one, or import a file of your browser.',
          command: 'signalbox bookmarks import bookmarks.html',
          link: { href: '/bookmarks/new', label: 'Add a bookmark' },
        }),
        filteredEmpty(locale, '/links'),
        failure(locale, {
          service: 'link-digest',
          requestId: '0193a5b2-7c1e',
          again: '/links',
          runbook: { page: 'k8s/runbooks/SignalboxDigestDown.md', href: 'https://example.org/runbooks/digest' },
        }),
      ),
    ),
  ];
}
