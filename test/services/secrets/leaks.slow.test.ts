// Nothing leaks: no value, key or token in a log line, in an answer to an administrator, or in a dump of the database.
import { expect } from 'chai';
import { silentLog } from '../../../services/platform/log.ts';
import { formsOf, watchedLog } from './leak-watch.ts';
import { adminToken, type Answer, call, consume, manage, masterKeys, member, newApplication, putSecret, useService } from './service.ts';

/** Long enough that no chance finds it, and with bytes that differ between base64 and base64url. */
const values = ['plain value ÿþ?>~ of the leak test 4711', 'second value ÿþ?>~ of the leak test 0815'];
const configurationValue = 'configuration ÿþ?>~ value of the leak test';
const wrongToken = 'a wrong token of the leak test';

function expectNone(text: string, secrets: readonly string[], where: string): void {
  const lower = text.toLowerCase();
  for (const [index, secret] of secrets.entries())
    for (const form of formsOf(secret)) {
      expect(text.includes(form), `secret ${index} in ${where}`).to.equal(false);
      // Hex is written in either case.
      if (/^[0-9a-f]+$/.test(form)) expect(lower.includes(form), `secret ${index} in ${where}`).to.equal(false);
    }
}

describe('the secrets service after a scripted run', () => {
  const { log, text: logged } = watchedLog('the log of the leak test');
  const running = useService({ log });
  const query = <R extends object>(sql: string) => running.service.database.driver.query<R>(sql);
  const answers: Answer[] = [];
  const keys: string[] = [];
  const sealed: string[] = [];
  let served: Answer;

  const ask = async (answer: Promise<Answer>) => {
    answers.push(await answer);
  };

  before(async () => {
    const { url } = running;
    const { slug, key } = await newApplication(url, 'leaky');
    const other = await newApplication(url, 'other');
    for (const value of values) await putSecret(url, slug, 'password', { value });
    await ask(manage(url, 'POST', `/${slug}/configurations`, { environmentSlug: 'local', key: 'key', value: 'harmless' }));
    served = await consume(url, key, '/secrets/password?environment=local');
    const rotated = String(member(await manage(url, 'POST', `/${slug}/rotate-key`), 'plainApiKey'));
    keys.push(key, rotated, other.key);
    for (const path of ['', `/${slug}`, `/${slug}/environments`, `/${slug}/secrets`, `/${slug}/secrets/password`, `/${slug}/secrets/password/versions/local`])
      await ask(manage(url, 'GET', path));

    // Every kind of failure, each with a value or credential in its hands.
    const values_ = `/${slug}/secrets/password/values`;
    await ask(manage(url, 'POST', values_, `[{"environmentSlug":"local","value":"${values[0]}"`));
    await ask(manage(url, 'POST', values_, [{ environmentSlug: 'local', value: values[0], isEnabled: values[1], expiresAt: values[1] }]));
    await ask(manage(url, 'POST', values_, [{ environmentSlug: 'nowhere', value: values[0] }]));
    await ask(manage(url, 'POST', `/nobody/secrets/x/values`, [{ environmentSlug: 'local', value: values[0] }]));
    await ask(manage(url, 'POST', values_, [{ environmentSlug: 'local', value: values[0]?.repeat(3000) }]));
    await ask(call(url, { path: '/api/management/applications', headers: { Authorization: `Bearer ${wrongToken}` } }));
    for (const wrong of [key, wrongToken, adminToken, `${rotated}x`]) await ask(consume(url, wrong, '/secrets/password?environment=local'));
    await ask(consume(url, rotated, '/secrets/unknown?environment=local'));
    await ask(consume(url, rotated, '/secrets/password'));

    // The database refuses rows: its errors quote them.
    await query('alter table secret_versions add constraint refuse_all check (false) not valid');
    await query('alter table configurations add constraint refuse_all check (false) not valid');
    await ask(manage(url, 'POST', values_, [{ environmentSlug: 'local', value: values[0] }]));
    await ask(manage(url, 'POST', `/${slug}/configurations`, { environmentSlug: 'local', key: 'new', value: configurationValue }));
    await query('alter table secret_versions drop constraint refuse_all');
    await query('alter table configurations drop constraint refuse_all');

    // A value that was tampered with, and a key that is not there.
    const { rows } = await query<{ nonce: Buffer; ciphertext: Buffer; tag: Buffer; wrapped_key: Buffer; key_hash: Buffer }>(
      'select v.*, k.key_hash from secret_versions v, application_keys k',
    );
    for (const row of rows) sealed.push(...[row.ciphertext, row.tag, row.wrapped_key, row.key_hash].map((bytes) => bytes.toString('latin1')));
    await query("update secret_versions set tag = decode('00000000000000000000000000000000', 'hex') where version = 2");
    await ask(consume(url, rotated, '/secrets/password?environment=local'));
    await query("insert into master_keys (id, nonce, sealed, tag) values ('gone', '', '', '')");
    await query("update secret_versions set master_key_id = 'gone'");
    await ask(consume(url, rotated, '/secrets/password?environment=local'));
    await ask(manage(url, 'POST', values_, [{ environmentSlug: 'local', value: values[0] }]));
    await ask(call(url, { path: '/health/ready' }));
    await ask(manage(url, 'DELETE', `/${slug}/secrets/password`));
    await running.service.lifecycle.stop();
  });

  it('had every outcome that it was to have', () => {
    expect(member(served, 'value')).to.equal(values[1]);
    expect([...new Set(answers.map(({ status }) => status))].sort()).to.deep.equal([200, 201, 400, 401, 404, 500, 503]);
    expect(logged()).to.contain('request failed').and.to.contain('not served').and.to.contain('request');
  });

  const secrets = () => [
    ...values,
    configurationValue,
    adminToken,
    wrongToken,
    ...keys,
    ...keys.map((key) => key.slice('key_'.length)),
    ...masterKeys.split(',').map((entry) => entry.split(':')[1] ?? ''),
  ];

  it('has no value, key, token or master key in any log line', () => {
    expectNone(logged(), secrets(), 'the log');
  });

  it('has no ciphertext, tag, wrapped key or hash of a key in any log line', () => {
    for (const bytes of sealed.map((text) => Buffer.from(text, 'latin1')))
      for (const form of [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('latin1')])
        expect(logged().includes(form)).to.equal(false);
  });

  it('has none of them in an answer to an administrator, and no value in a refusal', () => {
    const said = answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join('\n');
    expectNone(said, secrets(), 'the answers');
  });
});

