// Values that come from elsewhere: copied from another environment unseen, or imported from a dotenv file. Routes and rules.
import { v7 as newId } from 'uuid';
import { DotenvError, type DotenvEntry, parseDotenv } from '../../platform/config/dotenv.ts';
import { answer, rawBody, route } from '../../platform/http/route.ts';
import { Common } from '../../platform/problem.ts';
import { InEnvironment, NewConfiguration, NewSecret, OfSecret, Problems } from '../contract.ts';
import { dateOf, openValue } from '../encryption/envelope.ts';
import type { Keyring, MasterKey } from '../encryption/master-keys.ts';
import { findSecret } from './secrets.ts';
import type { ManagementStore, SealedVersion } from './store.ts';
import { lockApplication, type UnitOfWork } from './unit-of-work.ts';
import { appendValueOf, findEnvironment, masterOf, newVersions } from './values.ts';
import { Imported, isActive, type ImportedItem, ImportQuery, SecretVersion, ValueItem, VersionCopy } from './contract.ts';

const maxFileBytes = 1024 * 1024;
const fileMs = 10_000;
/** One transaction writes all of them. */
const maxEntries = 1000;

export const copyRoutes = (write: UnitOfWork, keyring: Keyring) => [copyRoute(write, keyring), importRoute(write, keyring)];

const copyRoute = (write: UnitOfWork, keyring: Keyring) =>
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/secrets/{name}/copy',
    operationId: 'copySecretVersion',
    describedAnswerHeaders: { 201: {} },
    summary: 'Copies the value of a secret into another environment, unseen',
    description:
      'Encrypts the value anew as the next version of the other environment: enabled, from now on and without end. The answer does not hold the value.',
    params: OfSecret,
    body: VersionCopy,
    answers: { 201: SecretVersion },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing, Problems.versionMissing, Problems.versionChanged],
    async handle(request) {
      const { slug, name } = request.params;
      const { from, to, version, expectedVersion } = request.body;
      const target = { action: 'secret.copy', application: slug, environment: to, subject: name } as const;
      const copied = await write.run(request, target, async (store, active) => {
        const applicationId = await lockApplication(store, slug);
        const secret = await findSecret(store, applicationId, name);
        const [source, environmentId] = [await findEnvironment(store, applicationId, from), await findEnvironment(store, applicationId, to)];
        const newest = await store.versions.newest(secret.id, [source, environmentId]);
        const before = newest.get(environmentId) ?? 0;
        if (expectedVersion !== undefined && expectedVersion !== before)
          throw Problems.versionChanged({ detail: `The newest version in '${to}' is ${before}, not ${expectedVersion}.` });
        const row = await store.versions.lock(secret.id, source, version ?? newest.get(source) ?? 0);
        if (!row) throw Problems.versionMissing();
        const now = write.clock();
        if (version === undefined && !isServed(row, now))
          throw Problems.versionMissing({ detail: `The newest version in '${from}', ${row.version}, is not active; copy one by its number.` });
        const result = await appendValueOf(store, row, { environmentId, keyring, active, createdAt: now });
        return { applicationId, result, parts: [{ environment: to, version: result.version, detail: `from ${from}, version ${row.version}` }] };
      });
      return answer(201, copied);
    },
  });

const importRoute = (write: UnitOfWork, keyring: Keyring) =>
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/environments/{envSlug}/import',
    operationId: 'importEnvironment',
    isQueryClosed: true,
    summary: 'Imports a dotenv file into an environment, all of it or nothing',
    description:
      'Each line becomes a secret with a value, or a configuration entry. A line whose value is there already changes nothing; the service compares, and shows no value. A file that tools read differently is refused, by its lines.',
    params: InEnvironment,
    query: ImportQuery,
    body: rawBody({ mediaTypes: ['text/plain'], maxBytes: maxFileBytes, timeoutMs: fileMs }),
    answers: { 200: Imported },
    problems: [Problems.applicationMissing, Problems.environmentMissing],
    async handle(request) {
      const { as, dryRun = false } = request.query;
      const { slug, envSlug } = request.params;
      const entries = readEntries(request.body);
      requireAcceptable(entries, as);
      const planAll = async (from: ManagementStore, applicationId: string) => {
        const place = { applicationId, environmentId: await findEnvironment(from, applicationId, envSlug), environment: envSlug };
        return {
          place,
          steps: await (as === 'secrets' ? planSecrets(from, entries, { place, keyring, now: write.clock() }) : planConfiguration(from, entries, place)),
        };
      };
      const action = as === 'secrets' ? 'secret.import' : 'configuration.import';
      return write.run(request, { action, application: slug, environment: envSlug }, async (inTransaction, active) => {
        const applicationId = await lockApplication(inTransaction, slug);
        const { place, steps } = await planAll(inTransaction, applicationId);
        if (dryRun) return { applicationId, result: { items: itemsOf(steps) }, parts: [] };
        const changed = steps.filter(({ change }) => change === 'created' || change === 'updated');
        const writing = { place: { ...place, createdAt: write.clock() }, active };
        const parts = await (as === 'secrets' ? addSecrets(inTransaction, changed, writing) : setConfiguration(inTransaction, changed, writing.place));
        return { applicationId, result: { items: itemsOf(steps) }, parts };
      });
    },
  });

const itemsOf = (steps: readonly Step[]): ImportedItem[] => steps.map(({ name, change }) => ({ name, change }));

const utf8 = new TextDecoder('utf-8', { fatal: true });
const notValid = (errors: Readonly<Record<string, readonly string[]>>) => Common.invalid({ detail: 'The file is not imported; see errors.', errors });

