// The tabs of the area: the log, and the lists of what events are about.
import type { VNode } from '../../view/elements.ts';
import { tabs } from '../../view/filters.ts';
import type { Locale } from '../../view/locale.ts';
import { typedLists } from './typed-columns.ts';

export const kindTabs = ({ t: { events } }: Locale, current: string): VNode =>
  tabs(events.kinds, [
    { label: events.log, href: '/events', isCurrent: current === '/events' },
    ...typedLists.map(({ path, name }) => ({ label: events.typed[name], href: path, isCurrent: path === current })),
  ]);