describe('a dump of the database', () => {
  const running = useService();

  it('holds no value and no key: not raw, not as base64, not as hex', async () => {
    const { url } = running;
    const { slug, key } = await newApplication(url, 'dumped');
    for (const value of values) await putSecret(url, slug, 'password', { value });
    const rotated = String(member(await manage(url, 'POST', `/${slug}/rotate-key`), 'plainApiKey'));
    await consume(url, rotated, '/secrets/password?environment=local');
    await running.service.lifecycle.stop();

    const { createPool } = await import('../../../services/platform/postgres/pool.ts');
    const pool = createPool(running.databaseUrl, { schema: 'secrets', log: silentLog });
    const { rows: tables } = await pool.driver.query<{ name: string }>("select quote_ident(tablename) as name from pg_tables where schemaname = 'secrets'");
    const contents: string[] = [];
    for (const { name } of tables) {
      const { rows } = await pool.driver.query<{ text: string; json: string }>(`select t::text as text, to_json(t)::text as json from ${name} t`);
      contents.push(...rows.flatMap(({ text, json }) => [text, json]));
    }
    await pool.close();
    const dump = contents.join('\n');
    // It is a dump of what was done.
    expect(dump)
      .to.contain('dumped')
      .and.to.contain('secret.read')
      .and.to.match(/\\x[0-9a-f]{24}/);
    expectNone(dump, [...values, adminToken, key, rotated, key.slice('key_'.length), rotated.slice('key_'.length), masterKeys.split(':')[1] ?? ''], 'the dump');
  });
});
