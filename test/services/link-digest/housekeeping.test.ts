// The deletions of the service, and their metrics.
import { expect } from 'chai';
import { createLinkStore } from '../../../services/link-digest/links/store.ts';
import { startHousekeeping } from '../../../services/link-digest/housekeeping.ts';
import { measureDigest } from '../../../services/link-digest/metrics.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { eventually } from '../../support/wait.ts';
import { link, mail, newsletter, useDatabase } from './store.ts';

const now = new Date('2026-11-22T12:00:00Z');
const daysAgo = (days: number, ms = 0) => new Date(now.getTime() - days * 86_400_000 - ms);

describe('housekeeping of the link digest', () => {
  const database = useDatabase({ clock: () => now });
  const kept = async () => (await database.query('select raw from raw_mails order by received_at')).map(({ raw }) => String(raw));

  for (const [rawMailsDays, left] of [
    [undefined, ['ancient', 'old', 'young']],
    [90, ['young']],
  ] as const)
    it(
      rawMailsDays === undefined ? 'keeps mails as they came' : 'deletes them after so many days when it is told to, and keeps what was found in them',
      async () => {
        await database.newsletters.store(mail('ancient', daysAgo(3000)), newsletter([link('https://example.org/')]));
        await database.newsletters.reject(mail('old', daysAgo(90, 1)), 'refused');
        await database.newsletters.store(mail('young', daysAgo(90)), newsletter([]));
        const lifecycle = createLifecycle(silentLog);
        startHousekeeping({ database: database.pool, lifecycle, log: silentLog, clock: () => now, rawMailsDays });
        await eventually(async () => expect(await kept()).to.deep.equal(left));
        await lifecycle.stop();
        expect(await database.query('select from newsletters')).to.have.length(3);
        expect(await database.query('select from links')).to.have.length(1);
      },
    );
});

describe('the metrics of the link digest', () => {
  const database = useDatabase();

  it('tell links by status, and mails by what became of them', async () => {
    await database.newsletters.store(mail(), newsletter([link('https://example.org/a'), link('https://example.org/b')]));
    await database.newsletters.reject(mail(), 'refused');
    const metrics = createMetrics();
    measureDigest({ links: createLinkStore(database.pool), metrics });
    const text = await metrics.text();
    for (const line of ['links{status="Awaiting"} 2', 'links{status="Liked"} 0', 'mails{outcome="stored"} 1', 'mails{outcome="rejected"} 1'])
      expect(text).to.contain(`signalbox_digest_${line}\n`);
  });
});
