// The SQL of runbooks on the intake, on a database of the intake: an operator copies it at night.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { createIntakeDatabase, type IntakeDatabase } from '../services/webhook-intake/intake-database.ts';
import { runbooks } from './shipped.ts';

const statements = runbooks.flatMap((path) =>
  [...readFileSync(path, 'utf8').matchAll(/(?:signalbox sql(?: --write)?|psql [^"\n]*-c) "([^"]*\bintake\.[^"]*)"/g)].map(([, sql = '']) => ({
    runbook: basename(path, '.md'),
    sql,
  })),
);

describe('the SQL of runbooks on the intake', () => {
  let database: IntakeDatabase;
  before(async () => (database = await createIntakeDatabase()));
  after(() => database.close());

  it('is there, of what is done to notifications', () => {
    expect(new Set(statements.map(({ runbook }) => runbook))).to.include.keys('SignalboxNotificationsWaiting', 'SignalboxNotificationsFailed');
  });

  for (const { runbook, sql } of statements)
    it(`runs as it stands: ${runbook}, ${sql.slice(0, 60)}…`, async () => {
      await database.rows(sql);
    });
});
