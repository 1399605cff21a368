// The rows and files that the relay's housekeeping deletes, and the ones that it leaves.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createPool, type Database, type Pool, statement } from '../../../services/platform/postgres/pool.ts';
import { readConfig } from '../../../services/webhook-relay/config.ts';
import { startHousekeeping } from '../../../services/webhook-relay/housekeeping.ts';
import { createSpool } from '../../../services/webhook-relay/spool/spool.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { secret, token } from './relay.ts';
import { createMessage, newDirectory, openSpool, valueOf } from './spool/fixtures.ts';

const migrations = new URL('../../../services/webhook-relay/migrations/', import.meta.url);
const now = new Date('2026-03-31T12:00:00Z');
const ago = (days: number, seconds = 0) => new Date(now.getTime() - days * 86_400_000 - seconds * 1000);

const addRejected = statement<unknown, [event: string, at: Date]>(
  'test.addRejected',
  `
  insert into rejected_deliveries (id, received_at, status, reason, event, delivery_id, hook_id, target_id, headers, payload, payload_bytes)
  values (gen_random_uuid(), $2, 401, 'no signature', $1, '', '0', '0', '{}', '', 0)`,
);
const addBucket = statement<unknown, [login: string, at: Date]>('test.addBucket', 'insert into sender_buckets values ($1, $2, 1)');
const addSender = statement<unknown, [login: string, lastAt: Date]>('test.addSender', 'insert into senders values ($1, false, 1, $2, $2)');
const addUsage = statement<unknown, [period: string]>(
  'test.addUsage',
  `
  insert into broker_usage (broker, period, message_count, monthly_limit, limit_source) values ('BROKER_URL_1', $1, 1, 10, 'default')`,
);
const addFailed = statement<unknown, [id: string, at: Date, replayedAt: Date | null, refusedAt?: Date | null]>(
  'test.addFailed',
  `
  insert into failed_payloads (id, header, payload, reason, spooled_at, replayed_at, refused_at)
  values ($1, '{}', case when $3::timestamptz is null then '\\x00'::bytea end, 'unreachable', $2, $3, $4)`,
);
const addDay = statement<unknown, [broker: string, day: string]>('test.addDay', 'insert into broker_usage_days values ($2::date, $1, 1)');
const addChange = statement<unknown, [broker: string, at: Date]>(
  'test.addChange',
  `insert into connection_changes (kind, broker, changed_at) values ('reset', $1, $2)`,
);
const addNearLimit = statement<unknown, [broker: string, period: string]>('test.addNearLimit', 'insert into near_limit_events values ($1, $2, 80, 100)');
const left = statement<{ name: string }>(
  'test.left',
  `
  select event as name from rejected_deliveries
  union all select login from sender_buckets
  union all select login from senders
  union all select period from broker_usage
  union all select broker from broker_usage_days
  union all select broker from connection_changes
  union all select broker from near_limit_events
  union all select id from failed_payloads order by name`,
);

const environment = { DATABASE_URL: 'postgres://u:p@db/relay', Broker__AuthToken: token, Forge__WebhookSecrets: secret };

const namesLeft = async (database: Database) => (await database.all(left)).map(({ name }) => name);

