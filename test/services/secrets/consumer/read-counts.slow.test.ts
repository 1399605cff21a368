// Counts of reads that are written while an environment is deleted: the two wait for each other, and Postgres ends one of them.
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { createKeyUses } from '../../../../services/secrets/consumer/uses.ts';
import { eventually } from '../../../support/wait.ts';
import { manage, newApplication, putSecret, secretValue, useService } from '../service.ts';

const days = ['2026-03-14', '2026-03-15', '2026-03-16'] as const;

describe('counts of reads beside the deletion of their environment', () => {
  const running = useService();
  let database: Pool;
  let place: { readonly secret: string; readonly environment: string };
  let slug: string;

  beforeEach(async () => {
    ({ slug } = await newApplication(running.url));
    await putSecret(running.url, slug, 'password', { value: secretValue('open sesame') });
    const { rows } = await running.service.database.driver.query<typeof place>(
      `select s.id as secret, e.id as environment from secrets s join environments e using (application_id)
       join applications a on a.id = s.application_id where a.slug = $1 and e.slug = 'local'`,
      [slug],
    );
    if (!rows[0]) throw new Error('there is no place to count at');
    [place] = rows;
    // Its sessions do not look for a deadlock, so that Postgres ends the deletion.
    const { connectionString = '' } = running.service.database.driver.options;
    const options = encodeURIComponent('-c search_path=secrets -c deadlock_timeout=60000');
    database = createPool(`${connectionString}${connectionString.includes('?') ? '&' : '?'}options=${options}`, { schema: 'secrets', log: silentLog });
  });
  afterEach(() => database.close());

  const count = (...read: readonly string[]) => {
    const uses = createKeyUses({ database, log: silentLog });
    for (const day of read) uses.noteRead(place.secret, place.environment, new Date(`${day}T12:00:00.000Z`));
    return uses;
  };
  const counted = async () => {
    const { rows } = await running.service.database.driver.query<{ day: string; reads: string }>(
      'select day::text, reads from secret_read_days where environment_id = $1 order by day',
      [place.environment],
    );
    return rows.map(({ day, reads }) => `${day} ${reads}`);
  };
  const areWaiting = (sessions: number) =>
    eventually(async () => {
      const { rowCount } = await running.service.database.driver.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      expect(rowCount).to.equal(sessions);
    });

  it('answers 503 that says so, deletes nothing, and counts each read once', async () => {
    await count(days[0], days[1]).close();
    const holder = await running.service.database.driver.connect();
    await holder.query('begin');
    await holder.query('select from secret_read_days where environment_id = $1 and day = $2 for update', [place.environment, days[1]]);
    // The first day is counted, the second one waits for the holder; the third one is new, so that it needs the row of the environment.
    const uses = count(...days);
    await areWaiting(1);
    const deletion = manage(running.url, 'DELETE', `/${slug}/environments/local`);
    await areWaiting(2);
    await holder.query('rollback');
    holder.release();
    const { status, headers, body } = await deletion;
    expect([status, headers.get('retry-after')]).to.deep.equal([503, '5']);
    expect(body).to.include({ type: 'urn:signalbox:problem:application-busy' });
    await uses.close();
    expect(await counted()).to.deep.equal([`${days[0]} 2`, `${days[1]} 2`, `${days[2]} 1`]);
    expect((await manage(running.url, 'DELETE', `/${slug}/environments/local`)).status).to.equal(204);
    expect(await counted()).to.deep.equal([]);
  });
});
