import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createConsumerClient } from '../../../../services/secrets/client.ts';
import { eventually } from '../../../support/wait.ts';
import { adminToken, call, manage, newApplication, putSecret, secretValue, startService, type TestApplication, useService } from '../service.ts';
import { secretsCommand } from './command.ts';

describe('signalbox secrets audit', () => {
  const running = useService();
  const consoleToken = secretValue('the token of the console');
  const audit = (...args: string[]) => secretsCommand(['audit', ...args], { env: { DATABASE_URL: running.databaseUrl } });
  let orders: TestApplication = { slug: '', key: '' };

  async function entries(...args: string[]): Promise<Record<string, unknown>[]> {
    const { code, out, err } = await audit('--json', ...args);
    expect([code, err]).to.deep.equal([0, '']);
    return out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  /** An application on a day of its own, written by a service whose clock stands there. */
  async function act(day: string, name: string): Promise<TestApplication> {
    const clock = () => new Date(`${day}T12:00:00.000Z`);
    const service = await startService({ databaseUrl: running.databaseUrl, clock, environment: { Console__SecretsToken: consoleToken } });
    const application = await newApplication(service.url, name);
    await putSecret(service.url, application.slug, 'token', { value: secretValue('hidden value') });
    await manage(service.url, 'POST', `/${application.slug}/environments`, { name: 'local' });
    const headers = { Authorization: `Bearer ${consoleToken}`, 'X-Signalbox-Actor': 'Ada' };
    await call(service.url, { method: 'POST', path: `/api/management/applications/${application.slug}/environments`, headers, body: { name: 'Test' } });
    const consumer = createConsumerClient({ baseUrl: service.url, credential: application.key });
    await consumer.secret('token', 'local');
    await consumer.secret('nothing', 'local').catch(() => undefined);
    await service.close();
    return application;
  }

  before(async () => {
    orders = await act('2026-03-01', 'Orders');
    await act('2026-03-02', 'Bills');
    await eventually(async () => expect(await entries('--outcome', 'not-found')).to.have.length(2));
  });

  const acts = (list: readonly Record<string, unknown>[]) => list.map(({ application, action, outcome }) => [application, action, outcome].join(' '));

  it('lists who did what with every column as JSON lines', async () => {
    const [read, ...others] = await entries('--application', 'orders', '--action', 'secret.read', '--outcome', 'done');
    expect(others).to.deep.equal([]);
    expect(read).to.have.all.keys(
      ...[
        'id',
        'occurredAt',
        'plane',
        'keyId',
        'person',
        'action',
        'application',
        'applicationId',
        'environment',
        'subject',
        'version',
        'outcome',
        'detail',
        'requestId',
      ],
    );
    expect(read).to.include({
      occurredAt: '2026-03-01T12:00:00.000Z',
      plane: 'consumer',
      application: 'orders',
      environment: 'local',
      subject: 'token',
      version: 1,
    });
  });

  it('filters by each of its options', async () => {
    const all = await entries();
    const expected = {
      application: ['--application', 'bills'],
      plane: ['--plane', 'consumer'],
      action: ['--action', 'application.create'],
      outcome: ['--outcome', 'conflict'],
      subject: ['--subject', 'nothing'],
      person: ['--person', 'Ada'],
    };
    for (const [column, [option = '', value = '']] of Object.entries(expected)) {
      const found = await entries(option, value);
      expect(found, column).to.deep.equal(all.filter((entry) => entry[column] === value));
      expect(found.length, column).to.be.greaterThan(0).and.lessThan(all.length);
    }
    expect(acts(await entries('--application', 'orders', '--plane', 'consumer', '--outcome', 'not-found'))).to.deep.equal(['orders secret.read not-found']);
    expect(await entries('--application', "orders' or 1=1 --")).to.deep.equal([]);
  });

  it('takes a span of time, its beginning in and its end out', async () => {
    const daysOf = async (...args: string[]) => [...new Set((await entries(...args)).map(({ application }) => application))];
    expect(await daysOf('--from', '2026-03-02')).to.deep.equal(['bills']);
    expect(await daysOf('--to', '2026-03-02')).to.deep.equal(['orders']);
    expect(await daysOf('--from', '2026-03-01T12:00:00Z', '--to', '2026-03-02T12:00:00.001Z')).to.deep.equal(['bills', 'orders']);
    expect(await daysOf('--from', '2026-03-01T14:00:00.001+02:00', '--to', '2026-03-02T12:00:00Z')).to.deep.equal([]);
  });

  it('lists the newest first and no more than the limit', async () => {
    const all = await entries();
    const times = all.map(({ occurredAt, id }) => `${String(occurredAt)} ${String(id)}`);
    expect(times).to.deep.equal([...times].sort().reverse());
    expect(await entries('--limit', '3')).to.deep.equal(all.slice(0, 3));
  });

  it('reads on over more entries than a page has, without a gap and nothing twice', async () => {
    // As many as a busy hour has, four of them in each millisecond.
    await running.service.database.select({
      toSQL: () => ({
        toNative: () => ({
          sql: `insert into audit_entries (occurred_at, id, plane, key_id, action, application, outcome, request_id)
                select timestamptz '2026-02-01' + (n / 4) * interval '1 millisecond', gen_random_uuid(), 'consumer', 'k', 'secret.read', 'busy', 'done', 'r' || n
                from generate_series(1, 2500) n`,
          bindings: [],
        }),
      }),
    });
    const ids = (await entries('--application', 'busy', '--limit', '2400')).map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).to.deep.equal([2400, 2400]);
    expect(await entries('--application', 'busy', '--limit', '1000000')).to.have.length(2500);
    expect(await entries('--application', 'busy')).to.have.length(100);
  });

  it('shows a table to people', async () => {
    const { code, out } = await audit('--application', 'orders', '--action', 'secret.add-version');
    expect(code).to.equal(0);
    const [head = '', row = '', by = '', ...rest] = out.split('\n');
    expect(head.split(/ +/)).to.deep.equal(['TIME', 'OUTCOME', 'ACTION', 'TARGET']);
    expect(row.split(/ {2,}/)).to.deep.equal(['2026-03-01T12:00:00Z', 'done', 'secret.add-version', 'orders/local/token v1']);
    expect(by).to.match(/^ {2}by admin-[0-9a-f]+ on the management plane$/);
    expect(head.indexOf('ACTION')).to.equal(row.indexOf('secret.add-version'));
    expect(rest).to.deep.equal(['']);
  });

  it('fits 100 columns, and says why an application was not served', async () => {
    const { out } = await audit('--application', 'orders');
    for (const line of out.split('\n')) expect(line.length, line).to.be.at.most(100);
    expect(out).to.match(/not-found {2}secret\.read +orders\/local\/nothing\n {2}by \S+ on the consumer plane: \S/);
  });

  it('lets no name steer the terminal', async () => {
    await manage(running.url, 'POST', `/${orders.slug}/secrets`, { name: 'red\u001b[31m\nsecond\u202eline' });
    const { out } = await audit('--action', 'secret.create', '--limit', '1');
    expect(out).to.include('red\ufffd[31m\ufffdsecond\ufffdline');
    expect(out.split('\n')).to.have.length(4);
  });

  it('shows no credential and no value', async () => {
    const { out } = await audit('--json', '--limit', '10000');
    for (const hidden of [orders.key, adminToken, 'hidden value']) expect(out).not.to.include(hidden);
  });

  const refused = {
    '--plane x': /^--plane must be one of management, consumer, command$/,
    '--action read': /^--action must be one of application\.create, /,
    '--outcome ok': /^--outcome must be one of done, /,
    '--from yesterday': /^--from must be a date, or a date and time with an offset or Z$/,
    '--to 2026-02-30': /^--to must be a date/,
    '--from 2026-03-02 --to 2026-03-01': /^--to must be after --from$/,
    '--limit 0': /^--limit must be between 1 and 1000000$/,
    '--limit -1': /^--limit must be a number$/,
    '--limit many': /^--limit must be a number$/,
  };
  for (const [args, said] of Object.entries(refused)) {
    it(`refuses ${args}`, async () => {
      const { code, out, err } = await audit(...args.split(' '));
      expect([code, out]).to.deep.equal([1, '']);
      expect(err.trimEnd()).to.match(said);
    });
  }

  it('fails in a sentence when its output is on a full disk, and goes on without one when its reader has gone', () => {
    const program = join(import.meta.dirname, '../../../../services/main.ts');
    const shell = (script: string) =>
      spawnSync('sh', ['-c', script, 'sh', process.execPath, program, 'secrets', 'audit'], {
        encoding: 'utf8',
        timeout: 120_000,
        env: { ...process.env, DATABASE_URL: running.databaseUrl },
      });
    const full = shell('"$@" > /dev/full');
    expect([full.status, full.stderr]).to.deep.equal([1, 'standard output cannot be written: ENOSPC: no space left on device, write\n']);
    const { stdout, stderr } = shell('exec 3>&1; { "$@" 3>&-; echo "ended with $?" >&3; } | true');
    expect([stdout, stderr]).to.deep.equal(['ended with 0\n', '']);
  });

  it('explains itself', async () => {
    const { code, out } = await audit('--help');
    expect(code).to.equal(0);
    for (const text of ['--application <slug>', '--json', '--limit <count>', 'DATABASE_URL']) expect(out).to.include(text);
  });
});