describe("the relay's housekeeping", () => {
  let testDatabase: TestDatabase;
  let database: Pool;
  beforeEach(async () => {
    testDatabase = await createTestDatabase({ schema: 'relay', migrations });
    database = createPool(testDatabase.url, { schema: 'relay', log: silentLog });
  });
  afterEach(async () => {
    await database.close();
    await testDatabase.drop();
  });

  async function keepHouseUntil(expected: readonly string[], settings: Record<string, string> = {}): Promise<void> {
    const retention = await readConfig({ ...environment, ...settings });
    const lifecycle = createLifecycle(silentLog);
    const { spool } = openSpool(newDirectory());
    startHousekeeping({ database, spool, lifecycle, log: silentLog, clock: () => now, retention });
    await eventually(async () => expect(await namesLeft(database)).to.deep.equal(expected.toSorted())).finally(() => lifecycle.stop());
  }

  it('deletes what is past its time, and nothing else', async () => {
    await database.run(addRejected, 'rejected just over 14 days ago', ago(14, 1));
    await database.run(addRejected, 'rejected just under 14 days ago', ago(14, -1));
    await database.run(addBucket, 'counted 21 minutes ago', ago(0, 21 * 60));
    await database.run(addBucket, 'counted 19 minutes ago', ago(0, 19 * 60));
    await database.run(addSender, 'seen just over 90 days ago', ago(90, 1));
    await database.run(addSender, 'seen just under 90 days ago', ago(90, -1));
    await database.run(addUsage, '2024-02');
    await database.run(addUsage, '2024-03');
    await database.run(addDay, 'day of 2024-02', '2024-02-29');
    await database.run(addDay, 'day of 2024-03', '2024-03-01');
    await database.run(addChange, 'change of 2024-02', new Date('2024-02-29T23:59:59Z'));
    await database.run(addChange, 'change of 2024-03', new Date('2024-03-01T00:00:00Z'));
    await database.run(addNearLimit, 'near a limit in 2024-02', '2024-02');
    await database.run(addNearLimit, 'near a limit in 2024-03', '2024-03');
    await database.run(addFailed, 'replayed just over 7 days ago', ago(90), ago(7, 1), null);
    await database.run(addFailed, 'replayed just under 7 days ago', ago(90), ago(7, -1), null);
    await database.run(addFailed, 'not replayed for 90 days', ago(90), null, null);
    await database.run(addFailed, 'given up just over 30 days ago', ago(90), null, ago(30, 1));
    await database.run(addFailed, 'given up just under 30 days ago', ago(90), null, ago(30, -1));
    await keepHouseUntil([
      '2024-03',
      'day of 2024-03',
      'change of 2024-03',
      'near a limit in 2024-03',
      'given up just under 30 days ago',
      'counted 19 minutes ago',
      'not replayed for 90 days',
      'rejected just under 14 days ago',
      'replayed just under 7 days ago',
      'seen just under 90 days ago',
    ]);
  });

  it('goes by the settings', async () => {
    await database.run(addRejected, 'rejected 3 days ago', ago(3));
    await database.run(addSender, 'seen 3 days ago', ago(3));
    await database.run(addUsage, '2026-01');
    await database.run(addFailed, 'replayed 3 days ago', ago(90), ago(3), null);
    await database.run(addFailed, 'given up 3 days ago', ago(90), null, ago(3));
    const families = ['RejectedDeliveriesDays', 'SendersDays', 'UsageMonths', 'ReplayedPayloadsDays', 'RefusedPayloadsDays'];
    await keepHouseUntil([], Object.fromEntries(families.map((family) => [`Retention__${family}`, '1'])));
  });

  it('keeps the newest of the rejected deliveries when they are too many', async () => {
    for (let n = 1; n <= 9; n++) await database.run(addRejected, `rejected ${n} days ago`, ago(n));
    await keepHouseUntil(['rejected 1 days ago', 'rejected 2 days ago', 'rejected 3 days ago'], { Retention__RejectedDeliveriesRows: '3' });
  });

  it('deletes files of deliveries that were given up and are old, whether the database answers or not', async () => {
    const directory = newDirectory();
    const clock = { now: ago(30, 1) };
    const metrics = createMetrics();
    const spool = createSpool({ directory, log: silentLog, clock: () => clock.now, metrics });
    const giveUp = async () => {
      await spool.write({ message: createMessage(), reason: 'unreachable' });
      for (const file of await spool.pending()) await spool.refuse(file, { reason: 'refused', toDo: 'try again' });
    };
    await giveUp();
    clock.now = ago(30, -1);
    await giveUp();
    expect(await valueOf(metrics, 'signalbox_spool_refused_files')).to.equal(2);
    const nowhere = createPool('postgres://nobody:x@127.0.0.1:1/none', { schema: 'relay', log: silentLog });
    const lifecycle = createLifecycle(silentLog);
    startHousekeeping({ database: nowhere, spool, retention: await readConfig(environment), lifecycle, log: silentLog, clock: () => now });
    await eventually(async () => (await valueOf(metrics, 'signalbox_spool_refused_files')) === 1).finally(() => lifecycle.stop());
    expect((await readdir(join(directory, 'refused')))[0]).to.include(ago(30, -1).toISOString().slice(0, 13));
    await nowhere.close();
  });

  it('does the rest when one task fails', async () => {
    await database.run(statement('test.dropRejected', 'alter table rejected_deliveries rename column received_at to broken'));
    await database.run(addUsage, '2020-01');
    await keepHouseUntil([]);
  });
});
