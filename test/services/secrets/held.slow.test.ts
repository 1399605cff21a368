// An application whose row another session holds: its writes wait a bounded time, and neither reads nor readiness wait with them.
import { expect } from 'chai';
import { eventually } from '../../support/wait.ts';
import { call, consume, manage, newApplication, putSecret, secretValue, type TestApplication, useService } from './service.ts';

describe('the secrets service while another session holds the row of an application', () => {
  const running = useService();
  let held: TestApplication;
  let release: () => Promise<unknown>;

  beforeEach(async () => {
    held = await newApplication(running.url);
    await putSecret(running.url, held.slug, 'password', { value: secretValue('open sesame') });
    const client = await running.service.database.driver.connect();
    await client.query('begin');
    await client.query('select 1 from applications where slug = $1 for update', [held.slug]);
    release = () => client.query('rollback').finally(() => client.release());
  });

  const appendThirty = () =>
    Promise.all(
      Array.from({ length: 30 }, () =>
        manage(running.url, 'POST', `/${held.slug}/secrets/password/values`, [{ environmentSlug: 'local', value: secretValue('held') }]),
      ),
    );
  const newest = async () =>
    Reflect.get(Object([(await manage(running.url, 'GET', `/${held.slug}/secrets/password/versions/local`)).body].flat()[0]), 'version');

  it('is ready, reads and lists it, while 30 appends wait', async () => {
    let areWaiting = true;
    const appends = appendThirty().finally(() => (areWaiting = false));
    // One of them is in the database, so that the others have been asked for, too.
    for (let waiting = 0; waiting === 0;)
      waiting =
        (await running.service.database.driver.query("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"))
          .rowCount ?? 0;
    expect((await call(running.url, { path: '/health/ready' })).body).to.include({ status: 'ready' });
    expect((await consume(running.url, held.key, '/secrets/password?environment=local')).status).to.equal(200);
    expect((await manage(running.url, 'GET', `/${held.slug}/secrets`)).status).to.equal(200);
    expect(areWaiting).to.equal(true);
    await release();
    await appends;
  });

  it('does them all, with consecutive versions, once it is let go', async () => {
    const appends = appendThirty();
    await release();
    expect((await appends).map(({ status }) => status)).to.deep.equal(Array<number>(30).fill(200));
    expect(await newest()).to.equal(31);
  });

  it('answers 503 that says so when it is not let go, stores nothing, and has that in the audit', async () => {
    const answers = await appendThirty();
    for (const { status, body, headers } of answers) {
      expect([status, headers.get('retry-after')]).to.deep.equal([503, '5']);
      expect(body).to.deep.equal({ type: 'urn:signalbox:problem:application-busy', title: 'Another write to this application takes too long', status: 503 });
    }
    await release();
    expect(await newest()).to.equal(1);
    const added = await manage(running.url, 'POST', `/${held.slug}/secrets/password/values`, [{ environmentSlug: 'local', value: secretValue('after') }]);
    expect(added.status).to.equal(200);
    await eventually(async () => {
      const { rowCount } = await running.service.database.driver.query(
        "select 1 from audit_entries where application = $1 and action = 'secret.add-version' and outcome = 'unavailable'",
        [held.slug],
      );
      expect(rowCount).to.equal(30);
    });
  });
});
