// Hides the credentials among the settings that a test gives to a service or a command.
import type { LeakWatch } from './leak-watch.ts';

type Settings = Readonly<Record<string, string>>;

const names = ['Management__AdminApiKey', 'Encryption__MasterKeys', 'Backup__Key', 'SIGNALBOX_APPLICATION_KEY'];

/** Each of a list by itself; of a master key and of an application's key what is secret of it, too. */
export function hideSettings(settings: Settings, watch: LeakWatch): void {
  for (const name of names) {
    for (const entry of (settings[name] ?? '').split(',').filter((text) => text !== '')) {
      watch.hide(`what ${name} is`, name === 'Encryption__MasterKeys' ? entry.slice(entry.indexOf(':') + 1) : entry.replace(/^key_/, ''));
    }
  }
}
