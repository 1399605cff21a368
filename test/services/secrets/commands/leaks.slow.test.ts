import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../support/guard.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { freePort } from '../../../support/wait.ts';
import { adminToken, manage, masterKeys, migrations, newApplication, putSecret, useService } from '../service.ts';
import { type Ended, secretsCommand } from './command.ts';

const marker = () => `marker-${randomBytes(12).toString('hex')}`;

/** As it is, and as dumps and logs might have it. */
const spellings = (hidden: string) => [hidden, Buffer.from(hidden).toString('base64').replace(/=+$/, ''), Buffer.from(hidden).toString('hex')];

describe('what the commands of the secrets service print', () => {
  const running = useService();
  const folder = temporaryDirectory('leaks');
  const [secret, configuration, imported, broken] = [marker(), marker(), marker(), marker()];
  const backupKey = randomBytes(32).toString('base64');
  const password = marker();
  let target: TestDatabase | undefined;
  after(() => target?.drop());

  const wrongKey = `key_${randomBytes(20).toString('hex')}`;
  const wrongToken = marker();
  const newMaster = randomBytes(32).toString('base64');
  const [good, bad, file] = [join(folder, 'good.env'), join(folder, 'bad.env'), join(folder, 'backup')];
  const env = (key: string) => ({
    SIGNALBOX_SECRETS_URL: running.url,
    SIGNALBOX_APPLICATION_KEY: key,
    Management__AdminApiKey: adminToken,
    DATABASE_URL: running.databaseUrl,
    Encryption__MasterKeys: masterKeys,
    Backup__Key: backupKey,
    LOG_LEVEL: 'trace',
  });
  type Case = readonly [code: number, args: readonly string[], more?: Readonly<Record<string, string>>];

  function casesWithService(key: string, nowhere: string): readonly Case[] {
    const run = ['run', '--environment', 'local', '--secret', 'token', '--', 'true'];
    const importEnv = (as: string, path: string, ...more: readonly string[]) => [
      ...['import-env', '--application', 'leaks', '--environment', 'local', '--as', as, ...more, path],
    ];
    return [
      [0, run],
      [125, run, { SIGNALBOX_APPLICATION_KEY: wrongKey }],
      [125, run, { SIGNALBOX_APPLICATION_KEY: `${key}\n${password}` }],
      [125, run, { SIGNALBOX_SECRETS_URL: nowhere }],
      [125, run, { SIGNALBOX_SECRETS_URL: `http://user:${password}@127.0.0.1` }],
      [125, ['run', '--environment', 'local', '--secret', 'token=A', '--', 'true']],
      [127, ['run', '--environment', 'local', '--secret', 'token', '--', 'no-such-program']],
      [0, importEnv('configuration', good, '--dry-run')],
      [0, importEnv('configuration', good)],
      [0, importEnv('secrets', good, '--dry-run')],
      [0, importEnv('secrets', good)],
      [1, importEnv('secrets', bad)],
      [1, importEnv('secrets', good), { Management__AdminApiKey: wrongToken }],
      [1, importEnv('secrets', good), { SIGNALBOX_APPLICATION_KEY: wrongKey }],
    ];
  }

  function casesWithDatabase(targetUrl: string, port: number): readonly Case[] {
    const noDatabase = { DATABASE_URL: `postgres://user:${password}@127.0.0.1:${port}/x` };
    return [
      [0, ['backup', '--output', file]],
      [1, ['backup', '--output', file], { Encryption__MasterKeys: `first:${newMaster}` }],
      [1, ['backup', '--output', file], { Backup__Key: newMaster.slice(1) }],
      [1, ['backup', '--output', file], noDatabase],
      [1, ['restore', file]],
      [1, ['restore', file], { DATABASE_URL: targetUrl, Backup__Key: newMaster }],
      [0, ['restore', file], { DATABASE_URL: targetUrl, Encryption__MasterKeys: `new:${newMaster}` }],
      [0, ['rewrap'], { Encryption__MasterKeys: `new:${newMaster},${masterKeys}` }],
      [1, ['rewrap'], { Encryption__MasterKeys: `new:${newMaster.slice(1)}` }],
      [1, ['rewrap'], noDatabase],
      [0, ['audit', '--json']],
      [1, ['audit'], noDatabase],
    ];
  }

  it('is no value, key or token, whether they succeed or fail', async function () {
    this.timeout(600_000);
    const { slug, key } = await newApplication(running.url, 'Leaks');
    await putSecret(running.url, slug, 'token', { value: secret });
    await manage(running.url, 'POST', `/${slug}/configurations`, { environmentSlug: 'local', key: 'A', value: configuration });
    writeFileSync(good, `A=${imported}\nB='${imported}'\ntoken=${imported}`);
    writeFileSync(bad, `A="${broken}\n${broken}\nB=${broken}`);
    target = await createTestDatabase({ schema: 'secrets', migrations });

    const port = await freePort();
    const printed: Ended[] = [];
    for (const [code, args, more] of [...casesWithService(key, `http://127.0.0.1:${port}`), ...casesWithDatabase(target.url, port)]) {
      const ended = await secretsCommand(args, { env: { ...env(key), ...more } });
      expect(ended.code, `${args.join(' ')}: ${ended.err}`).to.equal(code);
      printed.push(ended);
    }

    const all = printed.map(({ out, err }) => out + err).join('\n');
    expect(all.length).to.be.greaterThan(2000);
    const master = masterKeys.split(':')[1] ?? '';
    const hidden = [secret, configuration, imported, broken, key, wrongKey, adminToken, wrongToken, master, newMaster, newMaster.slice(1), backupKey, password];
    for (const one of hidden) for (const spelling of spellings(one)) expect(all).not.to.include(spelling);
  });

  it('says what went wrong in sentences, without a stack', async () => {
    for (const args of [
      ['run', '--environment', 'local', '--', 'true'],
      ['import-env', '--application', 'x', '--environment', 'y', '--as', 'secrets', 'z'],
      ['backup'],
      ['restore'],
      ['rewrap'],
      ['audit'],
    ]) {
      const { code, err } = await secretsCommand(args);
      expect(code, args.join(' ')).to.be.greaterThan(0);
      expect(err, args.join(' ')).not.to.match(/\n\s+at |node:internal|TypeError/);
      expect(err.trim(), args.join(' ')).not.to.equal('');
    }
  });
});
