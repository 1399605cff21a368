// The area of secrets: its pages and actions, in the order in which an address is looked up.
import { appPages } from './application.ts';
import { applicationPages } from './applications.ts';
import { auditPages } from './audit.ts';
import { importActions } from './import.ts';
import { keyActions } from './keys.ts';
import { matrixActions } from './matrix.ts';
import { newSecretActions } from './new-secret.ts';
import { secretPages } from './secret.ts';
import { versionActions } from './versions.ts';

// Pages whose addresses hold a name of any kind come last.
export const secretsPages = [
  ...applicationPages,
  ...auditPages,
  ...importActions,
  ...keyActions,
  ...matrixActions,
  ...newSecretActions,
  ...appPages,
  ...secretPages,
  ...versionActions,
];