/** @throws Problem 400 with every line at fault, without a name or value of it */
function readEntries(bytes: Buffer): DotenvEntry[] {
  try {
    const entries = parseDotenv(utf8.decode(bytes));
    if (entries.length > 0 && entries.length <= maxEntries) return entries;
    throw notValid({ body: [`must hold 1 to ${maxEntries} settings`] });
  } catch (error) {
    if (error instanceof DotenvError) throw notValid(Object.fromEntries(error.faults.map(({ line, says }) => [`line ${line}`, [says]])));
    if (error instanceof TypeError) throw notValid({ body: ['must be UTF-8'] });
    throw error;
  }
}

const isEmpty = ({ value }: DotenvEntry) => value.trim() === '';

/** @throws Problem 400 with every line whose name or value the service does not take */
function requireAcceptable(entries: readonly DotenvEntry[], as: 'secrets' | 'configuration'): void {
  const readings = ({ name, value }: DotenvEntry) =>
    as === 'configuration'
      ? [NewConfiguration.safeParse({ environmentSlug: 'any', key: name, value })]
      : [NewSecret.safeParse({ name }), ValueItem.safeParse({ environmentSlug: 'any', value })];
  const faults = entries.flatMap((entry) => {
    const messages = isEmpty(entry) ? [] : readings(entry).flatMap(({ error }) => error?.issues.map(({ message }) => message) ?? []);
    return messages.length > 0 ? [[`line ${entry.line}`, messages] as const] : [];
  });
  if (faults.length > 0) throw notValid(Object.fromEntries(faults));
}

type Step = ImportedItem & { readonly value: string; /** The id of the secret, where it exists. */ readonly id?: string };
type Place = { readonly applicationId: string; readonly environmentId: string; readonly environment: string };

type Comparing = { readonly place: Place; readonly keyring: Keyring; readonly now: Date };

async function planSecrets(store: ManagementStore, entries: readonly DotenvEntry[], comparing: Comparing) {
  const { place } = comparing;
  const existing = new Map((await store.secrets.list(place.applicationId)).map(({ name, id }) => [name, id]));
  const steps: Step[] = [];
  for (const entry of entries) {
    const { name, value } = entry;
    const id = existing.get(name);
    if (isEmpty(entry)) steps.push({ name, value, change: 'empty' });
    else if (id === undefined) steps.push({ name, value, change: 'created' });
    else steps.push({ name, value, id, change: await changeOf(store, { value, id, ...comparing }) });
  }
  return steps;
}

const isServed = ({ isEnabled, notBefore, expiresAt }: SealedVersion, now: Date) =>
  isActive({ isEnabled, notBefore: notBefore && dateOf(notBefore), expiresAt: expiresAt && dateOf(expiresAt) }, now);

type Compared = Comparing & { readonly value: string; readonly id: string };

/** Compares with the newest version: one that is not served is replaced, though its value is the same. */
async function changeOf(store: ManagementStore, { value, id, place, keyring, now }: Compared): Promise<'created' | 'updated' | 'unchanged'> {
  const newest = (await store.versions.newest(id, [place.environmentId])).get(place.environmentId);
  const row = newest === undefined ? undefined : await store.versions.lock(id, place.environmentId, newest);
  if (!row) return 'created';
  return isServed(row, now) && openValue(row, { ...row, versionId: row.id }, masterOf(keyring, row)) === value ? 'unchanged' : 'updated';
}

async function planConfiguration(store: ManagementStore, entries: readonly DotenvEntry[], { applicationId, environment }: Place): Promise<Step[]> {
  const all = await store.configurations.list(applicationId);
  const existing = new Map(all.filter(({ environmentSlug }) => environmentSlug === environment).map(({ key, value }) => [key, value]));
  return entries.map((entry) => {
    const { name, value } = entry;
    const before = existing.get(name);
    const change = before === undefined ? 'created' : before === value ? 'unchanged' : 'updated';
    return { name, value, change: isEmpty(entry) ? 'empty' : change };
  });
}

type Writing = { readonly place: Place & { readonly createdAt: Date }; readonly active: MasterKey };

async function addSecrets(store: ManagementStore, steps: readonly Step[], { place, active }: Writing) {
  const parts: { environment: string; subject: string; version: number }[] = [];
  const { applicationId, environment, createdAt } = place;
  for (const { name, value, id } of steps) {
    const secretId = id ?? newId();
    if (id === undefined) await store.secrets.insert(applicationId, { id: secretId, name, description: null, createdAt, updatedAt: createdAt });
    const item = ValueItem.parse({ environmentSlug: environment, value });
    const added = await newVersions(store, [item], { place: { applicationId, secretId, createdAt }, active });
    await store.versions.insert(added.map(({ row }) => row));
    await store.secrets.touch(secretId, createdAt);
    parts.push(...added.map(({ row }) => ({ environment, subject: name, version: row.version })));
  }
  return parts;
}

async function setConfiguration(store: ManagementStore, steps: readonly Step[], { applicationId, environmentId, environment, createdAt }: Writing['place']) {
  for (const { name: key, value, change } of steps) {
    const entry = { id: newId(), environmentSlug: environment, key, value, description: null, createdAt, updatedAt: createdAt };
    if (change === 'created') await store.configurations.insert(environmentId, entry);
    else await store.configurations.update([applicationId, environment, key], value, undefined, createdAt);
  }
  return steps.map(({ name }) => ({ environment, subject: name }));
}
