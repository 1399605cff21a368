// The document of every page: head, navigation, menu, notice, keys.
import { type ComponentChildren, h, toDocument, type VNode } from './elements.ts';
import { type AreaName, areas, type Frame, pathOf, type Person } from './frame.ts';
import { icon, type IconName } from './icons.ts';
import type { Locale } from './locale.ts';
import { menu } from './menu.ts';
import { keysDialog } from './keys-dialog.ts';
import { noticeOf } from './notice.ts';
import { waitingCount } from './lists.ts';
import { count, elsewhereNote, keyCap } from './texts.ts';

export type Page = {
  /** The title of the browser's tab; the page has its own `pageHead`. */
  readonly title: string;
  readonly area?: AreaName | undefined;
  readonly body: ComponentChildren;
  /** Whether it loads what the map with tiles needs. */
  readonly hasTiles?: boolean;
};

export const renderPage = (frame: Frame, page: Page): Buffer => toDocument(document(frame, page));

export function document(frame: Frame, page: Page): VNode {
  const { locale, appearance, person } = frame;
  const { theme, density, hasKeys } = appearance;
  const attributes = {
    'data-theme': theme,
    'data-density': density,
    'data-keys': hasKeys ? 'on' : 'off',
    'data-person': person?.id,
    'data-now': locale.now.toISOString(),
  };
  return h(
    'html',
    { lang: locale.language, ...attributes },
    head(frame, page),
    h(
      'body',
      null,
      h('a', { class: 'skip', href: '#content' }, locale.t.view.skip),
      person ? top(frame, page, person) : null,
      noticeOf(locale, frame.notice),
      h(
        'main',
        { id: 'content', tabindex: -1, class: person ? 'page' : 'page alone' },
        person ? null : h('p', { class: 'brand' }, mark(), locale.t.view.product),
        page.body,
      ),
      person ? keysDialog(locale, shownAreas(frame)) : null,
      elsewhereNote(locale),
    ),
  );
}

function head({ assets, locale }: Frame, { title, hasTiles }: Page): VNode {
  return h(
    'head',
    null,
    h('meta', { charset: 'utf-8' }),
    h('title', null, `${title} · ${locale.t.view.product}`),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('meta', { name: 'theme-color', content: '#f5f5f1', media: '(prefers-color-scheme: light)' }),
    h('meta', { name: 'theme-color', content: '#131517', media: '(prefers-color-scheme: dark)' }),
    // Before the other: its layer is the lowest.
    hasTiles ? h('link', { rel: 'stylesheet', href: assets.map.style }) : null,
    h('link', { rel: 'stylesheet', href: assets.style }),
    h('link', { rel: 'icon', type: 'image/svg+xml', href: assets.icon }),
    h('link', { rel: 'apple-touch-icon', href: assets.touchIcon }),
    h('link', { rel: 'manifest', href: assets.manifest }),
    h('script', { type: 'module', src: assets.script }),
    hasTiles ? h('script', { type: 'module', src: assets.map.script }) : null,
  );
}

const shownAreas = ({ navigation = [], locale }: Frame) =>
  navigation.map(({ area, waiting }) => ({ area, waiting, path: pathOf(area), key: areas[area], label: locale.t.view.areas[area] }));

/** A phone shows this many at its bottom; the menu has the others. */
const mostAtBottom = 5;

function top(frame: Frame, page: Page, person: Person): VNode {
  const { locale } = frame;
  const { view } = locale.t;
  const shown = shownAreas(frame);
  return h(
    'header',
    { class: 'top' },
    h('a', { class: 'brand', href: '/', 'aria-label': view.product }, mark(), h('span', null, view.product)),
    h(
      'nav',
      { class: 'areas', 'aria-label': view.navigation },
      h(
        'ul',
        null,
        shown.map((entry, index) => h('li', { class: index < mostAtBottom ? undefined : 'wide' }, areaLink(locale, entry, page.area))),
      ),
    ),
    h(
      'form',
      { class: 'search', action: '/search', role: 'search' },
      icon('search'),
      h('input', {
        type: 'search',
        name: 'q',
        'aria-label': view.searchEverything,
        placeholder: view.search,
        'data-key': '/',
        'data-key-label': view.searchEverything,
      }),
    ),
    h(
      'button',
      { type: 'button', class: 'plain ask-keys', hidden: true, title: view.keys.show, 'aria-label': view.keys.show, 'data-show-keys': true },
      keyCap('?'),
    ),
    menu(
      frame,
      person,
      shown.slice(mostAtBottom).map((entry) => areaLink(locale, entry, page.area)),
    ),
  );
}

type AreaEntry = ReturnType<typeof shownAreas>[number];

function areaLink(locale: Locale, { area, path, key, label, waiting }: AreaEntry, current: AreaName | undefined): VNode {
  const name: IconName = area;
  const badge = waiting
    ? h('span', { class: 'waiting', title: locale.t.view.waiting(waiting) }, count(locale, waiting, { of: area === current ? waitingCount : undefined }))
    : null;
  return h(
    'a',
    { href: path, 'aria-current': area === current ? 'page' : undefined, 'data-key': `g ${key}`, 'data-key-label': '' },
    icon(name),
    h('span', null, label),
    badge,
  );
}

/** The sign of the product: the arm and the two lights of a railway signal. */
const mark = (): VNode =>
  h(
    'svg',
    { class: 'mark', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    h('rect', { class: 'mark-ground', width: 24, height: 24, rx: 6 }),
    h('path', { class: 'mark-line', d: 'M8 5v14M8 8h9' }),
    h('circle', { class: 'mark-light', cx: 14.5, cy: 15, r: 2.5 }),
  );

/** The head of a page: where one is, its one first heading, and the actions of the whole page. */
export function pageHead({ title, trail = [], lead, actions }: PageHead): VNode {
  return h(
    'header',
    { class: 'head' },
    trail.length > 0
      ? h(
          'p',
          { class: 'trail' },
          trail.map(({ label, href }) => h('a', { href }, icon('previous'), label)),
        )
      : null,
    h('h1', null, title),
    actions ? h('div', { class: 'actions' }, actions) : null,
    lead ? h('p', { class: 'lead' }, lead) : null,
  );
}
export type PageHead = {
  readonly title: ComponentChildren;
  /** The pages above this one. */
  readonly trail?: readonly { readonly label: string; readonly href: string }[];
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
};

/** A part of a page with a heading of its own. */
export const section = (title: ComponentChildren, ...body: ComponentChildren[]): VNode => h('section', { class: 'part' }, h('h2', null, title), ...body);
