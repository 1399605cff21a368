// Secrets that are written and read: a read serves the last promised value, each write is in the audit once, and so is each read.
import { randomUUID } from 'node:crypto';
import { createConsumerClient, createManagementClient, NoAnswer, Refusal } from '../../../services/secrets/client.ts';
import { createStates, createTotals, createTurns, type Load, type Outcome } from '../load.ts';
import type { Random } from '../random.ts';

const secrets = 100;
const environment = 'local';
/** Longer than a process is suspended: a write is not done after its client has left. */
const timeoutMs = 20_000;

type Parts = {
  readonly urls: readonly string[];
  readonly credential: string;
  readonly perSecond: number;
  readonly random: Random;
  /** Whether entries of the audit that were not written yet at this moment may have been lost. */
  readonly wasKilledAfter: (at: number) => boolean;
};

/** Creates the application. */
export async function createSecrets({ urls, credential, perSecond, random, wasKilledAfter }: Parts): Promise<Load> {
  const clients = urls.map((baseUrl) => createManagementClient({ baseUrl, credential, retryAfterMs: [], timeoutMs }));
  const { slug, plainApiKey } = await random.pick(clients).createApplication({ name: `Soak ${randomUUID()}` });
  const consumers = urls.map((baseUrl) => createConsumerClient({ baseUrl, credential: plainApiKey, retryAfterMs: [], timeoutMs }));
  const names = Array.from({ length: secrets }, (_, index) => `soak-${index}`);
  for (const name of names) await random.pick(clients).createSecret(slug, { name });
  const values = createStates<string>();
  const inTurn = createTurns();
  const totals = { writes: createTotals(), reads: createTotals() };
  const written = new Map<string, number>();
  const readAt: number[] = [];
  const broken: string[] = [];
  let writes = 0;

  async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
    try {
      await work;
      return 'promised';
    } catch (error) {
      if (error instanceof Refusal) return 'refused';
      if (error instanceof NoAnswer) return 'unknown';
      throw error;
    }
  }

  async function write(name: string): Promise<void> {
    const value = `value ${++writes} of ${name}`;
    const outcome = await outcomeOf(random.pick(clients).setValues(slug, name, [{ environmentSlug: environment, value }]));
    values.changed(name, value, outcome);
    totals.writes.add(outcome);
    if (outcome === 'promised') written.set(name, (written.get(name) ?? 0) + 1);
  }

  async function read(name: string): Promise<void> {
    let value: string | undefined;
    const reading = random.pick(consumers).secret(name, environment);
    const outcome = await outcomeOf(reading.then((secret) => (value = secret.value)));
    totals.reads.add(outcome);
    if (outcome !== 'promised') return;
    readAt.push(Date.now());
    if (!values.allowed(name).has(value)) broken.push(`a read of ${name} served ${value}, and not ${[...values.allowed(name)].join(' or ')}`);
    values.isNow(name, value);
  }

  return {
    name: 'secrets',
    perSecond,
    atOnce: 20,
    step() {
      const name = random.pick(names);
      return inTurn(name, () => (values.allowed(name).has(undefined) || random.below(4) === 0 ? write(name) : read(name)));
    },
    counts: () => `writes ${totals.writes.text()}, reads ${totals.reads.text()}`,
    async balance(database) {
      const { rows } = await database.query<{ action: string; subject: string; times: number }>(
        `select action, subject, count(*)::int as times from secrets.audit_entries where application = $1 and outcome = 'done' group by 1, 2`,
        [slug],
      );
      const versions = await database.query<{ name: string; times: number }>(
        'select name, count(*)::int as times from secrets.secret_versions join secrets.secrets on secrets.id = secret_id group by 1',
      );
      const stored = new Map(versions.rows.map(({ name, times }) => [name, times]));
      const audited = new Map(rows.filter(({ action }) => action === 'secret.add-version').map(({ subject, times }) => [subject, times]));
      const unequal = names.flatMap((name) => {
        const [promised, versions, entries] = [written.get(name) ?? 0, stored.get(name) ?? 0, audited.get(name) ?? 0];
        return promised <= versions && versions === entries ? [] : [`${promised} promised writes of ${name}, ${versions} versions, ${entries} audit entries`];
      });
      const reads = rows.filter(({ action }) => action === 'secret.read').reduce((sum, { times }) => sum + times, 0);
      const least = readAt.filter((at) => !wasKilledAfter(at)).length;
      return [...broken, ...unequal, ...(reads < least ? [`${reads} audit entries of ${least} reads, without those that a killed process may have lost`] : [])];
    },
  };
}
