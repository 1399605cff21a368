// The examples of `signalbox demo`: deliveries of a forge, a weekly newsletter, bookmarks, listings. All of it is invented, and the same each time.
import { hourMs } from '../platform/time.ts';

const repositories = {
  signals: { id: 1001, name: 'signals', full_name: 'railway/signals' },
  timetable: { id: 1002, name: 'timetable', full_name: 'railway/timetable' },
} as const;
const people = {
  stationmaster: { id: 7, login: 'stationmaster', type: 'User' },
  'ada-driver': { id: 8, login: 'ada-driver', type: 'User' },
  'points-bot[bot]': { id: 11, login: 'points-bot[bot]', type: 'Bot' },
} as const;

/** `hours` before now. */
const at = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString();

type Delivery = { readonly event: string; readonly payload: object };

function from(repository: keyof typeof repositories, sender: keyof typeof people, payload: object): object {
  const owner = { id: 9, login: 'railway', type: 'Organization' };
  return { ...payload, repository: { ...repositories[repository], private: false, default_branch: 'main', owner, updated_at: at(1) }, sender: people[sender] };
}

const pullRequest = (number: number, title: string, more: object) => ({
  number,
  pull_request: {
    id: 5_200_000 + number,
    number,
    title,
    state: 'open',
    draft: false,
    merged: false,
    user: people['ada-driver'],
    labels: [],
    head: { ref: `change-${number}`, sha: 'a'.repeat(40) },
    base: { ref: 'main', sha: 'b'.repeat(40) },
    created_at: at(30),
    updated_at: at(2),
    body: 'The commits say why.',
    ...more,
  },
});

const run = (number: number, name: string, conclusion: 'success' | 'failure') => ({
  action: 'completed',
  workflow_run: {
    id: 6_200_000 + number,
    name,
    run_number: number,
    run_attempt: 1,
    event: 'push',
    status: 'completed',
    conclusion,
    head_branch: 'main',
    head_sha: 'c'.repeat(40),
    html_url: `https://forge.example.org/railway/signals/actions/runs/${number}`,
    created_at: at(2),
    run_started_at: at(2),
    updated_at: at(1),
  },
});

const merged = { state: 'closed', merged: true, merged_at: at(1), closed_at: at(1), merge_commit_sha: 'd'.repeat(40) };

const push = {
  ref: 'refs/heads/main',
  before: 'b'.repeat(40),
  after: 'c'.repeat(40),
  commits: [
    { id: 'c'.repeat(40), message: 'Update the interlocking tables', timestamp: at(2), author: { name: 'points-bot' }, added: [], removed: [], modified: [] },
  ],
};

const published = {
  action: 'published',
  release: {
    id: 7_200_001,
    tag_name: 'v2.4.0',
    name: 'Winter timetable',
    draft: false,
    prerelease: false,
    body: 'From 13 December on.',
    html_url: 'https://forge.example.org/railway/timetable/releases/v2.4.0',
    author: people.stationmaster,
    created_at: at(3),
    published_at: at(3),
  },
};

/** Something for each of the lists that the console has of a forge's events. */
export const deliveries: readonly Delivery[] = [
  {
    event: 'pull_request',
    payload: from('signals', 'ada-driver', { action: 'opened', ...pullRequest(43, 'Let the signal at platform 2 see the points', {}) }),
  },
  {
    event: 'pull_request',
    payload: from('timetable', 'stationmaster', { action: 'closed', ...pullRequest(17, 'The last train is later on Fridays', merged) }),
  },
  { event: 'push', payload: from('signals', 'points-bot[bot]', push) },
  { event: 'workflow_run', payload: from('signals', 'points-bot[bot]', run(311, 'Check', 'failure')) },
  { event: 'workflow_run', payload: from('timetable', 'points-bot[bot]', run(128, 'Publish', 'success')) },
  { event: 'release', payload: from('timetable', 'stationmaster', published) },
  { event: 'star', payload: from('signals', 'ada-driver', { action: 'created', starred_at: at(1) }) },
];

type Link = readonly [title: string, author: string, path: string];

const weeklies: readonly (readonly [title: string, links: readonly Link[]])[] = [
  [
    'Signalbox Weekly',
    [
      ['Queues, and their uses', 'Ada Adler', 'queues'],
      ['Signals and interlocking', 'Emil Holm', 'signals'],
      ['A database that fails over while you sleep', 'Cleo Costa', 'failover'],
      ['Why the clock of the other machine is wrong', 'Dara Duarte', 'clocks'],
    ],
  ],
  [
    'Signalbox Weekly, the week before',
    [
      ['Secrets that rotate without an outage', 'Ada Adler', 'rotation'],
      ['Reading mails that no one should have to read', 'Bela Bruun', 'mails'],
      ['Backups are of no use, restores are', 'Cleo Costa', 'restores'],
      ['Queues, and their uses', 'Ada Adler', 'queues'],
    ],
  ],
];

