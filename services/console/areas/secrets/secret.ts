// One secret: its versions in each environment, a form that only takes values, copies that show none, and how often it is read.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { Application, Environment, Secret } from '../../../secrets/contract.ts';
import { isActive, SecretVersion } from '../../../secrets/management/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { page, type Refilled, type Shown, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { copyable, quoted } from '../../view/details.ts';
import { confirmByName, field, form } from '../../view/forms.ts';
import { icon } from '../../view/icons.ts';
import { actionButton, actionsFor, actionsFormElement, rowList } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pageHead, section } from '../../view/shell.ts';
import { badge, dotted, time } from '../../view/texts.ts';
import { appRoot, inEach } from './application-page.ts';
import { readsOf, readsPart } from './reads-plot.ts';
import { appPath, area, auditOf, OfSecret, type SecretNames, secretPath } from './tabs.ts';
import { valueFields } from './value-form.ts';

type Version = AnswerOf<typeof SecretVersion>;
type Kept = { readonly slug: string; readonly inherits: string | undefined; readonly versions: readonly Version[] };

/** So many of each environment, and fewer where there are many: a page has at most 1500 elements. The audit knows of those before. */
const versionsFor = (environments: number) => Math.max(3, Math.min(10, Math.floor(40 / environments)));

const show = page({
  path: '/secrets/{app}/{secret}',
  area,
  params: OfSecret,
  query: z.object({ environment: z.string().optional() }),
  show: (visit) => secretPage(visit, visit.params, { chosen: visit.query.environment }),
});

/** A form of the page that was refused. A value does not come back. */
export type Returned = Refilled & { readonly form: 'add' | 'copy' | 'confirm' };
export type Given = { readonly chosen?: string | undefined; readonly returned?: Returned | undefined };

export async function secretPage(visit: Visit, names: SecretNames, { chosen, returned }: Given): Promise<Shown> {
  const { locale, ask, may } = visit;
  const { app, secret: name } = names;
  const api = ask('secrets');
  const root = appRoot(app) + pathOf`/secrets/${name}`;
  const [secret, application, reads, kept] = await Promise.all([
    api.get(root, Secret),
    api.get(appRoot(app), Application),
    readsOf(visit, app, name),
    keptOf(api, names),
  ]);
  const { secrets } = locale.t;
  const isEditor = may(area, 'editor');
  const path = secretPath(app, name);
  const source = kept.find(({ versions }) => versions.length > 0) ?? kept[0];
  const lists = kept.map((one) => versionList(locale, path, { ...one, isEditor }));
  const forms = isEditor ? formsOf(locale, path, { kept, chosen, returned }) : null;
  return {
    title: name,
    body: [
      pageHead({
        title: name,
        trail: [{ label: application.name, href: appPath(app) }],
        lead: secret.description,
        actions: actionsOf(locale, names, isEditor),
      }),
      h('div', { class: 'columns' }, h('div', { class: 'apart' }, lists), forms),
      source && copyable(locale, readingCommand(api.url, name, source.slug), { label: secrets.readIt, isFolded: true }),
      readsPart(visit, reads),
      may(area, 'admin')
        ? confirmByName(locale, {
            path: `${path}/delete`,
            name,
            label: secrets.deleteSecret,
            explanation: secrets.deleteExplained,
            faults: returned?.form === 'confirm' ? returned.faults : undefined,
          })
        : null,
      actionsFormElement(),
    ],
  };
}

/** The key comes from the environment of the shell. */
const readingCommand = (url: string, name: string, environment: string): string =>
  `curl -sS ${quoted(url + pathOf`/api/consumer/secrets/${name}?environment=${environment}`)} -H "X-Api-Key: $SIGNALBOX_APPLICATION_KEY"`;

async function keptOf(api: ReturnType<Visit['ask']>, { app, secret }: SecretNames): Promise<readonly Kept[]> {
  const environments = await api.get(`${appRoot(app)}/environments`, z.array(Environment));
  return inEach(environments, async ({ slug, inherits }) => {
    const path = appRoot(app) + pathOf`/secrets/${secret}/versions/${slug}`;
    return { slug, inherits, versions: await api.get(path, z.array(SecretVersion), { limit: versionsFor(environments.length) }) };
  });
}

const actionsOf = ({ t: { secrets } }: Locale, { app, secret }: SecretNames, isEditor: boolean) => [
  h('a', { class: 'button', href: auditOf(app, secret) }, secrets.audit.title),
  isEditor
    ? h('a', { class: 'button primary', href: '#field-environment', 'data-key': 'n', 'data-key-label': secrets.add.title }, icon('add'), secrets.add.title)
    : null,
];

type VersionList = Kept & { readonly isEditor: boolean };

