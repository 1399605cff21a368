import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConsumerClient, createManagementClient } from '../../../../services/secrets/client.ts';
import { temporaryDirectory } from '../../../support/guard.ts';
import { freePort } from '../../../support/wait.ts';
import { adminToken, newApplication, putSecret, secretValue, type TestApplication, useService } from '../service.ts';
import { type Ended, secretsCommand } from './command.ts';

describe('signalbox secrets import-env', () => {
  const running = useService();
  const folder = temporaryDirectory('dotenv');
  const management = () => createManagementClient({ baseUrl: running.url, credential: adminToken });
  const consumer = (key: string) => createConsumerClient({ baseUrl: running.url, credential: key });

  function write(text: string): string {
    const file = join(folder, 'one.env');
    writeFileSync(file, text);
    return file;
  }
  const administrator = () => ({ SIGNALBOX_SECRETS_URL: running.url, Management__AdminApiKey: adminToken });
  type Import = { readonly slug: string; readonly as: string; readonly text: string; readonly more?: readonly string[]; readonly key?: string };
  const importEnv = ({ slug, as, text, more = [], key }: Import): Promise<Ended> =>
    secretsCommand(['import-env', '--application', slug, '--environment', 'local', '--as', as, ...more, write(text)], {
      env: { ...administrator(), ...(key !== undefined && { SIGNALBOX_APPLICATION_KEY: key }) },
    });
  /** The outcome of each name in the table. */
  const tableIn = ({ out }: Ended) =>
    Object.fromEntries(
      out
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => line.split(/ {2,}/)),
    ) as unknown;

  describe('--as configuration', () => {
    const configurationOf = async ({ key }: TestApplication) =>
      Object.fromEntries((await consumer(key).configurations('local')).map(({ key: name, value }) => [name, value]));

    it('creates what is new, updates what differs and leaves the rest alone', async () => {
      const application = await newApplication(running.url);
      const { slug } = application;
      await management().createConfiguration(slug, { environmentSlug: 'local', key: 'SAME', value: 'one' });
      await management().createConfiguration(slug, { environmentSlug: 'local', key: 'OTHER', value: 'one', description: 'kept' });
      await management().createConfiguration(slug, { environmentSlug: 'local', key: 'NOT_IN_THE_FILE', value: 'x' });
      const ended = await importEnv({ slug, as: 'configuration', text: 'SAME=one\nOTHER="two"\nNEW=three\nEMPTY=\n' });
      expect(ended.code).to.equal(0);
      expect(tableIn(ended)).to.deep.equal({ SAME: 'unchanged', OTHER: 'updated', NEW: 'created', EMPTY: 'left out (empty)' });
      expect(ended.err).to.equal('1 created, 1 updated, 1 unchanged\n1 left out: the service keeps no empty value\n');
      expect(await configurationOf(application)).to.deep.equal({ SAME: 'one', OTHER: 'two', NEW: 'three', NOT_IN_THE_FILE: 'x' });
      expect((await management().configurations(slug)).find(({ key }) => key === 'OTHER')).to.have.property('description', 'kept');
    });

    it('changes nothing when it is run again', async () => {
      const { slug } = await newApplication(running.url);
      const text = 'A=1\nB="2"\n';
      await importEnv({ slug, as: 'configuration', text });
      const before = await management().configurations(slug);
      expect((await importEnv({ slug, as: 'configuration', text })).err).to.equal('0 created, 0 updated, 2 unchanged\n');
      expect(await management().configurations(slug)).to.deep.equal(before);
    });

    it('makes keys of names as .NET reads them with --colons', async () => {
      const application = await newApplication(running.url);
      await importEnv({ slug: application.slug, as: 'configuration', text: 'Logging__Level__Default=debug\nA_B=1', more: ['--colons'] });
      expect(await configurationOf(application)).to.deep.equal({ 'Logging:Level:Default': 'debug', A_B: '1' });
    });

    it('compares with the environment that it writes to', async () => {
      const application = await newApplication(running.url);
      await management().createEnvironment(application.slug, { name: 'other' });
      await management().createConfiguration(application.slug, { environmentSlug: 'other', key: 'A', value: '1' });
      expect(tableIn(await importEnv({ slug: application.slug, as: 'configuration', text: 'A=1' }))).to.deep.equal({ A: 'created' });
    });
  });

  describe('--as secrets', () => {
    const versionsOf = async (slug: string, name: string) => (await management().versions(slug, name, 'local')).map(({ version }) => version);

    it('creates secrets and their values', async () => {
      const { slug, key } = await newApplication(running.url);
      await management().createSecret(slug, { name: 'WITHOUT_VALUE' });
      const [quoted, plain] = [secretValue('a # b'), secretValue('without quotes')];
      const ended = await importEnv({ slug, as: 'secrets', text: `NEW='${quoted}'\nWITHOUT_VALUE=${plain}` });
      expect(tableIn(ended)).to.deep.equal({ NEW: 'created', WITHOUT_VALUE: 'created' });
      expect((await consumer(key).secret('NEW', 'local')).value).to.equal(quoted);
      expect((await consumer(key).secret('WITHOUT_VALUE', 'local')).value).to.equal(plain);
    });

    it('changes nothing when it is run again, with the key of the application and without', async () => {
      const { slug, key } = await newApplication(running.url);
      const text = `A=${secretValue('a')}\nB=${secretValue('b')}`;
      await importEnv({ slug, as: 'secrets', text });
      expect(tableIn(await importEnv({ slug, as: 'secrets', text, key }))).to.deep.equal({ A: 'unchanged', B: 'unchanged' });
      const without = await importEnv({ slug, as: 'secrets', text });
      expect(tableIn(without)).to.deep.equal({ A: 'left as it was', B: 'left as it was' });
      expect(without.err).to.match(/2 left as they were: .*set SIGNALBOX_APPLICATION_KEY to compare, or give --overwrite/);
      expect([await versionsOf(slug, 'A'), await versionsOf(slug, 'B')]).to.deep.equal([[1], [1]]);
    });

    it('adds a version where the value differs or none is served', async () => {
      const { slug, key } = await newApplication(running.url);
      const same = secretValue('same');
      await putSecret(running.url, slug, 'DIFFERS', { value: secretValue('old') });
      await putSecret(running.url, slug, 'OVER', { value: same, expiresAt: '2020-01-01T00:00:00Z' });
      const ended = await importEnv({ slug, as: 'secrets', text: `DIFFERS=${secretValue('new')}\nOVER=${same}`, key });
      expect(tableIn(ended)).to.deep.equal({ DIFFERS: 'updated', OVER: 'updated' });
      expect((await consumer(key).secret('DIFFERS', 'local')).properties.version).to.equal(2);
      expect((await consumer(key).secret('OVER', 'local')).value).to.equal(same);
    });

    it('adds a version without comparing with --overwrite', async () => {
      const { slug } = await newApplication(running.url);
      const value = secretValue('same');
      await putSecret(running.url, slug, 'A', { value });
      expect(tableIn(await importEnv({ slug, as: 'secrets', text: `A=${value}`, more: ['--overwrite'] }))).to.deep.equal({ A: 'updated' });
      expect(await versionsOf(slug, 'A')).to.deep.equal([2, 1]);
    });

    it('refuses the key of another application, which would compare with its values', async () => {
      const [one, other] = [await newApplication(running.url), await newApplication(running.url)];
      const value = secretValue('of both');
      const text = `A=${value}`;
      await putSecret(running.url, one.slug, 'A', { value });
      const said = `SIGNALBOX_APPLICATION_KEY is not the key of application '${one.slug}'\n`;
      expect(await importEnv({ slug: one.slug, as: 'secrets', text, key: other.key })).to.deep.include({ code: 1, out: '', err: said });
      await putSecret(running.url, other.slug, 'A', { value });
      expect(await importEnv({ slug: one.slug, as: 'secrets', text, key: other.key })).to.deep.include({ code: 1, out: '', err: said });
    });
  });

  for (const as of ['configuration', 'secrets']) {
    it(`writes nothing of ${as} in a dry run, and says the same`, async () => {
      const { slug, key } = await newApplication(running.url);
      await putSecret(running.url, slug, 'A', { value: secretValue('old') });
      const text = `A=${secretValue('new')}\nB=${secretValue('b')}`;
      await management().createConfiguration(slug, { environmentSlug: 'local', key: 'A', value: 'old' });
      const state = async () => [await management().configurations(slug), await management().secrets(slug), await management().versions(slug, 'A', 'local')];
      const before = await state();
      const dry = await importEnv({ slug, as, text, more: ['--dry-run'], key });
      expect(tableIn(dry)).to.deep.equal({ A: 'updated', B: 'created' });
      expect(dry.out).to.match(/^NAME +WOULD BE\n/);
      expect(dry.err).to.equal('dry run, nothing was written: 1 created, 1 updated, 0 unchanged\n');
      expect(await state()).to.deep.equal(before);
      expect(tableIn(await importEnv({ slug, as, text, key }))).to.deep.equal(tableIn(dry));
    });
  }

  describe('refuses in a sentence, and writes nothing,', () => {
    const refusal = async (options: Partial<Import> & { readonly slug: string }) => {
      const { code, out, err } = await importEnv({ as: 'configuration', text: 'A=hidden', ...options });
      expect([code, out]).to.deep.equal([1, '']);
      expect(err).not.to.include('hidden');
      return err.trimEnd();
    };

    it('a file with faults, naming their lines', async () => {
      const { slug } = await newApplication(running.url);
      expect(await refusal({ slug, text: 'A=hidden\nhidden\nA=hidden' })).to.match(
        /one\.env is not imported:\nline 2: not NAME=value\nline 3: the name of line 1 again$/,
      );
      expect(await management().configurations(slug)).to.deep.equal([]);
    });

    it('two names that --colons makes one, which would take turns with every run', async () => {
      const { slug } = await newApplication(running.url);
      for (const as of ['configuration', 'secrets']) {
        expect(await refusal({ slug, as, text: 'A:B=1\nA__B=hidden', more: ['--colons'] })).to.match(/is not imported:\nline 2: the name of line 1 again$/);
      }
      expect(await management().configurations(slug)).to.deep.equal([]);
    });

    it('values that the service would refuse, all at once', async () => {
      const { slug } = await newApplication(running.url);
      const text = `A=1\nB=${'hidden'.repeat(20_000)}\n${'N'.repeat(501)}=1`;
      const said = await refusal({ slug, text });
      expect(said).to.include('line 2: the value of B must be at most 65536 bytes of UTF-8');
      expect(said).to.match(/line 3: the key of N+ must be at most 500 characters long/);
      expect(await refusal({ slug, text: `${'N'.repeat(201)}=1`, as: 'secrets' })).to.match(/line 1: the name of N+ must be at most 200 characters long/);
      expect(await management().configurations(slug)).to.deep.equal([]);
    });

    it('an unknown application or environment', async () => {
      const { slug } = await newApplication(running.url);
      expect(await refusal({ slug: 'nobody' })).to.equal("there is no application 'nobody', or SIGNALBOX_SECRETS_URL is another service");
      expect(await refusal({ slug, more: ['--environment', 'moon'] })).to.equal(`application '${slug}' has no environment 'moon'`);
    });

    it('an unknown kind', async () => {
      expect(await refusal({ slug: 'x', as: 'both' })).to.equal('--as must be configuration or secrets');
    });

    it('a token that is wrong, a service that is not there', async () => {
      const file = write('A=1');
      const args = ['import-env', '--application', 'x', '--environment', 'local', '--as', 'secrets', file];
      const wrong = await secretsCommand(args, { env: { ...administrator(), Management__AdminApiKey: secretValue('wrong') } });
      expect(wrong).to.deep.include({ code: 1, out: '', err: 'the service refuses Management__AdminApiKey\n' });
      const address = `http://127.0.0.1:${await freePort()}`;
      const gone = await secretsCommand(args, { env: { ...administrator(), SIGNALBOX_SECRETS_URL: address } });
      expect(gone).to.deep.include({ code: 1, out: '', err: `the secrets service at ${address} cannot be reached: nothing listens there (ECONNREFUSED)\n` });
    });

    it('a file that is not there', async () => {
      const { code, err } = await secretsCommand(['import-env', '--application', 'x', '--environment', 'local', '--as', 'secrets', '/nowhere/x.env'], {
        env: administrator(),
      });
      expect(code).to.equal(1);
      expect(err).to.equal('/nowhere/x.env cannot be read: there is no such file or folder (ENOENT)\n');
    });
  });

  it('explains itself', async () => {
    const { code, out } = await secretsCommand(['import-env', '--help']);
    expect(code).to.equal(0);
    for (const text of ['--application <slug>', '--as <kind>', '--dry-run', 'SIGNALBOX_SECRETS_URL', 'Management__AdminApiKey']) expect(out).to.include(text);
  });
});
