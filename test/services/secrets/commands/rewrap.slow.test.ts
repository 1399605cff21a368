import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { v7 as newId } from 'uuid';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { type Pool, statement } from '../../../../services/platform/postgres/pool.ts';
import { createConsumerClient } from '../../../../services/secrets/client.ts';
import { sealValue, storedTime } from '../../../../services/secrets/encryption/envelope.ts';
import { type MasterKey, readMasterKeys } from '../../../../services/secrets/encryption/master-keys.ts';
import { createManagementStore } from '../../../../services/secrets/management/store.ts';
import { temporaryDirectory } from '../../../support/guard.ts';
import { sized } from '../../../support/sizes.ts';
import { eventually } from '../../../support/wait.ts';
import { manage, masterKeys as first, newApplication, putSecret, secretValue, useService } from '../service.ts';
import { secretsCommand, startCommand } from './command.ts';

const second = `second:${randomBytes(32).toString('base64')}`;

function keyOf(setting: string): MasterKey {
  const { active } = readMasterKeys(new Secret(setting));
  if (!active) throw new TypeError('there is no such key');
  return active;
}

type Place = { readonly applicationId: string; readonly secretId: string; readonly environmentId: string };
const place = statement<Place, [slug: string, name: string]>(
  'test.place',
  `
  select a.id as "applicationId", s.id as "secretId", e.id as "environmentId"
  from applications a join secrets s on s.application_id = a.id join environments e on e.application_id = a.id
  where a.slug = $1 and s.name = $2`,
);
const underKey = statement<{ count: number }, [masterKeyId: string]>('test.underKey', 'select count(*) as count from secret_versions where master_key_id = $1');

const connections = statement<unknown, [application: string]>(
  'test.connections',
  'select 1 from pg_stat_activity where datname = current_database() and application_name = $1',
);

const valueStart = secretValue('to be rewrapped');
const valueOf = (name: string, version: number) => `${valueStart} ${name} ${version}`;

/** Versions as the service stores them, many at once. */
async function addVersions(database: Pool, slug: string, { name, count }: { readonly name: string; readonly count: number }): Promise<void> {
  const found = await database.first(place, slug, name);
  if (!found) throw new TypeError('there is no such secret');
  const createdAt = new Date();
  const master = keyOf(first);
  const versions = Array.from({ length: count }, (_, index) => {
    const id = newId();
    const facts = { version: index + 1, isEnabled: true, notBefore: null, expiresAt: null };
    const envelope = sealValue(valueOf(name, index + 1), { ...found, ...facts, versionId: id, createdAt: storedTime(createdAt) }, master);
    return { id, ...facts, createdAt, secretId: found.secretId, environmentId: found.environmentId, ...envelope };
  });
  await createManagementStore(database).versions.insert(versions);
}

/** In secrets of a thousand versions each. */
const all = sized(30_000, 100_000);

