// The menu of the person: areas that a phone has no room for, theme, density, language, keys, logging out.
import { h, type VNode } from './elements.ts';
import { languages } from '../texts/texts.ts';
import { type Appearance, densities, type Frame, type Person, themes } from './frame.ts';
import { icon } from './icons.ts';
import type { Locale } from './locale.ts';

/** Changes of the appearance are posted here, each with the page to come back to. */
const appearancePath = '/me/appearance';

type Choices = {
  readonly name: string;
  readonly title: string;
  readonly chosen: string;
  readonly values: readonly { readonly value: string; readonly label: string }[];
};

/** @param further links of areas that a phone shows here instead of at its bottom */
export function menu(frame: Frame, person: Person, further: readonly VNode[]): VNode {
  const { locale } = frame;
  const { view } = locale.t;
  return h(
    'div',
    { class: 'menu' },
    h(
      'button',
      { type: 'button', class: 'plain', popovertarget: 'menu', 'aria-label': `${view.menu}: ${person.name}` },
      icon('person'),
      h('span', null, person.name),
    ),
    h(
      'div',
      { id: 'menu', popover: 'auto' },
      h('p', { class: 'strong' }, person.name),
      h(
        'ul',
        null,
        further.map((link) => h('li', { class: 'narrow' }, link)),
        h('li', null, h('a', { href: '/me' }, view.account)),
        person.isAdmin ? h('li', null, h('a', { href: '/admin/users' }, view.people)) : null,
        person.isAdmin ? h('li', null, h('a', { href: '/system/actions' }, locale.t.record.title)) : null,
        h('li', null, h('button', { type: 'button', class: 'plain', 'data-show-keys': true, hidden: true }, view.keys.show, h('kbd', null, '?'))),
      ),
      appearanceForm(locale, frame.appearance, frame.path),
      h('form', { method: 'post', action: '/logout' }, h('button', { class: 'plain' }, view.logOut)),
    ),
  );
}

function appearanceForm(locale: Locale, { theme, density, hasKeys }: Appearance, back: string): VNode {
  const { view } = locale.t;
  return h(
    'form',
    { method: 'post', action: appearancePath, 'data-appearance': true },
    h('input', { type: 'hidden', name: 'back', value: back }),
    choices({ name: 'theme', title: view.theme.title, chosen: theme, values: themes.map((value) => ({ value, label: view.theme[value] })) }),
    choices({ name: 'density', title: view.density.title, chosen: density, values: densities.map((value) => ({ value, label: view.density[value] })) }),
    choices({
      name: 'language',
      title: view.language,
      chosen: locale.language,
      values: Object.entries(languages).map(([value, { name }]) => ({ value, label: name })),
    }),
    choices({
      name: 'keys',
      title: view.keys.title,
      chosen: hasKeys ? 'on' : 'off',
      values: [
        { value: 'on', label: view.keys.isOn },
        { value: 'off', label: view.keys.isOff },
      ],
    }),
  );
}

/** Buttons of which one is pressed: each sends its own value, so that no script is needed. */
function choices({ name, title, chosen, values }: Choices): VNode {
  return h(
    'fieldset',
    null,
    h('legend', null, title),
    h(
      'div',
      { class: 'choices' },
      values.map(({ value, label }) => h('button', { name, value, 'aria-pressed': value === chosen ? 'true' : 'false' }, label)),
    ),
  );
}
