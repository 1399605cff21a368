// Migrations that change rows which are there.
import { copyFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { silentLog } from '../../../services/platform/log.ts';
import { migrate } from '../../../services/platform/postgres/migrations.ts';
import { createPool } from '../../../services/platform/postgres/pool.ts';
import { temporaryDirectory } from '../../support/guard.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { migrations } from './store.ts';

describe('migrations of the link digest', () => {
  it('copy the status of decided links beside their authors, as decisions do from then on', async () => {
    const before = pathToFileURL(`${temporaryDirectory('migrations')}/`);
    copyFileSync(new URL('0001_digest.sql', migrations), new URL('0001_digest.sql', before));
    const { url, drop } = await createTestDatabase({ schema: 'digest', migrations: before });
    const pool = createPool(url, { schema: 'digest', log: silentLog });
    try {
      await pool.driver.query(`
        insert into links (id, url, url_sha256, title, status, first_seen, last_seen, newsletter_count, message_count, priority_score)
        select gen_random_uuid(), 'https://example.org/' || n, sha256(n::text::bytea), 'A link', case n when 1 then 'Liked' else 'Awaiting' end, now(), now(), 1, 1, 5
        from generate_series(1, 3) n;
        insert into link_authors (link_id, author_id) select id, gen_random_uuid() from links`);
      await migrate(url, { schema: 'digest', directory: migrations }, silentLog);
      // As an older release decides, which knows nothing of the copy.
      await pool.driver.query(`update links set status = 'Discarded' where url like '%/2'`);
      const { rows } = await pool.driver.query('select link_status as status from link_authors join links on id = link_id order by url');
      expect(rows).to.deep.equal([{ status: 'Liked' }, { status: 'Discarded' }, { status: 'Awaiting' }]);
    } finally {
      await pool.close();
      await drop();
    }
  });
});
