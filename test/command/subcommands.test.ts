import { expect } from 'chai';
import { eventually } from '../support/wait.ts';
import { startCommand } from '../services/secrets/commands/command.ts';
import { useService } from '../services/secrets/service.ts';

describe('a command that works', () => {
  const running = useService();

  it('stops on a first signal, and is ended by a second one where it cannot', async () => {
    const { driver } = running.service.database;
    const client = await driver.connect();
    await client.query('begin; lock table secrets.audit_entries in access exclusive mode');
    try {
      const command = startCommand(['audit'], { env: { DATABASE_URL: running.databaseUrl } });
      const waiting =
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%order by occurred_at desc%'";
      await eventually(async () => expect((await driver.query(waiting)).rowCount).to.equal(1), { withinMs: 30_000 });
      let hasEnded = false;
      void command.ended.finally(() => (hasEnded = true));
      await eventually(() => {
        command.signal('SIGTERM');
        return hasEnded;
      });
      expect((await command.ended).signal).to.equal('SIGTERM');
    } finally {
      await client.query('rollback').finally(() => client.release());
    }
  });
});
