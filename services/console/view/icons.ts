// Icons of the console: lines on a grid of 20, drawn in the colour of the text.
import { h, type VNode, written } from './elements.ts';

const paths = {
  now: 'M10 2.5v2M10 15.5v2M2.5 10h2M15.5 10h2M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7Z',
  events: 'M2.5 10h3l2.2-6 4.4 12 2.2-6h3.2',
  links: 'M8.5 11.5a3.2 3.2 0 0 0 4.6.1l2.6-2.6a3.2 3.2 0 0 0-4.5-4.5l-1 1M11.5 8.500a3.2 3.2 0 0 0-4.6-.1L4.3 11a3.2 3.2 0 0 0 4.5 4.500l1-1',
  listings: 'M3 9.5 10 3.500l7 6M5 8v8.500h10V8M8.5 16.500v-5h3v5',
  bookmarks: 'M5.5 3h9v14L10 13.5 5.5 17Z',
  secrets: 'M12.5 3.500a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM9.6 10.4 3.5 16.500M5.5 14.500l2 2',
  system: 'M3.5 4h13v5h-13ZM3.5 11h13v5h-13ZM6.5 6.500h.01M6.5 13.500h.01',
  search: 'M9 3.500a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM13 13l4 4',
  person: 'M10 3.500a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM4 17c.5-3.5 3-5 6-5s5.5 1.5 6 5',
  outside: 'M8 5H5v10h10v-3M11 4.500h4.500V9M15 5l-6.5 6.5',
  yes: 'm4.5 10.5 3.5 3.5 7.5-8',
  no: 'm5.5 5.5 9 9M14.5 5.500l-9 9',
  undo: 'M7.5 4.5 4 8l3.5 3.500M4.5 8H12a4 4 0 0 1 0 8H8',
  like: 'M10 16.500C4 12.5 3 9.5 3 7.500a3.5 3.5 0 0 1 7-1 3.5 3.5 0 0 1 7 1c0 2-1 5-7 9Z',
  later: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM10 6v4l2.5 2.5',
  /** Read, and not wanted. */
  reviewed: 'M5 3h10v14H5ZM8 8l4 4M12 8l-4 4',
  delete: 'M4 5.500h12M8 5.500V3.500h4v2M5.5 5.500l.8 11h7.400l.8-11M8.5 8.500v5M11.5 8.500v5',
  copy: 'M7.5 7.500h9v9h-9ZM5 12.500H3.500v-9h9V5',
  edit: 'm4 13-.5 3.500L7 16l9-9-3-3ZM11.5 5.500l3 3',
  add: 'M10 4v12M4 10h12',
  less: 'M4 10h12',
  next: 'm7.5 4.5 5.5 5.5-5.5 5.5',
  previous: 'M12.5 4.5 7 10l5.5 5.5',
  warning: 'M10 3.5 17.5 16.500h-15ZM10 8.500v3.500M10 14.300h.01',
  empty: 'M3 11.5 5.5 4h9l2.5 7.500v4.500H3ZM3 11.500h4l1 2h4l1-2h4',
  folder: 'M3 5h5l1.5 2H17v8.500H3Z',
  tag: 'M3.5 3.500h6l7 7-6 6-7-7ZM7 7h.01',
  mail: 'M3 5h14v10.500H3ZM3.5 5.5 10 11l6.5-5.5',
  map: 'M10 2.500c-3 0-5 2.2-5 5 0 3.5 5 10 5 10s5-6.5 5-10c0-2.8-2-5-5-5ZM10 6a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.400Z',
  again: 'M16 6.500A7 7 0 1 0 17 10M16.5 3v4h-4',
  rows: 'M4 5.500h12M4 10h12M4 14.500h12',
  keys: 'M2.5 5.500h15v9h-15ZM5.5 8.500h.01M8.5 8.500h.01M11.5 8.500h.01M14.5 8.500h.01M6.5 11.500h7',
} as const;

export type IconName = keyof typeof paths;

const made = new Map<string, VNode>();

/** @param label what it says where no words beside it do, one of the texts; without it the icon is decoration */
export function icon(name: IconName, label?: string): VNode {
  const key = `${name} ${label ?? ''}`;
  const known = made.get(key) ?? written(draw(name, label));
  made.set(key, known);
  return known;
}

/** The class of an element that shows the icon by its style: rows have many, each of which would be two elements more. */
export const iconClass = (name: IconName): string => `i-${name}`;

/** The rules of these classes. */
export const iconRules = (): string =>
  Object.entries(paths)
    .map(([name, path]) => `.i-${name}{--icon:url("data:image/svg+xml,${encodeURI(outlined(path))}")}`)
    .join('');

const outlined = (path: string) =>
  `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20' fill='none' stroke='black' stroke-width='1.6' stroke-linecap='round' stroke-linejoin='round'><path d='${path}'/></svg>`;

function draw(name: IconName, label: string | undefined): VNode {
  const meaning = label === undefined ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': label };
  return h('svg', { class: 'icon', viewBox: '0 0 20 20', ...meaning }, h('path', { d: paths[name] }));
}
