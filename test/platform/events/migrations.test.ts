// The outbox of each schema that has one is that of the platform.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const services = join(import.meta.dirname, '../../../services');
const ownEvents = readFileSync(join(services, 'platform/events/own-events.sql'), 'utf8');

describe('own_events in the schemas of the services', () => {
  const migrations = globSync('*/migrations/*.sql', { cwd: services }).map((name) => ({ name, sql: readFileSync(join(services, name), 'utf8') }));

  it('is the text of own-events.sql, whole', () => {
    expect(migrations.length).to.be.above(5);
    for (const { name, sql } of migrations) if (sql.includes('own_events')) expect(sql, name).to.include(ownEvents);
  });

  it('is there for each service that posts events', () => {
    const posting = globSync('*/app.ts', { cwd: services }).filter((name) => readFileSync(join(services, name), 'utf8').includes('startEvents('));
    for (const name of posting) {
      const [service = ''] = name.split('/');
      expect(
        migrations.some((one) => one.name.startsWith(`${service}/`) && one.sql.includes(ownEvents)),
        name,
      ).to.equal(true);
    }
  });
});
