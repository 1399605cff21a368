// The parts of the area of the system that this console has and this person may see.
import type { VNode } from '../../view/elements.ts';
import type { ServiceName } from '../../contract.ts';
import type { Visit } from '../../pages.ts';
import { tabs } from '../../view/filters.ts';

const parts = [
  ['overview', '/system', undefined],
  ['brokers', '/system/brokers', 'relay'],
  ['deadLetters', '/system/dead-letters', 'intake'],
  ['spool', '/system/spool', 'relay'],
  ['rejected', '/system/rejected', 'relay'],
  ['workers', '/system/workers', 'intake'],
  ['notifications', '/system/notifications', 'intake'],
  ['record', '/system/actions', 'admin'],
] as const satisfies readonly (readonly [name: string, path: string, needs: ServiceName | 'admin' | undefined])[];

export type SystemPart = (typeof parts)[number][0];

export function systemTabs({ locale, has, may }: Visit, current: SystemPart): VNode {
  const isThere = (needs: ServiceName | 'admin' | undefined) => needs === undefined || (needs === 'admin' ? may('system', 'admin') : has(needs));
  const entries = parts.filter(([, , needs]) => isThere(needs));
  return tabs(
    locale.t.view.areas.system,
    entries.map(([part, href]) => ({ label: locale.t.system.tabs[part], href, isCurrent: part === current })),
  );
}
