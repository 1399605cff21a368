// German texts of the first page.
import type { Texts } from '../en.ts';
import { countedIn } from '../plural/counted.ts';

const counted = countedIn('de-DE');

export const now: Texts['now'] = {
  well: 'Alles in Ordnung',
  wellLead: 'Jeder Dienst ist bereit, und nichts wurde aufgegeben.',
  notWell: 'Etwas braucht Aufmerksamkeit',
  notWhole: 'Ein Dienst hat nicht rechtzeitig geantwortet oder abgelehnt: Teile dieser Seite fehlen.',
  waits: 'Was wartet',
  listings: 'Wohnungen zu entscheiden',
  links: 'Links zu entscheiden',
  lost: 'Verlorene Zustellungen des letzten Tages',
  failedNotifications: 'Gescheiterte Benachrich\u00adtigungen',
  failedWorkers: 'Worker, deren letzter Lauf scheiterte',
  givenUp: 'Dead Letters',
  oldestGivenUp: 'Die älteste:',
  moreReasons: counted({ one: 'und # weiterer Grund', other: 'und # weitere Gründe' }),
  allDeadLetters: 'Alle Dead Letters',
  expiring: 'Geheimnisse, die in den nächsten 30 Tagen ablaufen',
  noneExpiring: 'Keines läuft ab oder ist abgelaufen, ohne dass eine neuere Version an seiner Stelle ist.',
  someExpired: 'Geheimnisse sind abgelaufen',
  secret: 'Geheimnis',
  application: 'Anwendung',
  environment: 'Umgebung',
  expires: 'Läuft ab',
  furtherExpiring: 'Es gibt noch mehr.',
  services: 'Dienste',
  noServices: 'Diese Konsole hat Adresse und Zugangsdaten keines Dienstes.',
  service: 'Dienst',
  state: 'Zustand',
  names: { relay: 'Webhook-Relay', intake: 'Webhook-Intake', digest: 'Link-Digest', secrets: 'Geheimnisse', bookmarks: 'Lesezeichen', listings: 'Wohnungen' },
  states: { ready: 'bereit', unready: 'nicht bereit', away: 'antwortet nicht', slow: 'antwortet zu spät', refused: 'lehnt die Konsole ab' },
};
