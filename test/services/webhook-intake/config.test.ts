// Defaults of settings: how long things are kept, and whose repositories are ours.
import { expect } from 'chai';
import { readCleanupConfig, readWorkerConfig } from '../../../services/webhook-intake/config.ts';

const required = { DATABASE_URL: 'postgres://host/db' };

describe('settings of the workers', () => {
  it('keep things for as long as decided unless a setting says otherwise', () => {
    const { databaseUrl: _, pingUrl, ...kept } = readCleanupConfig(required);
    expect(pingUrl).to.equal(undefined);
    expect(kept).to.deep.equal({
      payloadDays: 30,
      eventDays: 180,
      sourceEventDays: 90,
      deduplicationKeyDays: 90,
      bucketDays: 730,
      hourDays: 60,
      typedRowDays: 180,
      workflowRunDays: 90,
      releasesPerRepository: 20,
      sentNotificationDays: 30,
      workerRunDays: 90,
    });
  });

  it('keep deduplication keys for a week at least, as the forge redelivers for days', () => {
    const read = (days: string) => () => readCleanupConfig({ ...required, Retention__DeduplicationKeysDays: days });
    expect(read('7')().deduplicationKeyDays).to.equal(7);
    for (const days of ['6', '0', '-1', '7.5']) expect(read(days), days).to.throw(/Retention__DeduplicationKeysDays/);
  });

  it('take every repository for our own unless a setting says otherwise', async () => {
    expect((await readWorkerConfig(required)).ownRepositories).to.deep.equal(['*/*']);
  });

  it('refuse globs with braces, which a comma would part', async () => {
    const failure: unknown = await Promise.resolve()
      .then(() => readWorkerConfig({ ...required, Intake__OwnRepositories: 'me/*,{lim,spool}/it' }))
      .catch((error: unknown) => error);
    expect(String(failure)).to.contain('Intake__OwnRepositories must be globs without braces');
  });
});
