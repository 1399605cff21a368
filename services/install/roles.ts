// The roles of an installation: made as an administrator, or checked and waited for when somebody else makes them.
import type { Log } from '../platform/log.ts';
import { rolesScript } from './roles-sql.ts';
import type { RolesTarget } from './settings.ts';
import { createDatabase, createRoles, isLoginRefused, lacking } from './store.ts';

export type RolesParts = {
  /** Signalbox's alone. */
  readonly isServerOurs: boolean;
  readonly log: Log;
  readonly print: (text: string) => void;
};

/** An administrator has been told what to do, and has not done it yet. */
export class RoleMissing extends Error {}

/** After it has run, every schema has a role that can keep it; it may be run again. @returns what throws RoleMissing while somebody else must make one */
export const createRolesStep = (target: RolesTarget, parts: RolesParts): (() => Promise<void>) => {
  const { adminUrl } = target;
  return adminUrl === undefined ? waitingFor(target, parts) : () => make(target, adminUrl, parts);
};

async function make({ database, passwords, server }: RolesTarget, adminUrl: string, { isServerOurs, log }: RolesParts): Promise<void> {
  const schemas = [...passwords.keys()];
  try {
    const outcome = await createDatabase(adminUrl, database);
    await createRoles(adminUrl, { database, schemas, isServerOurs }, { passwords, log });
    log.info({ server, database: `${database}: ${outcome}`, roles: schemas }, 'each schema has its role');
  } catch (cause) {
    if (!isLoginRefused(cause)) throw cause;
    const user = decodeURIComponent(new URL(adminUrl).username);
    throw new Error(`administrator ${user} is refused (a server keeps the password that it was first started with, whatever a Secret says later)`, { cause });
  }
}

function waitingFor({ database, passwords, urlOf }: RolesTarget, { isServerOurs, print }: RolesParts): () => Promise<void> {
  let isTold = false;
  return async () => {
    for (const schema of passwords.keys()) {
      const lack = await lacking(urlOf(schema), schema);
      if (lack === undefined) continue;
      if (!isTold) {
        const sql = rolesScript({ database, schemas: [...passwords.keys()], isServerOurs });
        print(`-- ${lack}. An administrator must run this; it is waited for.\n${sql}`);
      }
      isTold = true;
      throw new RoleMissing(lack);
    }
  };
}
