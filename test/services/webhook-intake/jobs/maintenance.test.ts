import { expect } from 'chai';
import { ConfigError } from '../../../../services/platform/config/config.ts';
import { createBrokerSettings } from '../../../../services/platform/broker/environment.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { readMaintenanceConfig } from '../../../../services/webhook-intake/config.ts';
import { createMaintenance } from '../../../../services/webhook-intake/jobs/maintenance.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';

const nowhere = { DATABASE_URL: 'postgres://nowhere' };

describe('maintenance', () => {
  let database: IntakeDatabase;
  before(async () => {
    database = await createIntakeDatabase();
  });
  after(() => database.close());

  async function run() {
    const counts = { processed: 0, failed: 0 };
    const parts = {
      database: database.pool,
      config: readMaintenanceConfig(nowhere),
      brokers: () => createBrokerSettings({}, undefined, silentLog),
      log: silentLog,
    };
    await createMaintenance(parts).run({ counts, stopping: new AbortController().signal });
  }

  it('makes the partitions of this month and of two ahead', async () => {
    await run();
    const parts = await database.rows(`select 1 from pg_inherits where inhparent in ('events'::regclass, 'event_payloads'::regclass)`);
    expect(parts).to.have.length(2 * (3 + 1));
  });

  it('takes back claims whose holder died, and leaves those that are held', async () => {
    const row = (key: string, claim: string) =>
      `(gen_random_uuid(), 'github.com', '${key}', '${key}', 'PROCESSING', now() ${claim} interval '1 minute', now(), now(), now(), '1', '${key}', '1', '2', '{}', 1)`;
    await database.rows(
      `insert into issues (id, forge, object_key, forge_id, processing_state, claimed_until, first_seen_at, updated_at, event_received_at, version, delivery_id, hook_id, target_id, rest, number)
      values ${row('dead', '-')}, ${row('held', '+')}`,
    );
    await database.rows(
      `insert into delivery_keys (source, delivery_id, hook_id, target_id, event_id, stored_at) select 'forge', delivery_id, hook_id, target_id, id, now() from issues`,
    );
    await run();
    const states = await database.rows('select object_key as key, processing_state as state from issues order by 1');
    expect(states).to.deep.equal([
      { key: 'dead', state: 'PROCESSED' },
      { key: 'held', state: 'PROCESSING' },
    ]);
  });

  it('refuses hooks that are none, hooks without a token, and hooks of a forge whose API has no deliveries', () => {
    const faults = (settings: Readonly<Record<string, string>>) => {
      try {
        readMaintenanceConfig({ ...nowhere, ...settings });
        return [];
      } catch (error) {
        return error instanceof ConfigError ? error.faults : [String(error)];
      }
    };
    const all = 'repos/me/mine/hooks/7, orgs/us/hooks/8, app/hook';
    expect(faults({ Forge__ApiToken: 'correct-horse-battery', Forge__ApiHooks: all })).to.deep.equal([]);
    expect(faults({})).to.deep.equal([]);
    expect(faults({ Forge__ApiToken: 'correct-horse-battery' })).to.deep.equal([]);
    expect(faults({ Forge__ApiHooks: all })).to.deep.equal(['Forge__ApiHooks needs Forge__ApiToken']);
    const gitea = { Forge__ApiUrl: 'https://git.example.test/api/v1', Forge__ApiToken: 'correct-horse-battery' };
    expect(faults(gitea)).to.deep.equal([]);
    expect(faults({ ...gitea, Forge__ApiHooks: all }).join()).to.contain('must be empty for Gitea and Forgejo');
    for (const hook of ['me/mine', 'repos/me/mine/hooks/x', 'repos/../mine/hooks/7/..', 'app/hook?x'])
      expect(faults({ Forge__ApiToken: 'correct-horse-battery', Forge__ApiHooks: `app/hook,${hook}` }).join(), hook).to.contain('not so entry 2');
  });
});