const htmlOf = (title: string, links: readonly Link[]) =>
  `<h1>${title}</h1>\n${links.map(([name, author, path]) => `<h2><a href="https://example.org/signalbox/${path}">${name}</a></h2>\n<p>by ${author}</p>`).join('\n')}`;

/** Mails, the newest last. */
export const newsletters: readonly string[] = weeklies
  .map(([title, links], index) =>
    [
      `Message-ID: <demo-${weeklies.length - index}@example.org>`,
      'From: Signalbox <demo@example.org>',
      'To: reader@example.org',
      `Subject: ${title}`,
      'MIME-Version: 1.0',
      'Content-Type: text/html; charset=utf-8',
      '',
      htmlOf(title, links),
      '',
    ]
      .join('\n')
      .replaceAll('\n', '\r\n'),
  )
  .toReversed();

const saved: Readonly<Record<string, readonly (readonly [title: string, path: string, tags: string])[]>> = {
  Railways: [
    ['How interlocking keeps trains apart', 'interlocking', 'signals,safety'],
    ['A history of semaphores', 'semaphores', 'signals,history'],
    ['Timetables as graphs', 'graphs', 'planning,diagrams'],
  ],
  Databases: [
    ['Indexes, and when they are not used', 'indexes', 'postgres,speed'],
    ['The promises of a transaction', 'transactions', 'postgres'],
    ['Queues in a table', 'queue-table', 'postgres,queues'],
  ],
  Kitchen: [
    ['Soda bread', 'soda-bread', 'baking'],
    ['Chowder for a cold evening', 'chowder', 'soup'],
  ],
};

/** As a browser exports them. */
export const bookmarksFile: string = [
  '<!DOCTYPE NETSCAPE-Bookmark-file-1>',
  '<DL><p>',
  ...Object.entries(saved).flatMap(([folder, entries]) => [
    `<DT><H3>${folder}</H3>`,
    '<DL><p>',
    ...entries.map(([title, path, tags]) => `<DT><A HREF="https://example.org/saved/${path}" TAGS="${tags}">${title}</A>`),
    '</DL><p>',
  ]),
  '</DL><p>',
].join('\n');

type Home = readonly [address: string, eircode: string, price: number, beds: number, type: string, grade: string, latitude: number, longitude: number];

const homes: readonly Home[] = [
  ['1 Example Street, Dublin 2', 'D02 X285', 1850, 1, 'Apartment', 'B2', 53.339, -6.251],
  ['14 Signal Row, Dublin 7', 'D07 E5C2', 2150, 2, 'Apartment', 'A3', 53.352, -6.281],
  ['3 Canal Walk, Dublin 8', 'D08 R2N4', 2400, 2, 'House', 'C1', 53.334, -6.287],
  ['27 Harbour Road, Howth', 'D13 F8K1', 2900, 3, 'House', 'C3', 53.388, -6.066],
  ['8 The Sidings, Cork', 'T12 W8KP', 1650, 2, 'Apartment', 'B3', 51.897, -8.472],
  ['5 Lee Terrace, Cork', 'T23 A4V9', 1400, 1, 'Studio', 'D1', 51.908, -8.461],
  ['11 Claddagh Quay, Galway', 'H91 C7TW', 1750, 2, 'Apartment', 'B1', 53.268, -9.057],
  ['2 Bishop’s Gate, Limerick', 'V94 T6P2', 1300, 2, 'House', 'D2', 52.664, -8.626],
  ['19 Suir View, Waterford', 'X91 K3E8', 1150, 3, 'House', 'E1', 52.259, -7.11],
];

/** For the ingest; the second one was dearer a week ago. */
export function listings(): readonly (readonly object[])[] {
  const all = homes.map(([address, eircode, priceMonthly, beds, propertyType, berRating, latitude, longitude], index) => ({
    sourceId: index === 0 ? 'demo' : `demo-${index + 1}`,
    sourceUrl: `https://example.org/for-rent/demo/${index + 1}`,
    address,
    eircode,
    priceMonthly,
    beds,
    baths: 1,
    propertyType,
    berRating,
    latitude,
    longitude,
  }));
  const dearer = all.slice(1, 2).map((one) => ({ ...one, priceMonthly: one.priceMonthly + 200, receivedAt: at(7 * 24) }));
  return [dearer, all];
}