/** The versions of an environment, newest first. */
function versionList(locale: Locale, path: string, { slug, inherits, versions, isEditor }: VersionList): VNode {
  const { secrets } = locale.t;
  if (versions.length === 0) {
    const words = inherits === undefined ? badge('warn', secrets.missing) : h('p', { class: 'quiet' }, secrets.inherits(inherits));
    return section(slug, words);
  }
  const served = versions.find((version) => isServed(locale, version))?.version;
  const list = rowList<Version>({
    label: slug,
    kind: 'lines',
    items: versions,
    idOf: ({ id }) => id,
    content: (version) => [
      versionText(locale, version, version.version === served),
      isEditor ? buttonsOf(locale, `${path}/versions/${encodeURIComponent(slug)}/${version.version}`, { version, isNewest: version === versions[0] }) : null,
    ],
  });
  return section(slug, h('div', { class: 'versions' }, list));
}

const isServed = ({ now }: Locale, { isEnabled, notBefore, expiresAt }: Version): boolean =>
  isActive({ isEnabled, notBefore: notBefore === null ? null : new Date(notBefore), expiresAt: expiresAt === null ? null : new Date(expiresAt) }, now);

function versionText(locale: Locale, { version, isEnabled, createdAt, notBefore, expiresAt }: Version, isServedNow: boolean): VNode {
  const { secrets } = locale.t;
  const state = isServedNow ? badge('good', secrets.served) : stateOf(locale, { isEnabled, notBefore, expiresAt });
  const isOver = isPast(locale, expiresAt);
  return h(
    'div',
    { class: 'text' },
    h('span', { class: 'version' }, h('span', { class: 'strong' }, secrets.version(version)), state),
    dotted(
      [`${secrets.made} `, time(locale, createdAt)],
      notBefore === null ? null : [`${secrets.from} `, time(locale, notBefore)],
      expiresAt === null ? null : [`${isOver ? secrets.expired : secrets.expires} `, time(locale, expiresAt)],
    ),
  );
}

const isPast = ({ now }: Locale, time: string | null): boolean => time !== null && Date.parse(time) < now.getTime();

/** Why a version is not served; nothing where a newer one is. */
function stateOf(locale: Locale, { isEnabled, notBefore, expiresAt }: Pick<Version, 'isEnabled' | 'notBefore' | 'expiresAt'>): VNode | null {
  const { secrets } = locale.t;
  if (!isEnabled) return badge('plain', secrets.disabled);
  if (isPast(locale, expiresAt)) return badge('bad', secrets.expired);
  return notBefore === null || isPast(locale, notBefore) ? null : badge('info', secrets.notYet);
}

function buttonsOf({ t: { secrets } }: Locale, at: string, { version, isNewest }: { readonly version: Version; readonly isNewest: boolean }): VNode {
  const word = version.isEnabled ? 'disable' : 'enable';
  return actionsFor(
    secrets.version(version.version),
    isNewest ? null : actionButton({ path: `${at}/restore`, label: secrets.restore, icon: 'undo', key: 'r' }),
    actionButton({ path: `${at}/${word}`, label: secrets[word], key: 'd' }),
  );
}

type Forms = Given & { readonly kept: readonly Kept[] };

const formsOf = (locale: Locale, path: string, { kept, chosen, returned }: Forms): VNode => {
  const { add, copies } = locale.t.secrets;
  const isCopied = kept.length > 1 && kept.some(({ versions }) => versions.length > 0);
  return h(
    'div',
    { class: 'apart' },
    section(add.title, newVersion(locale, path, { kept, chosen, refilled: returned?.form === 'add' ? returned : undefined })),
    isCopied ? section(copies.title, copyForm(locale, path, { kept, faults: returned?.form === 'copy' ? returned.faults : undefined })) : null,
  );
};

type Versioned = { readonly kept: readonly Kept[]; readonly chosen: string | undefined; readonly refilled: Refilled | undefined };

const newVersion = (locale: Locale, path: string, { kept, chosen, refilled }: Versioned): VNode =>
  h(
    'div',
    { id: 'add' },
    form(
      locale,
      { path: `${path}/values`, submit: locale.t.secrets.add.submit, faults: refilled?.faults },
      ...valueFields(locale, {
        environments: kept.map((one) => ({
          slug: one.slug,
          isLacking: one.inherits === undefined && !one.versions.some((version) => isServed(locale, version)),
        })),
        chosen: chosen === undefined ? [] : [chosen],
        refilled,
      }),
    ),
  );

function copyForm(locale: Locale, path: string, { kept, faults }: { readonly kept: readonly Kept[]; readonly faults: Refilled['faults'] | undefined }): VNode {
  const { copies } = locale.t.secrets;
  const options = kept.map(({ slug }) => ({ value: slug, label: slug }));
  const sources = kept.filter(({ versions }) => versions.length > 0).map(({ slug }) => ({ value: slug, label: slug }));
  const target = kept.find(({ versions }) => versions.length === 0)?.slug ?? options.find(({ value }) => value !== sources[0]?.value)?.value;
  return form(
    locale,
    { path: `${path}/copy`, submit: copies.submit, faults },
    h(
      'div',
      { class: 'pair' },
      field(locale, { kind: 'choice', name: 'from', label: copies.from, options: sources, isRequired: true, faults }),
      field(locale, { kind: 'choice', name: 'to', label: copies.to, options, value: target, isRequired: true, faults }),
    ),
    h('p', { class: 'hint' }, copies.hint),
  );
}

export const secretPages = [show];
