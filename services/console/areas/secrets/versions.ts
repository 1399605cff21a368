// Changes of the versions of a secret: added, copied, restored, switched; and the end of a secret.
import { z } from 'zod';
import { SecretVersion } from '../../../secrets/management/contract.ts';
import { action, type Fields, noFields, type Shown, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import type { Faults } from '../../view/forms.ts';
import type { Undo } from '../../view/frame.ts';
import { appRoot } from './application-page.ts';
import { atField, requireName } from './keys.ts';
import { type Returned, secretPage } from './secret.ts';
import { appPath, area, OfSecret, type SecretNames, secretPath } from './tabs.ts';
import { addedIn, addVersions, mostEnvironments, mostFormBytes, type Place, requireValue, ValueFields } from './value-form.ts';

const OfVersion = OfSecret.extend({ environment: z.string(), version: z.string() });
type VersionNames = z.output<typeof OfVersion>;

const rootOf = ({ app, secret }: SecretNames) => appRoot(app) + pathOf`/secrets/${secret}`;
const versionRoot = (names: VersionNames) => rootOf(names) + pathOf`/versions/${names.environment}/${names.version}`;
const switchPath = ({ app, secret, environment, version }: VersionNames, word: 'enable' | 'disable') =>
  `${secretPath(app, secret)}/versions/${encodeURIComponent(environment)}/${encodeURIComponent(version)}/${word}`;

/** The page of the secret once more, as one of its forms was refused. */
const again =
  (form: Returned['form']) =>
  (visit: Visit & { readonly params: SecretNames; readonly fields: Fields; readonly faults: Faults }): Promise<Shown> =>
    secretPage(visit, visit.params, { returned: { form, fields: visit.fields, faults: visit.faults } });

/** Versions that replaced others are switched off, and the former ones are served again. Nothing to go back to where a version is the first one. */
export const undoOf = ({ app, secret }: SecretNames, places: readonly Place[]): { readonly undo?: Undo } =>
  places.length > 0 && places.every(({ version }) => version > 1)
    ? {
        undo: {
          path: `${secretPath(app, secret)}/withdraw`,
          fields: { versions: places.map(({ environment, version }) => `${environment}:${version}`).join(' ') },
        },
      }
    : {};

const add = action({
  path: '/secrets/{app}/{secret}/values',
  area,
  params: OfSecret,
  maxFormBytes: mostFormBytes,
  form: ValueFields,
  async run(visit) {
    const { params, form: entered, locale } = visit;
    requireValue(visit, entered);
    const places = await addVersions(visit, params, entered);
    const message = addedIn(locale, places);
    return { message, target: `${params.app}/${params.secret}`, to: secretPath(params.app, params.secret), ...undoOf(params, places) };
  },
  again: again('add'),
});

/** `local:3 production:2` */
const Versions = z
  .string()
  .transform((text) => text.split(' ').map((one) => one.split(':')))
  .pipe(z.array(z.array(z.string())).max(mostEnvironments));

const withdraw = action({
  path: '/secrets/{app}/{secret}/withdraw',
  area,
  params: OfSecret,
  form: z.object({ versions: Versions }),
  async run({ params, form: { versions }, locale, ask }) {
    for (const [environment = '', version = ''] of versions)
      await ask('secrets').send({ method: 'PATCH', path: versionRoot({ ...params, environment, version }), body: { isEnabled: false } }, SecretVersion);
    const message = locale.t.secrets.withdrawn(locale.format.list(versions.map(([environment = '']) => environment)));
    return { message, target: `${params.app}/${params.secret}`, to: secretPath(params.app, params.secret) };
  },
});

const switchTo = (word: 'enable' | 'disable') =>
  action({
    path: `/secrets/{app}/{secret}/versions/{environment}/{version}/${word}`,
    area,
    params: OfVersion,
    form: noFields,
    async run({ params, locale, ask }) {
      const { app, secret, environment, version } = params;
      await ask('secrets').send({ method: 'PATCH', path: versionRoot(params), body: { isEnabled: word === 'enable' } }, SecretVersion);
      const back = word === 'enable' ? 'disable' : 'enable';
      const message = locale.t.secrets.switched[word](version, environment);
      return { message, target: `${app}/${secret}/${environment}/${version}`, undo: { path: switchPath(params, back), fields: {} } };
    },
  });

const restore = action({
  path: '/secrets/{app}/{secret}/versions/{environment}/{version}/restore',
  area,
  params: OfVersion,
  form: noFields,
  async run({ params, locale, ask }) {
    const { app, secret, environment } = params;
    const { version } = await ask('secrets').send({ method: 'POST', path: `${versionRoot(params)}/restore` }, SecretVersion);
    const message = locale.t.secrets.restored(params.version, version);
    return { message, target: `${app}/${secret}/${environment}/${params.version}`, ...undoOf(params, [{ environment, version }]) };
  },
});

const copy = action({
  path: '/secrets/{app}/{secret}/copy',
  area,
  params: OfSecret,
  form: z.object({ from: z.string(), to: z.string() }),
  async run({ params, form: { from, to }, locale, ask }) {
    const { version } = await atField('from', ask('secrets').send({ method: 'POST', path: `${rootOf(params)}/copy`, body: { from, to } }, SecretVersion));
    const message = locale.t.secrets.copies.done(from, to, version);
    return { message, target: `${params.app}/${params.secret} ${from} → ${to}`, ...undoOf(params, [{ environment: to, version }]) };
  },
  again: again('copy'),
});

const remove = action({
  path: '/secrets/{app}/{secret}/delete',
  area,
  role: 'admin',
  isRecentLoginNeeded: true,
  params: OfSecret,
  form: z.object({ confirm: z.string() }),
  async run({ params, form: { confirm }, locale, ask }) {
    const { app, secret } = params;
    requireName(locale, confirm, secret);
    await ask('secrets').send({ method: 'DELETE', path: rootOf(params) }, z.undefined());
    return { message: locale.t.secrets.deleted(secret), target: `${app}/${secret}`, to: appPath(app) };
  },
  again: again('confirm'),
});

export const versionActions = [add, withdraw, switchTo('enable'), switchTo('disable'), restore, copy, remove];