describe('signalbox secrets rewrap', () => {
  // A service that has the new key already, as the second step of a rotation has it.
  const running = useService({ environment: { Encryption__MasterKeys: `${second},${first}` } });
  const countUnder = async (id: string) => (await running.service.database.first(underKey, id))?.count ?? 0;
  const settings = (masterKeys = `${second},${first}`) => ({ env: { DATABASE_URL: running.databaseUrl, Encryption__MasterKeys: masterKeys } });
  const run = (masterKeys?: string) => secretsCommand(['rewrap'], settings(masterKeys));

  async function fill(secrets: number, versions: number): Promise<{ slug: string; key: string; names: string[] }> {
    const application = await newApplication(running.url);
    const names = Array.from({ length: secrets }, (_, index) => `secret-${index}`);
    for (const name of names) {
      await manage(running.url, 'POST', `/${application.slug}/secrets`, { name });
      await addVersions(running.service.database, application.slug, { name, count: versions });
    }
    return { ...application, names };
  }

  /** Reads one secret after the other until it is stopped. @returns the number of reads, and the failures */
  function keepReading({ key, names }: { readonly key: string; readonly names: readonly string[] }, newest: number) {
    const consumer = createConsumerClient({ baseUrl: running.url, credential: key, retryAfterMs: [] });
    const failures: unknown[] = [];
    let [count, isOver] = [0, false];
    const reading = (async () => {
      while (!isOver) {
        const name = names[count++ % names.length] ?? '';
        const read = await consumer.secret(name, 'local').catch((error: unknown) => failures.push(error));
        if (typeof read === 'object' && read.value !== valueOf(name, newest)) failures.push(read);
      }
    })();
    return {
      count: () => count,
      stop: async () => {
        isOver = true;
        await reading;
        return failures;
      },
    };
  }

  /** Locks the versions of a secret: until they are let go, no rewrap ends. */
  async function hold(slug: string, name: string): Promise<() => Promise<unknown>> {
    const client = await running.service.database.driver.connect();
    await client.query('begin; set local idle_in_transaction_session_timeout = 0');
    await client.query(
      `select 1 from secret_versions v join secrets s on s.id = v.secret_id join applications a on a.id = s.application_id
       where a.slug = $1 and s.name = $2 for update of v`,
      [slug, name],
    );
    return () => client.query('rollback').finally(() => client.release());
  }

  it('moves all versions while reads go on; killed and started again, it goes on where it was', async function () {
    this.timeout(600_000);
    const filled = await fill(all / 1000, 1000);
    expect(await countUnder('first')).to.equal(all);
    const reading = keepReading(filled, 1000);

    const release = await hold(filled.slug, filled.names.at(-1) ?? '');
    const url = new URL(running.databaseUrl);
    url.searchParams.set('application_name', 'killed');
    const killed = startCommand(['rewrap'], { env: { ...settings().env, DATABASE_URL: url.href } });
    try {
      await eventually(async () => expect(await countUnder('second')).to.be.greaterThan(2000), { withinMs: 120_000, everyMs: 20 });
      expect((await killed.kill()).signal).to.equal('SIGKILL');
    } finally {
      await release();
    }
    // The server completes a commit without it.
    await eventually(async () => expect(await running.service.database.all(connections, 'killed')).to.be.empty);
    const done = await countUnder('second');
    expect(done).to.be.greaterThan(2000).and.lessThan(all);
    expect(await countUnder('first')).to.equal(all - done);

    const readsBefore = reading.count();
    const { code, out, err } = await run();
    expect([code, out]).to.deep.equal([0, '']);
    expect(err).to.match(new RegExp(`^${all - done} of ${all - done} versions moved in [\\d.]+ s \\(\\d+ a second\\)$`, 'm'));
    expect(err).to.match(/no version is left on another master key than 'second'\n$/);
    expect(reading.count()).to.be.greaterThan(readsBefore + 10);
    expect(await reading.stop()).to.deep.equal([]);
    expect([await countUnder('first'), await countUnder('second')]).to.deep.equal([0, all]);

    // A backup opens every one of them, and the old key is not needed any more.
    const backup = await secretsCommand(['backup', '--output', join(temporaryDirectory('rewrapped'), 'backup')], {
      env: { ...settings(second).env, Backup__Key: randomBytes(32).toString('base64') },
    });
    expect(backup.err).to.match(new RegExp(`${all} versions\n$`));
  });

  it('shares the work with another one beside it', async () => {
    await fill(10, 500);
    const both = await Promise.all([run(), run()]);
    expect(both.map(({ code }) => code)).to.deep.equal([0, 0]);
    // On a slow machine there are lines of progress before the last one.
    const moved = both.map(({ err }) => Number([...err.matchAll(/^(\d+) of \d+ versions moved/gm)].at(-1)?.[1]));
    expect((moved[0] ?? 0) + (moved[1] ?? 0)).to.equal(5000);
    expect(await countUnder('first')).to.equal(0);
  });

  /** Until a rewrap has moved all but ten that are held, has found that, and asks on. */
  async function untilItWaits(): Promise<void> {
    const asked = statement<unknown, [since: Date]>(
      'test.asked',
      `
      select 1 from pg_stat_activity
      where datname = current_database() and query like '%count(*) as versions from secret_versions%' and pid <> pg_backend_pid()
        and query_start > $1::timestamptz + interval '300 milliseconds'`,
    );
    await eventually(async () => expect(await countUnder('first')).to.equal(10));
    const since = new Date();
    await eventually(async () => expect((await running.service.database.all(asked, since)).length).to.be.greaterThan(0));
  }

  it('leaves what others hold until they let it go, and does not end before', async () => {
    const { slug } = await fill(2, 10);
    const release = await hold(slug, 'secret-1');
    const command = startCommand(['rewrap'], settings());
    await untilItWaits().finally(release);
    expect((await command.ended).code).to.equal(0);
    expect(await countUnder('first')).to.equal(0);
  });

  it('ends with 0 when there is nothing to do', async () => {
    const { code, err } = await run();
    expect(code).to.equal(0);
    expect(err).to.match(/^0 of 0 versions moved in .*\nno version is left on another master key than 'second'\n$/);
  });

  /** Tells a rewrap to stop once it is where it shall hear of it. However late the signal comes, the command is still there. */
  async function stopped(slug: string, reached: () => Promise<unknown>): Promise<void> {
    const release = await hold(slug, 'secret-1');
    try {
      const command = startCommand(['rewrap'], settings());
      await reached();
      command.signal('SIGTERM');
      const { code, err } = await command.ended;
      expect(code).to.equal(1);
      expect(err).to.match(/stopped; the same command goes on from here\n$/);
      expect(await countUnder('first')).to.be.greaterThan(0);
    } finally {
      await release();
    }
    expect((await run()).code).to.equal(0);
  }

  it('stops on SIGTERM, saying that it can go on', async () => {
    const { slug } = await fill(5, 1000);
    await stopped(slug, () => eventually(async () => expect(await countUnder('first')).to.be.lessThan(5000), { everyMs: 5 }));
  });

  it('says the same when it waits for what others hold', async () => {
    await stopped((await fill(2, 10)).slug, untilItWaits);
  });

  it('moves the versions of deleted applications too', async () => {
    const { slug } = await fill(1, 5);
    await manage(running.url, 'DELETE', `/${slug}`);
    expect((await run()).code).to.equal(0);
    expect(await countUnder('first')).to.equal(0);
  });

  it('names versions whose wrapped key was changed, moves the others and ends with 1', async () => {
    const { slug } = await fill(1, 5);
    const broken = await running.service.database.first(
      statement<{ id: string }, [slug: string]>(
        'test.break',
        `
        update secret_versions set wrapped_key = set_byte(wrapped_key, 20, get_byte(wrapped_key, 20) # 1)
        where version = 3 and secret_id in (select s.id from secrets s join applications a on a.id = s.application_id where a.slug = $1) returning id`,
      ),
      slug,
    );
    const { code, err } = await run();
    expect(code).to.equal(1);
    expect(err).to.include(`1 versions cannot be moved, their wrapped keys were changed: ${broken?.id}\n`);
    expect(await countUnder('first')).to.equal(1);
    await manage(running.url, 'DELETE', `/${slug}/secrets/secret-0`);
    expect(await countUnder('first')).to.equal(0);
  });

  it('writes nothing with a master key that is missing, malformed or not the one of its id', async () => {
    const { slug } = await newApplication(running.url);
    await putSecret(running.url, slug, 'x', { value: secretValue('x') });
    const third = `third:${randomBytes(32).toString('base64')}`;
    expect(await run(third)).to.deep.include({ code: 1, err: "master key 'second' is not configured, and stored values need it\n" });
    const wrong = `second:${randomBytes(32).toString('base64')}`;
    const said = "master key 'second' is not the one of that id that this database was sealed with\n";
    expect(await run(wrong)).to.deep.include({ code: 1, err: said });
    expect(await run(`${third},${wrong}`)).to.deep.include({ code: 1, err: said });
    expect((await run(`second:${secretValue('no base64')}`)).err).to.match(/^Encryption__MasterKeys: entry 1 must be the base64 of 32 bytes after its id\n$/);
    expect(await countUnder('third')).to.equal(0);
  });

  it('explains itself', async () => {
    const { code, out } = await secretsCommand(['rewrap', '--help']);
    expect(code).to.equal(0);
    for (const name of ['DATABASE_URL', 'Encryption__MasterKeys']) expect(out).to.include(name);
  });
});
