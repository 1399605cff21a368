// The fields of a value, for one or several environments. They are never filled: a value goes to the service, and none comes back.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { SecretVersion } from '../../../secrets/management/contract.ts';
import { Common, Problem } from '../../../platform/problem.ts';
import { fieldCheck, fieldList, type Refilled, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { field } from '../../view/forms.ts';
import type { Locale } from '../../view/locale.ts';
import { quiet } from '../../view/texts.ts';
import { appRoot, inEach } from './application-page.ts';
import { endOf } from './expiry.ts';
import type { SecretNames } from './tabs.ts';

/** 64 KiB, each byte of which may be three in a form. */
export const mostFormBytes = 262_144;
export const mostEnvironments = 100;

export const ValueFields = z.object({
  environment: fieldList(mostEnvironments),
  value: z.string().default(''),
  generate: fieldCheck,
  expiresAt: z.string().default(''),
});
type Entered = z.output<typeof ValueFields>;

export type Environments = readonly { readonly slug: string; /** Whether it lacks a value now. */ readonly isLacking: boolean }[];
type Given = { readonly environments: Environments; readonly chosen?: readonly string[]; readonly refilled?: Refilled | undefined };

export function valueFields(locale: Locale, { environments, chosen = [], refilled }: Given): VNode[] {
  const { add, missing } = locale.t.secrets;
  const faults = refilled?.faults;
  const offered = environments.length === 1 ? environments.map(({ slug }) => slug) : chosen;
  const ticked = refilled ? [refilled.fields['environment'] ?? []].flat() : offered;
  const boxes = environments.map(({ slug, isLacking }, index) =>
    h(
      'label',
      null,
      h('input', { type: 'checkbox', name: 'environment', value: slug, checked: ticked.includes(slug), id: index === 0 ? 'field-environment' : undefined }),
      slug,
      isLacking ? quiet(missing) : null,
    ),
  );
  const messages = faults?.['environment'] ?? [];
  const fault = messages.length > 0 ? h('p', { class: 'fault' }, messages.join(' ')) : null;
  return [
    h('fieldset', { class: 'field boxes' }, h('legend', null, add.environments), boxes, fault),
    field(locale, { kind: 'secret', name: 'value', label: add.value, hint: refilled ? add.valueAgain : add.valueHint, faults }),
    field(locale, { kind: 'check', name: 'seen', label: add.seen, isChecked: false }),
    field(locale, { kind: 'check', name: 'generate', label: add.generate, hint: add.generateHint, isChecked: false, faults }),
    field(locale, { kind: 'date', name: 'expiresAt', label: add.expiresAt, value: [refilled?.fields['expiresAt'] ?? ''].flat()[0], faults }),
  ];
}

type Newest = ReadonlyMap<string, number>;
type Asking = Pick<Visit, 'locale' | 'ask' | 'person'>;

/** The numbers of the newest versions, 0 where there is none. */
async function newestIn({ ask }: Pick<Visit, 'ask'>, { app, secret }: SecretNames, environments: readonly string[]): Promise<Newest> {
  const root = appRoot(app) + pathOf`/secrets/${secret}/versions/`;
  const one = async (slug: string) => {
    const [newest] = await ask('secrets').get(root + pathOf`${slug}`, z.array(SecretVersion), { limit: 1 });
    return [slug, newest?.version ?? 0] as const;
  };
  return new Map(await inEach(environments, one));
}

export type Place = { readonly environment: string; readonly version: number };

/** The outcome in words. */
export const addedIn = ({ t, format }: Locale, places: readonly Place[]): string =>
  places.length === 0 ? t.secrets.add.nothing : t.secrets.add.done(format.list(places.map(({ environment }) => environment)));

/** The faults of a form, before the service is asked. @throws Problem 400 */
export function requireValue({ locale, person }: Pick<Visit, 'locale' | 'person'>, { environment, value, generate, expiresAt }: Entered): void {
  const { add } = locale.t.secrets;
  if (environment.length === 0) throw Common.invalid({ errors: { environment: [add.noEnvironment] } });
  if (generate === (value !== '')) throw Common.invalid({ errors: { value: [add.oneSource] } });
  endOf(locale, person.zone, expiresAt);
}

/**
 * Adds a version in each environment.
 * @returns those that were added: a value is generated only where there is none
 * @throws Problem 409 where another version came meanwhile, 400 with the faults of the fields
 */
export async function addVersions(visit: Asking, names: SecretNames, entered: Entered): Promise<readonly Place[]> {
  const { locale, ask, person } = visit;
  const { environment, value, generate } = entered;
  const newest = await newestIn(visit, names, environment);
  const expiresAt = endOf(locale, person.zone, entered.expiresAt);
  // A form sends each end of a line as two characters; a key file has one.
  const source = generate ? { generate: { length: 32, alphabet: 'alphanumeric' } } : { value: value.replaceAll('\r\n', '\n') };
  const items = environment.map((environmentSlug) => ({ environmentSlug, ...source, expiresAt, expectedVersion: newest.get(environmentSlug) }));
  const path = appRoot(names.app) + pathOf`/secrets/${names.secret}/values`;
  await atFields(ask('secrets').send({ method: 'POST', path, body: items }, z.undefined()));
  return [...newest].flatMap(([slug, before]) => (generate && before > 0 ? [] : [{ environment: slug, version: before + 1 }]));
}

/** The service names a fault by the item of its body; each item has the same value. */
async function atFields<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const faults = error instanceof Problem ? error.members['errors'] : undefined;
    if (typeof faults !== 'object' || faults === null || Object.keys(faults).length === 0) throw error;
    const named = Object.entries(faults).map(([name, messages]) => [name.replace(/^\[\d+\]\./, ''), messages] as const);
    throw Common.invalid({ errors: Object.fromEntries(named) });
  }
}
