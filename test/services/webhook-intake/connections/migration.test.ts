// The table of the record, on a schema that was in use before it.
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { migrate } from '../../../../services/platform/postgres/migrations.ts';
import { createPool } from '../../../../services/platform/postgres/pool.ts';
import { temporaryDirectory } from '../../../support/guard.ts';
import { createTestDatabase } from '../../../support/postgres.ts';
import { migrations, schema } from '../intake-database.ts';

describe('the migration of the record of connections', () => {
  it('adds its table to a schema of the release before, and leaves what is stored there', async () => {
    const database = await createTestDatabase();
    const pool = createPool(database.url, { schema, log: silentLog });
    try {
      const directory = temporaryDirectory('migrations');
      for (const name of await readdir(migrations)) if (name < '0006') await copyFile(new URL(name, migrations), join(directory, name));
      expect(await migrate(database.url, { schema, directory: pathToFileURL(`${directory}/`) }, silentLog)).to.equal(5);
      await pool.driver.query("insert into tracked_deliveries values ('a', 'b', 'c', now())");
      expect(await migrate(database.url, { schema, directory: migrations }, silentLog)).to.be.greaterThan(5);
      expect((await pool.driver.query('select * from consumed_connections')).rows).to.deep.equal([]);
      expect((await pool.driver.query('select delivery_id from tracked_deliveries')).rows).to.deep.equal([{ delivery_id: 'a' }]);
    } finally {
      await pool.close();
      await database.drop();
    }
  });
});
