// Scores that are computed for several requests and replicas at once.
import { expect } from 'chai';
import { readConfig } from '../../../../services/link-digest/config.ts';
import { createScores } from '../../../../services/link-digest/scoring/scores.ts';
import { createScoreStore } from '../../../../services/link-digest/scoring/store.ts';
import { eventually } from '../../../support/wait.ts';
import { useService } from '../service.ts';
import { environmentOf, link, mail, newsletter } from '../store.ts';

describe('stale scores', () => {
  const running = useService();
  const { query } = running.database;
  const total = 300;
  beforeEach(async () => {
    await running.database.newsletters.store(mail(), newsletter(Array.from({ length: total }, (_, index) => link(`https://example.org/${index}`))));
    await query('update links set scored_at = null, priority_score = 0');
  });

  it('are computed once when many replicas are asked at the same time, and all answer what was computed', async () => {
    await query('create sequence computed');
    await query(`create function count_computed() returns trigger language plpgsql as $$ begin perform nextval('computed'); return new; end $$`);
    await query('create trigger counted after update on links for each row execute function count_computed()');
    const weights = readConfig(environmentOf(running.database.url));
    const replicas = Array.from({ length: 6 }, () => createScores(createScoreStore(running.database.pool), { weights, clock: () => new Date() }));
    const stale = await Promise.all(
      replicas.map(async (scores) => {
        await scores.computeStale();
        return (await query('select count(*) as left from links where scored_at is null'))[0].left;
      }),
    );
    expect(stale).to.deep.equal(replicas.map(() => 0));
    expect((await query('select last_value from computed'))[0].last_value).to.equal(total);
    await query('drop function count_computed cascade');
  });

  it('that wait for a lock leave connections to all other requests, however many ask for them', async () => {
    const asked = await running.database.pool.transaction(async (inTransaction) => {
      await inTransaction.all({ name: 'tests.lock', text: 'select id from links limit 1 for update' });
      const waiting = Array.from({ length: 20 }, () => running.get('/api/links/prioritized?page=1'));
      const waits = { name: 'tests.waits', text: `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()` };
      await eventually(async () => expect(await inTransaction.all(waits)).not.to.have.length(0));
      // One after the other, until all that wait have begun to.
      for (let round = 0; round < 20; round++) expect((await running.get('/api/stats')).status).to.equal(200);
      return waiting;
    });
    for (const { status, body } of await Promise.all(asked)) expect([status, body.data[0].priorityScore]).to.deep.equal([200, 6.33]);
  });
});
