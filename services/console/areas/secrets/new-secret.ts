// A new secret, with its value in some environments or without one.
import { z } from 'zod';
import type { VNode } from '../../view/elements.ts';
import { CreatedSecret, Environment } from '../../../secrets/contract.ts';
import { Problem } from '../../../platform/problem.ts';
import { action, type Refilled, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { field, form } from '../../view/forms.ts';
import { applicationPage, appRoot } from './application-page.ts';
import { atField } from './keys.ts';
import { appPath, area, InApp, secretPath } from './tabs.ts';
import { addedIn, addVersions, mostFormBytes, requireValue, ValueFields, valueFields } from './value-form.ts';

type Asking = Pick<Visit, 'locale' | 'ask' | 'may'>;

export async function newSecretPart({ locale, ask }: Asking, app: string, refilled?: Refilled): Promise<readonly VNode[]> {
  const environments = await ask('secrets').get(`${appRoot(app)}/environments`, z.array(Environment));
  const { secrets } = locale.t;
  const entered = (name: string) => [refilled?.fields[name] ?? ''].flat()[0];
  const faults = refilled?.faults;
  return [
    form(
      locale,
      { path: `${appPath(app)}/add`, submit: secrets.parts.new, cancel: appPath(app), faults },
      field(locale, {
        kind: 'text',
        name: 'name',
        label: secrets.columns.name,
        hint: secrets.secretNameHint,
        value: entered('name'),
        isRequired: true,
        maxLength: 200,
        autocomplete: 'off',
        isFocused: true,
        faults,
      }),
      field(locale, { kind: 'text', name: 'description', label: secrets.columns.description, value: entered('description'), maxLength: 1000, faults }),
      ...valueFields(locale, { environments: environments.map(({ slug }) => ({ slug, isLacking: false })), refilled }),
    ),
  ];
}

/** After a timeout the value may be there, and after a conflict the value of another person is: a delete would take it away. */
const isNothingStored = ({ status }: Problem) => status === 400 || status === 404;

const add = action({
  path: '/secrets/{app}/add',
  area,
  params: InApp,
  maxFormBytes: mostFormBytes,
  form: ValueFields.extend({ name: z.string(), description: z.string().default('') }),
  async run(visit) {
    const { params, form: entered, locale, ask } = visit;
    const { app } = params;
    const { name, description, environment, value, generate } = entered;
    const { secrets } = locale.t;
    const hasValue = value !== '' || generate || environment.length > 0;
    if (hasValue) requireValue(visit, entered);
    const body = { name, description: description === '' ? null : description };
    await atField('name', ask('secrets').send({ method: 'POST', path: `${appRoot(app)}/secrets`, body }, CreatedSecret));
    const to = secretPath(app, name);
    if (!hasValue) return { message: secrets.added(name), target: `${app}/${name}`, to };
    try {
      const places = await addVersions(visit, { app, secret: name }, entered);
      return { message: addedIn(locale, places), target: `${app}/${name}`, to };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!isNothingStored(error))
        return { message: secrets.valueFailed(name, locale.faultText(error.detail ?? error.kind.title)), target: `${app}/${name}`, to };
      // Its form comes back, and the name would be taken then.
      await ask('secrets').send({ method: 'DELETE', path: appRoot(app) + pathOf`/secrets/${name}` }, z.undefined());
      throw error;
    }
  },
  async again(visit) {
    const { app } = visit.params;
    return applicationPage(visit, { app, part: 'new', content: await newSecretPart(visit, app, visit) });
  },
});

export const newSecretActions = [add];
