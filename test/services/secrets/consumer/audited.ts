// The audit entries of an application, once as many as a test expects are written.
import { createAuditStore, type AuditEntry, type Plane } from '../../../../services/secrets/audit.ts';
import { eventually } from '../../../support/wait.ts';
import type { TestService } from '../service.ts';

export const auditOf = (
  { database }: TestService,
  application: string,
  { plane, count }: { readonly plane: Plane; readonly count: number },
): Promise<AuditEntry[]> =>
  eventually(async () => {
    const entries = await createAuditStore(database).page({ application, plane }, undefined, 1000);
    if (entries.length < count) throw new Error(`${entries.length} entries are written`);
    return entries;
  });
