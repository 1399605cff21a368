// German texts of the own account and of the record of actions.
import type { Texts } from '../en.ts';
import { countedIn } from '../plural/counted.ts';

const counted = countedIn('de-DE');

export const me: Texts['me'] = {
  title: 'Ihr Konto',
  sessions: 'Sitzungen',
  sessionsHint: 'Jeder Browser, der mit diesem Konto angemeldet ist. Beenden Sie Sitzungen, die Sie nicht kennen, und ändern Sie das Passwort.',
  browser: 'Browser',
  address: 'Adresse',
  begun: 'Angemeldet',
  seen: 'Zuletzt benutzt',
  actions: 'Aktionen',
  thisOne: 'diese',
  end: 'Beenden',
  ended: 'Die Sitzung ist beendet',
  endOthers: 'Alle anderen beenden',
  endedOthers: counted({ one: '# Sitzung ist beendet', other: '# Sitzungen sind beendet' }),
  password: 'Passwort ändern',
  passwordLead: 'Alle anderen Sitzungen enden mit der Änderung.',
  currentPassword: 'Bisheriges Passwort',
  wrongPassword: 'Das ist nicht das Passwort.',
  passwordChanged: 'Das Passwort ist geändert, und alle anderen Sitzungen sind beendet',
  passwordElsewhere: 'Das Passwort dieses Kontos wird nicht hier aufbewahrt.',
  zone: 'Zeitzone',
  zoneName: 'Stadt oder Region',
  zoneHint: 'Zeiten stehen darin, UTC daneben.',
  roles: 'Rollen',
  roleNames: { reader: 'Leser', editor: 'Bearbeiter', admin: 'Admin' },
  saved: 'Gespeichert',
};

export const record: Texts['record'] = {
  title: 'Wer hat was getan',
  lead: 'Jede Anmeldung und jede Aktion, die neueste zuerst.',
  at: 'Zeit',
  person: 'Person',
  area: 'Bereich',
  action: 'Aktion',
  target: 'Woran',
  outcome: 'Ergebnis',
  outcomes: { done: 'erledigt', refused: 'abgelehnt', failed: 'gescheitert' },
  address: 'Adresse',
  request: 'Anfrage',
  areas: { access: 'Anmeldung', me: 'Eigenes Konto' },
  empty: 'Noch wurde nichts getan',
};
