// Sessions of a person: which browser, from where, since when, and the way to end each.
import type { VNode } from './elements.ts';
import { actionButton, type Column, table } from './lists.ts';
import type { Locale } from './locale.ts';
import { badge, time } from './texts.ts';

type Session = { readonly id: string; readonly browser: string; readonly address: string; readonly createdAt: Date; readonly seenAt: Date };

export type SessionTable = {
  readonly sessions: readonly Session[];
  /** The session of this request, which a logout ends. */
  readonly own: string;
  readonly endPath: (id: string) => string;
};

export function sessionTable(locale: Locale, { sessions, own, endPath }: SessionTable): VNode {
  const { me } = locale.t;
  const columns: readonly Column<Session>[] = [
    {
      label: me.browser,
      kind: 'main',
      cell: ({ id, browser }) => [browserName(browser) || locale.t.view.none, ' ', id === own ? badge('good', me.thisOne) : null],
    },
    { label: me.address, cell: ({ address }) => address },
    { label: me.begun, cell: ({ createdAt }) => time(locale, createdAt.toISOString()) },
    { label: me.seen, cell: ({ seenAt }) => time(locale, seenAt.toISOString(), 'ago') },
    {
      label: me.actions,
      kind: 'actions',
      cell: ({ id }) => (id === own ? null : actionButton({ path: endPath(id), label: me.end, inPlace: 'leave', tone: 'plain' })),
    },
  ];
  return table({ caption: me.sessions, columns, items: sessions, idOf: ({ id }) => id });
}

const browsers = /(?:Edg|OPR|Firefox|HeadlessChrome|Chrome|Version)\/\d+/;
const systems = /Windows|Android|iPhone|iPad|Mac OS X|CrOS|Linux/;

/** `Firefox 140, Linux`; as it came where that cannot be read out of it. */
function browserName(userAgent: string): string {
  const [browser] = browsers.exec(userAgent) ?? [];
  const [system] = systems.exec(userAgent) ?? [];
  return browser === undefined ? userAgent : [browser.replace('/', ' ').replace('Version', 'Safari'), system].filter(Boolean).join(', ');
}
