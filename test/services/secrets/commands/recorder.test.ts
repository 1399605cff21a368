// Entries in the audit by commands that work on the database itself.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { temporaryDirectory } from '../../../support/guard.ts';
import { masterKeys as first, migrations, newApplication, putSecret, secretValue, useService } from '../service.ts';
import { secretsCommand } from './command.ts';

const backupKey = randomBytes(32).toString('base64');
const second = `second:${randomBytes(32).toString('base64')}`;

describe('the audit of commands', () => {
  const running = useService();
  let target: TestDatabase;
  const file = join(temporaryDirectory('audited'), 'backup');
  before(async () => {
    target = await createTestDatabase({ schema: 'secrets', migrations });
    const { slug } = await newApplication(running.url);
    await putSecret(running.url, slug, 'password', { value: secretValue('open sesame') });
  });
  after(() => target.drop());

  const command = async (args: readonly string[], databaseUrl: string, masterKeys = first) => {
    const { code } = await secretsCommand(args, { env: { DATABASE_URL: databaseUrl, Encryption__MasterKeys: masterKeys, Backup__Key: backupKey } });
    return code;
  };

  type Entry = Readonly<{ action: string; outcome: string; application: string; subject: string | null; keyId: string; requestId: string }>;
  /** Oldest first. */
  async function entries(databaseUrl: string): Promise<Entry[]> {
    const { out } = await secretsCommand(['audit', '--plane', 'command', '--json'], { env: { DATABASE_URL: databaseUrl } });
    return out
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Entry => JSON.parse(line))
      .reverse();
  }
  const told = (list: readonly Entry[]) => list.map(({ action, outcome }) => `${action} ${outcome}`);

  it('has the beginning and the end of a backup, by whom, under one id', async () => {
    expect(await command(['backup', '--output', file], running.databaseUrl)).to.equal(0);
    const list = await entries(running.databaseUrl);
    expect(told(list)).to.deep.equal(['backup.begin done', 'backup.end done']);
    for (const entry of list) expect(entry).to.include({ application: '*', keyId: `role ${decodeURIComponent(new URL(running.databaseUrl).username)}` });
    expect(new Set(list.map(({ requestId }) => requestId)).size).to.equal(1);
  });

  it('has a backup that failed, with what a broken seal makes of it', async () => {
    expect(await command(['backup', '--output', join(file, 'x')], running.databaseUrl)).to.equal(1);
    expect(told(await entries(running.databaseUrl)).slice(-2)).to.deep.equal(['backup.begin done', 'backup.end failed']);
    await running.service.database.driver.query('update secret_versions set tag = set_byte(tag, 0, get_byte(tag, 0) # 1)');
    expect(await command(['backup', '--output', file], running.databaseUrl)).to.equal(1);
    expect(told(await entries(running.databaseUrl)).slice(-2)).to.deep.equal(['backup.begin done', 'backup.end refused']);
    await running.service.database.driver.query('update secret_versions set tag = set_byte(tag, 0, get_byte(tag, 0) # 1)');
  });

  it('has a restore with the key that it sealed under, and one that was refused', async () => {
    expect(await command(['restore', file], target.url)).to.equal(0);
    expect(await command(['restore', file], target.url)).to.equal(1);
    const list = await entries(target.url);
    expect(told(list)).to.deep.equal(['backup.restore done', 'backup.restore conflict']);
    expect(list.map(({ subject }) => subject)).to.deep.equal(['first', 'first']);
  });

  it('has a rewrap with the key that it moved to, and one that could not move all', async () => {
    expect(await command(['rewrap'], running.databaseUrl, `${second},${first}`)).to.equal(0);
    const list = (await entries(running.databaseUrl)).slice(-2);
    expect(told(list)).to.deep.equal(['rewrap.begin done', 'rewrap.end done']);
    expect(list.map(({ subject }) => subject)).to.deep.equal(['second', 'second']);
    await running.service.database.driver.query('update secret_versions set wrapped_key = set_byte(wrapped_key, 20, get_byte(wrapped_key, 20) # 1)');
    expect(await command(['rewrap'], running.databaseUrl, `${first},${second}`)).to.equal(1);
    expect(told(await entries(running.databaseUrl)).slice(-2)).to.deep.equal(['rewrap.begin done', 'rewrap.end refused']);
  });
});
