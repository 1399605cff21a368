// A stored value that was changed by one byte or moved to another row is refused, through the whole service.
import { expect } from 'chai';
import { watchedLog } from '../leak-watch.ts';
import { consume, manage, member, newApplication, putSecret, secretValue, type TestApplication, useService } from '../service.ts';

const masterKeys = ['first', 'second'].map((id, index) => `${id}:${Buffer.alloc(32, index + 1).toString('base64')}`).join(',');

describe('a stored value', () => {
  const { log, text: logged } = watchedLog('the log of the tampering tests');
  const clock = () => new Date('2026-03-15T12:00:00.123Z');
  const running = useService({ environment: { Encryption__MasterKeys: masterKeys }, clock, log });
  const query = <R extends object>(sql: string, values: readonly unknown[] = []) => running.service.database.driver.query<R>(sql, [...values]);

  const columns = 'id, secret_id, environment_id, version, is_enabled, not_before, expires_at, created_at, nonce, ciphertext, tag, wrapped_key, master_key_id';
  type Row = { readonly id: string } & Readonly<Record<'nonce' | 'ciphertext' | 'tag' | 'wrapped_key', Buffer>>;

  let application: TestApplication;
  const read = (name = 'password', environment = 'local', key = application.key) => consume(running.url, key, `/secrets/${name}?environment=${environment}`);

  async function expectRefused(what: string, answer = read()): Promise<void> {
    const { status, body } = await answer;
    expect(status, what).to.equal(500);
    expect(body, what).to.deep.equal({ type: 'about:blank', title: 'Internal Server Error', status: 500 });
  }

  /** Does a change, finds it refused, and undoes it. */
  async function refuses(what: string, id: string, change: string, values: readonly unknown[] = []): Promise<void> {
    const { rows: before } = await query(`select ${columns} from secret_versions where id = $1`, [id]);
    const { rowCount } = await query(`update secret_versions set ${change} where id = $1`, [id, ...values]);
    expect(rowCount, what).to.equal(1);
    await expectRefused(what);
    await query('delete from secret_versions where secret_id = (select secret_id from secret_versions where id = $1) or id = $1', [id]);
    const names = columns.split(', ');
    await query(`insert into secret_versions (${columns}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`, Object.values(before[0] ?? {}));
  }

  const value = secretValue('open sesame');
  let row: Row;
  beforeEach(async () => {
    application = await newApplication(running.url);
    await putSecret(running.url, application.slug, 'password', {
      value,
      notBefore: '2026-03-15T11:00:00Z',
      expiresAt: '2026-03-15T13:00:00Z',
    });
    const { rows } = await query<Row>(`select v.* from secret_versions v order by id desc limit 1`);
    if (!rows[0]) throw new Error('there is no row');
    [row] = rows;
  });
  afterEach(async () => {
    // Nothing of the above is a refusal by accident: as it was, it is served.
    expect(member(await read(), 'value')).to.equal(value);
  });

  for (const column of ['ciphertext', 'nonce', 'tag', 'wrapped_key'] as const)
    it(`is refused when any byte of its ${column} is flipped, one is missing or one is added`, async () => {
      const bytes = row[column];
      for (let place = 0; place < bytes.length; place++) {
        const flipped = Buffer.from(bytes);
        flipped[place] = (flipped[place] ?? 0) ^ (1 << (place % 8));
        await query(`update secret_versions set ${column} = $2 where id = $1`, [row.id, flipped]);
        await expectRefused(`${column} with byte ${place} flipped`);
      }
      for (const changed of [bytes.subarray(1), bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.alloc(1)]), Buffer.alloc(0)]) {
        await query(`update secret_versions set ${column} = $2 where id = $1`, [row.id, changed]);
        await expectRefused(`${column} of ${changed.length} bytes`);
      }
      await query(`update secret_versions set ${column} = $2 where id = $1`, [row.id, bytes]);
    });

  for (const column of ['not_before', 'expires_at', 'created_at'] as const)
    it(`is refused when any bit of its ${column} is changed that leaves it active`, async () => {
      const { rows } = await query<{ sent: Buffer }>(`select timestamptz_send(${column}) as sent from secret_versions where id = $1`, [row.id]);
      const stored = rows[0]?.sent.readBigInt64BE() ?? 0n;
      let tried = 0;
      for (let bit = 0n; bit < 56n; bit++) {
        const changed = stored ^ (1n << bit);
        const time = `timestamptz '2000-01-01T00:00:00Z' + interval '${changed} microseconds'`;
        await query(`update secret_versions set ${column} = ${time} where id = $1`, [row.id]);
        const answer = await read();
        // A version that the change made inactive is not read at all.
        if (answer.status !== 404) await expectRefused(`${column} with bit ${bit} changed`, Promise.resolve(answer));
        if (answer.status === 500) tried++;
      }
      await query(`update secret_versions set ${column} = timestamptz '2000-01-01T00:00:00Z' + interval '${stored} microseconds' where id = $1`, [row.id]);
      expect(tried).to.be.greaterThan(20);
    });

  it('is refused when a bound was taken away', async () => {
    await refuses('no not_before', row.id, 'not_before = null');
    await refuses('no expires_at', row.id, 'expires_at = null');
    await refuses('an endless expires_at', row.id, "expires_at = 'infinity'");
    await refuses('a beginningless not_before', row.id, "not_before = '-infinity'");
  });

  it('is refused when a disabled version was enabled', async () => {
    await putSecret(running.url, application.slug, 'disabled', { value: secretValue('disabled'), isEnabled: false });
    await query(`update secret_versions set is_enabled = true where not is_enabled`);
    await expectRefused('enabled', read('disabled'));
    await query(`update secret_versions set is_enabled = false where secret_id = (select id from secrets where name = 'disabled')`);
  });

  it('is refused under another number, so that an old value cannot be made the newest', async () => {
    await refuses('version 2', row.id, 'version = 2');
    await refuses('version 257', row.id, 'version = 257');
  });

  it('is refused under another id', async () => {
    await query(`update secret_versions set id = '01890000-0000-7000-8000-000000000001' where id = $1`, [row.id]);
    await expectRefused('another id');
    await query(`update secret_versions set id = $1 where id = '01890000-0000-7000-8000-000000000001'`, [row.id]);
  });

  it('is refused when its row says another master key', async () => {
    await refuses('master key', row.id, "master_key_id = 'second'");
  });

  it('is refused in another environment, secret or application', async () => {
    const other = await newApplication(running.url);
    await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Other' });
    await manage(running.url, 'POST', `/${application.slug}/secrets`, { name: 'other' });
    const ids = `(select id from applications where slug = $2)`;
    const restore = async () => {
      const place = `secret_id = $2, environment_id = $3`;
      await query(`update secret_versions set ${place} where id = $1`, [row.id, Reflect.get(row, 'secret_id'), Reflect.get(row, 'environment_id')]);
    };

    await query(`update secret_versions set environment_id = (select id from environments where slug = 'other' and application_id = ${ids}) where id = $1`, [
      row.id,
      application.slug,
    ]);
    await expectRefused('environment', read('password', 'other'));
    await restore();
    await query(`update secret_versions set secret_id = (select id from secrets where name = 'other' and application_id = ${ids}) where id = $1`, [
      row.id,
      application.slug,
    ]);
    await expectRefused('secret', read('other'));
    await restore();
    // The secret and the environment themselves are handed to another application.
    const hand = (slug: string) =>
      query(`with s as (update secrets set application_id = ${ids} where id = $1) update environments set application_id = ${ids} where id = $3`, [
        Reflect.get(row, 'secret_id'),
        slug,
        Reflect.get(row, 'environment_id'),
      ]);
    await manage(running.url, 'DELETE', `/${other.slug}/environments/local`);
    await hand(other.slug);
    await expectRefused('application', read('password', 'local', other.key));
    await hand(application.slug);
  });

  it('is refused when any two rows have traded ciphertexts, with or without their data keys', async () => {
    // Two applications, environments, secrets and versions each, so that pairs differ in one or in many ways.
    const applications = [await newApplication(running.url), await newApplication(running.url)];
    const places: { readonly key: string; readonly name: string; readonly environment: string; readonly id: string }[] = [];
    for (const { slug, key } of applications) {
      await manage(running.url, 'POST', `/${slug}/environments`, { name: 'Test' });
      for (const name of ['one', 'two'])
        for (const environment of ['local', 'test']) {
          await putSecret(running.url, slug, name, { environmentSlug: environment, value: secretValue('same length') });
          const { rows } = await query<{ id: string }>('select id from secret_versions order by id desc limit 1');
          places.push({ key, name, environment, id: rows[0]?.id ?? '' });
        }
    }
    const swap = async (parts: string, one: string, two: string) => {
      const set = parts.split(', ').map((part) => `${part} = other.${part}`);
      await query(`update secret_versions v set ${set.join(', ')} from secret_versions other where (v.id, other.id) in (($1, $2), ($2, $1))`, [one, two]);
    };
    let pairs = 0;
    for (const parts of ['nonce, ciphertext, tag', 'nonce, ciphertext, tag, wrapped_key, master_key_id', 'wrapped_key', 'ciphertext'])
      for (const [index, one] of places.entries())
        for (const two of places.slice(index + 1)) {
          await swap(parts, one.id, two.id);
          for (const { name, environment, key } of [one, two]) await expectRefused(`swapped ${parts}`, read(name, environment, key));
          await swap(parts, one.id, two.id);
          pairs++;
        }
    expect(pairs).to.equal(4 * 28);
    for (const { name, environment, key } of places) expect((await read(name, environment, key)).status).to.equal(200);
  });

  it('is logged with the id of its version, and recorded as refused', async () => {
    await query(`update secret_versions set version = 9 where id = $1`, [row.id]);
    await expectRefused('renumbered');
    await query(`update secret_versions set version = 1 where id = $1`, [row.id]);
    expect(logged()).to.contain(row.id).and.to.contain('not served');
    expect(await running.service.metrics.text()).to.match(/signalbox_secrets_reads_total\{outcome="refused"\} [1-9]/);
  });
});
