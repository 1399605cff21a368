// The parts of the area of listings, and links that look like buttons.
import { h, type VNode } from '../../view/elements.ts';
import { tabs } from '../../view/filters.ts';
import { icon, type IconName } from '../../view/icons.ts';
import type { Locale } from '../../view/locale.ts';

const parts = [
  ['inbox', '/listings'],
  ['approved', '/listings/approved'],
  ['recycled', '/listings/recycled'],
  ['map', '/listings/map'],
  ['rents', '/listings/rents'],
  ['presets', '/presets'],
] as const;

export const areaTabs = (locale: Locale, current: (typeof parts)[number][0]): VNode =>
  tabs(
    locale.t.view.areas.listings,
    parts.map(([part, href]) => ({ label: locale.t.listings.tabs[part], href, isCurrent: part === current })),
  );

export type LinkButton = { readonly href: string; readonly label: string; readonly image: IconName; readonly key?: string };

export const linkButton = ({ href, label, image, key }: LinkButton): VNode =>
  h('a', { class: 'button', href, 'data-key': key, 'data-key-label': key && label }, icon(image), label);
