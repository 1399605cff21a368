// Values that come from elsewhere: copied between environments unseen, and imported from a dotenv file.
import { expect } from 'chai';
import {
  adminToken,
  type Answer,
  call,
  consume,
  manage,
  member,
  newApplication,
  putSecret,
  secretValue,
  type TestApplication,
  useService,
} from '../service.ts';
import { auditOf } from '../consumer/audited.ts';

describe('values from elsewhere', () => {
  const running = useService();
  let application: TestApplication;
  beforeEach(async () => {
    application = await newApplication(running.url);
    await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Production' });
  });
  const valueIn = async (environment: string, name: string) =>
    member(await consume(running.url, application.key, `/secrets/${name}?environment=${environment}`), 'value');
  const put = async (name: string, item: Readonly<Record<string, unknown>> = {}) => {
    const value = secretValue(name);
    await putSecret(running.url, application.slug, name, { value, ...item });
    return value;
  };

  describe('POST …/secrets/{name}/copy', () => {
    const copy = (name: string, body: unknown) => manage(running.url, 'POST', `/${application.slug}/secrets/${name}/copy`, body);

    it('seals the newest value, or that of a version, anew in the other environment, without showing it', async () => {
      const [first, second] = [await put('a'), await put('a', { expiresAt: '2999-01-01T00:00:00Z' })];
      const copied = await copy('a', { from: 'local', to: 'production' });
      expect(copied.status).to.equal(201);
      expect(copied.body).to.include({ version: 1, isEnabled: true, expiresAt: null, notBefore: null });
      expect(copied.text).not.to.contain(second);
      expect(await valueIn('production', 'a')).to.equal(second);
      expect((await copy('a', { from: 'local', to: 'production', version: 1 })).body).to.include({ version: 2 });
      expect(await valueIn('production', 'a')).to.equal(first);
    });

    it('refuses what is missing, another newest version and a malformed body', async () => {
      await put('a');
      const status = async (name: string, body: unknown) => (await copy(name, body)).status;
      expect(await status('none', { from: 'local', to: 'production' })).to.equal(404);
      expect(await status('a', { from: 'moon', to: 'production' })).to.equal(404);
      expect(await status('a', { from: 'local', to: 'moon' })).to.equal(404);
      expect(await status('a', { from: 'production', to: 'local' })).to.equal(404);
      expect(await status('a', { from: 'local', to: 'production', version: 9 })).to.equal(404);
      expect(await status('a', { from: 'local', to: 'production', expectedVersion: 1 })).to.equal(409);
      expect(await status('a', { from: 'local', to: 'production', expectedVersion: 0 })).to.equal(201);
      for (const body of [{}, { from: 'local' }, { from: '', to: 'x' }, { from: 'local', to: 'production', version: 0 }, null])
        expect(await status('a', body)).to.equal(400);
    });

    it('copies a version that is not active only where it is named', async () => {
      await put('a');
      const leaked = await put('a', { isEnabled: false });
      await put('b', { expiresAt: '2020-01-01T00:00:00Z' });
      await put('c', { notBefore: '2999-01-01T00:00:00Z' });
      for (const name of ['a', 'b', 'c']) expect((await copy(name, { from: 'local', to: 'production' })).status, name).to.equal(404);
      expect((await copy('a', { from: 'local', to: 'production', version: 2 })).status).to.equal(201);
      expect(await valueIn('production', 'a')).to.equal(leaked);
    });

    it('is in the audit, with the version that it made and where that came from', async () => {
      await put('a');
      await copy('a', { from: 'local', to: 'production' });
      const [entry] = await auditOf(running.service, application.slug, { plane: 'management', count: 5 });
      expect(entry).to.include({
        action: 'secret.copy',
        environment: 'production',
        subject: 'a',
        version: 1,
        outcome: 'done',
        detail: 'from local, version 1',
      });
    });
  });

  describe('POST …/environments/{environment}/import', () => {
    const importFile = (text: string, query = 'as=secrets', environment = 'local'): Promise<Answer> =>
      call(running.url, {
        method: 'POST',
        path: `/api/management/applications/${application.slug}/environments/${environment}/import?${query}`,
        body: text,
        headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'text/plain' },
      });
    const changes = (answer: Answer) => (member(answer, 'items') as { name: string; change: string }[]).map(({ name, change }) => `${name} ${change}`);

    it('creates and updates secrets, leaves equal ones alone, and shows no value', async () => {
      const [one, two, changed] = [secretValue('one'), secretValue('two'), secretValue('changed')];
      const first = await importFile(`# a file\nexport ONE="${one}"\nTWO='${two}'\nNONE=\n`);
      expect(changes(first)).to.deep.equal(['ONE created', 'TWO created', 'NONE empty']);
      expect(await valueIn('local', 'ONE')).to.equal(one);
      const second = await importFile(`ONE="${one}"\nTWO="${changed}"\n`);
      expect(changes(second)).to.deep.equal(['ONE unchanged', 'TWO updated']);
      expect(second.text).not.to.contain(changed);
      expect(await valueIn('local', 'TWO')).to.equal(changed);
      const versions = await manage(running.url, 'GET', `/${application.slug}/secrets/ONE/versions/local`);
      expect(versions.body).to.have.length(1);
      expect(changes(await importFile(`ONE="${one}"`, 'as=secrets', 'production'))).to.deep.equal(['ONE created']);
    });

    it('brings back a value that is not served any more', async () => {
      const value = await put('ONE', { expiresAt: '2020-01-01T00:00:00Z' });
      expect(changes(await importFile(`ONE="${value}"`))).to.deep.equal(['ONE updated']);
      expect(await valueIn('local', 'ONE')).to.equal(value);
    });

    it('is in the audit where it changes nothing or only tries, since it compares a guess with a value', async () => {
      const value = await put('ONE');
      for (const query of ['as=secrets', 'as=secrets&dryRun=true']) expect(changes(await importFile(`ONE="${value}"`, query))).to.deep.equal(['ONE unchanged']);
      const entries = await auditOf(running.service, application.slug, { plane: 'management', count: 6 });
      expect(entries.filter(({ action, environment, outcome }) => action === 'secret.import' && environment === 'local' && outcome === 'done')).to.have.length(
        2,
      );
    });

    it('only says what it would do with dryRun', async () => {
      const one = secretValue('one');
      expect(changes(await importFile(`ONE="${one}"`, 'as=secrets&dryRun=true'))).to.deep.equal(['ONE created']);
      expect((await manage(running.url, 'GET', `/${application.slug}/secrets`)).body).to.deep.equal([]);
    });

    it('makes configuration entries', async () => {
      expect(changes(await importFile('A:B=1\nC=2', 'as=configuration'))).to.deep.equal(['A:B created', 'C created']);
      expect(changes(await importFile('A:B=1\nC=3', 'as=Configuration'))).to.deep.equal(['A:B unchanged', 'C updated']);
      const read = await consume(running.url, application.key, '/configurations?environment=local');
      expect((member(read, 'items') as { key: string; value: string }[]).map(({ key, value }) => [key, value])).to.deep.equal([
        ['A:B', '1'],
        ['C', '3'],
      ]);
    });

    it('refuses a file as a whole, by its lines and without its values', async () => {
      const hidden = secretValue('hidden');
      const refused = await importFile(`ONE="${hidden}"\n${hidden}\nTWO=1\nTWO=2\n`);
      expect(refused.status).to.equal(400);
      expect(refused.body).to.have.deep.property('errors', { 'line 2': ['not NAME=value'], 'line 4': ['the name of line 3 again'] });
      expect(refused.text).not.to.contain(hidden);
      expect((await manage(running.url, 'GET', `/${application.slug}/secrets`)).body).to.deep.equal([]);
      const status = async (...parts: Parameters<typeof importFile>) => (await importFile(...parts)).status;
      expect(await status('')).to.equal(400);
      expect(await status(Array.from({ length: 1001 }, (_, index) => `A${index}=1`).join('\n'), 'as=configuration')).to.equal(400);
      expect(await status(`A="${'x'.repeat(70_000)}"`)).to.equal(400);
      expect(await status(`A="${'x'.repeat(1_100_000)}"`)).to.equal(413);
      expect(await status('A=1', 'as=other')).to.equal(400);
      expect(await status('A=1', '')).to.equal(400);
      expect(await status('A=1', 'as=configuration&dryrun=true')).to.equal(400);
      expect(await status('A=1', 'as=configuration', 'moon')).to.equal(404);
    });

    it('is in the audit, each secret that it changed', async () => {
      await importFile(`ONE="${secretValue('one')}"\nTWO="${secretValue('two')}"`);
      const entries = await auditOf(running.service, application.slug, { plane: 'management', count: 4 });
      expect(entries.slice(0, 2).map(({ action, subject, version }) => [action, subject, version])).to.have.deep.members([
        ['secret.import', 'ONE', 1],
        ['secret.import', 'TWO', 1],
      ]);
    });
  });
});
