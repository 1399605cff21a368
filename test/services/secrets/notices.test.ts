// Events before and after a version expires, and of keys that no program uses.
import { expect } from 'chai';
import { createOutbox } from '../../../services/platform/events/events.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { statement } from '../../../services/platform/postgres/pool.ts';
import { createNotices } from '../../../services/secrets/notices.ts';
import { consume, manage, member, newApplication, putSecret, secretValue, type TestApplication, useService } from './service.ts';
import { eventually } from '../../support/wait.ts';

const start = new Date('2026-03-15T12:00:00.000Z');
const days = (number: number) => new Date(start.getTime() + number * 86_400_000);

type Told = { readonly type: string; readonly data: Record<string, unknown> };
const told = statement<Told, [application: string]>('test.told', `select type, data from own_events where data->>'application' = $1 order by sequence`);

describe('notices of secrets', () => {
  const clock = { now: start };
  const running = useService({ clock: () => clock.now });
  let application: TestApplication;
  beforeEach(async () => {
    clock.now = start;
    application = await newApplication(running.url);
  });
  const put = (name: string, item: Readonly<Record<string, unknown>> = {}) =>
    putSecret(running.url, application.slug, name, { value: secretValue(name), ...item });
  const run = (
    config = { expiryNoticeDays: 14, unusedKeyDays: 90 },
    events: { readonly eventsUrl: string | undefined } = { eventsUrl: 'http://127.0.0.1:1/' },
  ) => createNotices({ database: running.service.database, outbox: createOutbox(events), log: silentLog, clock: () => clock.now, config })();
  const events = () => running.service.database.all(told, application.slug);
  const named = async () => (await events()).map(({ type, data }) => `${type} ${String(data['secret'] ?? data['keyId'])}`);

  it('tell once of a version that expires within the days, and once when it has', async () => {
    await put('soon', { expiresAt: days(10) });
    await put('far', { expiresAt: days(20) });
    await run();
    await run();
    const [only, ...others] = await events();
    expect(others).to.deep.equal([]);
    expect(only?.type).to.equal('secret.expiring');
    expect(only?.data).to.include({ application: application.slug, environment: 'local', secret: 'soon', version: 1, expiresAt: days(10).toISOString() });
    expect(only?.data['title']).to.equal(`soon of ${application.slug} expires in 10 days`);
    clock.now = days(11);
    await Promise.all([run(), run()]);
    expect(await named()).to.have.members(['secret.expiring soon', 'secret.expiring far', 'secret.expired soon']);
    expect((await events()).find(({ type }) => type === 'secret.expired')?.data).to.include({ isFailure: true });
  });

  it('tell again at another number of days', async () => {
    await put('a', { expiresAt: days(2) });
    await run({ expiryNoticeDays: 30, unusedKeyDays: 90 });
    await run({ expiryNoticeDays: 3, unusedKeyDays: 90 });
    expect(await named()).to.deep.equal(['secret.expiring a', 'secret.expiring a']);
  });

  it('tell nothing of a version that was replaced, disabled or expired long ago', async () => {
    await put('replaced', { expiresAt: days(2) });
    await put('replaced');
    await put('off', { expiresAt: days(2), isEnabled: false });
    await put('old', { expiresAt: days(-8) });
    await run();
    expect(await named()).to.deep.equal([]);
  });

  it('tell of a key that was not used for the days: once, and again when it was used meanwhile', async () => {
    await put('a');
    const keys = await manage(running.url, 'GET', `/${application.slug}/keys`);
    const [{ id } = { id: '' }] = member(keys, 'items') as { id: string }[];
    clock.now = days(91);
    await run();
    await run();
    expect(await named()).to.deep.equal([`key.unused ${id}`]);
    await consume(running.url, application.key, '/secrets/a?environment=local');
    await eventually(async () => {
      const [{ lastUsedAt } = { lastUsedAt: null }] = member(await manage(running.url, 'GET', `/${application.slug}/keys`), 'items') as {
        lastUsedAt: string | null;
      }[];
      expect(lastUsedAt).to.equal(days(91).toISOString());
    });
    await run();
    expect(await named()).to.have.length(1);
    clock.now = days(182);
    await run();
    expect(await named()).to.deep.equal([`key.unused ${id}`, `key.unused ${id}`]);
  });

  it('tell nothing of an expired key, and nothing without Events__Url', async () => {
    const made = await manage(running.url, 'POST', `/${application.slug}/keys`, { expiresAt: days(5).toISOString() });
    clock.now = days(91);
    await run(undefined, { eventsUrl: undefined });
    expect(await named()).to.deep.equal([]);
    await run();
    expect(await named()).not.to.include(`key.unused ${String(member(made, 'id'))}`);
  });

  it('are counted: what expires, what has expired, and unused keys', async () => {
    await put('soon', { expiresAt: days(10) });
    await put('over', { expiresAt: days(-1) });
    const valueOf = async (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await running.service.metrics.text())?.[1]);
    expect(await valueOf('signalbox_secrets_expiring')).to.be.at.least(1);
    expect(await valueOf('signalbox_secrets_expired')).to.be.at.least(1);
    const before = await valueOf('signalbox_secrets_unused_keys');
    clock.now = days(91);
    expect(await valueOf('signalbox_secrets_unused_keys')).to.be.above(before);
  });
});
