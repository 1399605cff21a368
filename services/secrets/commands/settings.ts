// Settings of the commands; those of the service are in config.ts.
import { commonSettings, optional, secret, secretList, url } from '../../platform/config/settings.ts';

const address = url('SIGNALBOX_SECRETS_URL', ['http', 'https'], { summary: 'Where the secrets service is' });
const applicationKey = secret('SIGNALBOX_APPLICATION_KEY', { summary: 'The key of the application' });

export const consumerSettings = { address, applicationKey };

export const managementSettings = {
  address,
  adminApiKeys: secretList('Management__AdminApiKey', { summary: 'Bearer token of the management plane; of a list the first is used' }),
  /** With it an import can tell whether a secret has its value already. */
  applicationKey: optional(applicationKey),
};

export const databaseSettings = { databaseUrl: commonSettings.databaseUrl };
export const masterKeySettings = {
  ...databaseSettings,
  masterKeys: secret('Encryption__MasterKeys', { summary: 'Master keys as the service has them; the first one seals' }),
};
export const backupSettings = { ...masterKeySettings, backupKey: secret('Backup__Key', { summary: 'Seals backups: the base64 of 32 bytes' }) };

/** DATABASE_URL is not among them: as often as ours it is the program's own. */
const ownCredentials = new Set([managementSettings.adminApiKeys, masterKeySettings.masterKeys, backupSettings.backupKey].map(({ name }) => name.toLowerCase()));

/** Whether a variable is Signalbox's own, in either form: a credential of the secrets service or of its commands, and all that is named for Signalbox. */
export function isOwn(variable: string): boolean {
  const name = variable.toLowerCase().replace(/_file$/, '');
  return name.startsWith('signalbox_') || ownCredentials.has(name);
}
