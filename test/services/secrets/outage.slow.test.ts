// A database that is away: refusals that say so, a process that stays, and everything again once it is back.
import { expect } from 'chai';
import { migrate } from '../../../services/platform/postgres/migrations.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { call, consume, manage, member, migrations, newApplication, putSecret, secretValue, startService, type TestService } from './service.ts';

describe('the secrets service while its database is away', () => {
  let postgres: PostgresServer;
  let service: TestService;

  before(async () => {
    postgres = await startPostgres();
    await migrate(postgres.url, { schema: 'secrets', directory: migrations }, silentLog);
    service = await startService({ databaseUrl: postgres.url });
  });
  after(async () => {
    await service.close();
    await postgres.close();
  });

  it('answers 503 with Retry-After on both planes, unready but alive; then serves again, and has recorded every read', async () => {
    const { slug, key } = await newApplication(service.url);
    const value = secretValue('open sesame');
    await putSecret(service.url, slug, 'password', { value });
    const read = () => consume(service.url, key, '/secrets/password?environment=local');
    expect((await read()).status).to.equal(200);

    await postgres.stop();
    const answers = [await read(), await consume(service.url, key, '/configurations?environment=local'), await consume(service.url, key, '/unknown')];
    answers.push(
      await manage(service.url, 'GET'),
      await manage(service.url, 'POST', '', { name: 'x' }),
      await manage(service.url, 'POST', `/${slug}/rotate-key`),
    );
    for (const answer of answers) {
      expect(answer.status).to.equal(503);
      expect(answer.headers.get('retry-after')).to.equal('5');
      expect(answer.body).to.include({ title: 'Service Unavailable' });
    }
    expect((await call(service.url, { path: '/health' })).status).to.equal(200);
    const ready = await call(service.url, { path: '/health/ready' });
    expect(ready.status).to.equal(503);
    expect(ready.body).to.have.nested.property('checks.master keys.ok', false);

    await postgres.start();
    await eventually(async () => expect((await read()).status).to.equal(200), { withinMs: 60_000 });
    expect(member(await read(), 'value')).to.equal(value);
    // The read before the outage may have waited through it.
    await eventually(async () => {
      const { rows } = await service.database.driver.query<{ action: string; outcome: string }>(
        'select action, outcome from audit_entries order by occurred_at, id',
      );
      const told = rows.map(({ action, outcome }) => `${action} ${outcome}`);
      expect(told.filter((entry) => entry === 'secret.read done').length).to.be.at.least(3);
      expect(told).to.include('application.rotate-key unavailable');
    });
  });
});
