// The own account: sessions, time zone, and how pages look.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import type { Sessions } from '../../access/sessions.ts';
import { areas, Problems } from '../../contract.ts';
import { action, noFields, page, type Visit } from '../../pages.ts';
import type { ConsoleStore } from '../../store.ts';
import { hasPassword, type PasswordParts, passwordPages, passwordPath } from './password.ts';
import { isLanguage } from '../../texts/texts.ts';
import { field, form } from '../../view/forms.ts';
import { densities, themes } from '../../view/frame.ts';
import { actionButton, actionsFormElement } from '../../view/lists.ts';
import { createLocale, isZone } from '../../view/locale.ts';
import { sessionTable } from '../../view/session-table.ts';
import { pageHead, section } from '../../view/shell.ts';

/** The console's own tables and sessions, which these pages ask beside the services. */
export type OwnParts = PasswordParts & {
  readonly store: Pick<ConsoleStore, 'choose' | 'sessionsOf' | 'listActions'>;
  readonly sessions: Pick<Sessions, 'living' | 'end' | 'endOthers'>;
};

const path = '/me';
const area = 'me';

export const mePages = (parts: OwnParts) => [
  overview(parts),
  endSession(parts),
  endOthers(parts),
  chooseZone(parts),
  chooseAppearance(parts),
  ...passwordPages(parts),
];

const overview = ({ store, sessions, logins }: OwnParts) =>
  page({
    path,
    area,
    async show(visit) {
      const { locale, person } = visit;
      const { me } = locale.t;
      const living = await store.sessionsOf(person.id, sessions.living());
      return {
        title: me.title,
        body: [
          pageHead({ title: me.title, lead: person.name }),
          section(
            me.sessions,
            h('p', { class: 'quiet' }, me.sessionsHint),
            sessionTable(locale, { sessions: living, own: visit.session.id, endPath: (id) => `${path}/sessions/${id}/end` }),
            living.length > 1 ? othersButton(me.endOthers) : null,
          ),
          hasPassword({ logins }, person) ? h('p', { class: 'buttons' }, h('a', { class: 'button', href: passwordPath }, me.password)) : null,
          section(me.zone, zoneForm(visit)),
          section(me.roles, h('div', { class: 'card' }, rolesOf(visit))),
          actionsFormElement(),
        ],
      };
    },
  });

const othersButton = (label: string): VNode => h('div', { class: 'buttons' }, actionButton({ path: `${path}/sessions/end-others`, label }));

/** The browser's own list of zones would need script: this is the one of the server. */
const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

const zoneForm = ({ locale, person: { zone } }: Visit): VNode =>
  form(
    locale,
    { path: `${path}/zone`, submit: locale.t.view.form.save },
    field(locale, {
      kind: 'choice',
      name: 'zone',
      label: locale.t.me.zoneName,
      hint: locale.t.me.zoneHint,
      isRequired: true,
      value: zone,
      options: zones.map((value) => ({ value, label: value })),
    }),
  );

const rolesOf = ({ locale, person: { roles } }: Visit): VNode =>
  h(
    'dl',
    { class: 'details' },
    areas.map((one) => {
      const role = roles[one];
      return h('div', null, h('dt', null, locale.t.view.areas[one]), h('dd', null, role ? locale.t.me.roleNames[role] : '–'));
    }),
  );

const endSession = ({ sessions }: OwnParts) =>
  action({
    path: '/me/sessions/{id}/end',
    area,
    params: z.object({ id: z.string() }),
    form: noFields,
    async run({ params: { id }, person, locale }) {
      const isThere = z.uuid().safeParse(id).success && (await sessions.end(id, person.id));
      if (!isThere) throw Problems.missing();
      return { message: locale.t.me.ended, target: id };
    },
  });

const endOthers = ({ sessions }: OwnParts) =>
  action({
    path: '/me/sessions/end-others',
    area,
    form: noFields,
    async run({ person, session, locale }) {
      const count = await sessions.endOthers(session.id, person.id);
      return { message: locale.t.me.endedOthers(count), target: person.name, to: path };
    },
  });

const chooseZone = ({ store }: OwnParts) =>
  action({
    path: '/me/zone',
    area,
    form: z.object({ zone: z.string().max(100).refine(isZone, { error: 'must be the name of a time zone, such as Europe/Dublin' }) }),
    isUnrecorded: true,
    async run({ person, form: { zone }, locale }) {
      await store.choose(person.id, { ...person, zone });
      return { message: locale.t.me.saved, target: zone, to: path };
    },
  });

/** One choice at a time: the buttons of the menu send only themselves. */
const Appearance = z.object({
  theme: z.enum(themes).optional(),
  density: z.enum(densities).optional(),
  language: z.string().refine(isLanguage, { error: 'must be a language of the console' }).optional(),
  keys: z.enum(['on', 'off']).optional(),
});

const chooseAppearance = ({ store }: OwnParts) =>
  action({
    path: '/me/appearance',
    area,
    form: Appearance,
    isUnrecorded: true,
    async run({ person, form: chosen, locale }) {
      const { theme = person.theme, density = person.density, language = person.language, keys } = chosen;
      const hasKeys = keys === undefined ? person.hasKeys : keys === 'on';
      await store.choose(person.id, { zone: person.zone, theme, density, language: isLanguage(language) ? language : person.language, hasKeys });
      return {
        message: (isLanguage(language) ? createLocale({ ...locale, language }) : locale).t.me.saved,
        target: person.name,
      };
    },
  });
