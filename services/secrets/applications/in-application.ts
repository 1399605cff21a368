// The application that a management request names: found to read from, held to write to.
import type { Database } from '../../platform/postgres/pool.ts';
import { Problems } from '../contract.ts';
import { createApplicationStore } from './store.ts';

/** @throws Problem 404 */
export async function findApplication(database: Database, slug: string): Promise<string> {
  const application = await createApplicationStore(database).find(slug);
  if (!application) throw Problems.applicationMissing();
  return application.id;
}

/** Until the transaction ends nobody else writes to the application or what belongs to it. @throws Problem 404 */
export async function holdApplication(inTransaction: Database, slug: string): Promise<string> {
  const id = await createApplicationStore(inTransaction).lock(slug);
  if (id === undefined) throw Problems.applicationMissing();
  return id;
}
