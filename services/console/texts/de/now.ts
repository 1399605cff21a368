// German texts of the first page.
import type { Texts } from '../en.ts';

export const now: Texts['now'] = {
  well: 'Alles ist gut',
  wellLead: 'Jeder Dienst ist bereit, und nichts wurde aufgegeben.',
  notWell: 'Etwas braucht einen Blick',
  notWellLead: 'Die Marken unten zeigen, welcher Dienst, welche Warteschlange oder Verbindung.',
  services: 'Dienste',
  noServices: 'Diese Konsole hat von keinem Dienst Adresse und Zugang.',
  service: 'Dienst',
  state: 'Zustand',
  names: { relay: 'Webhook-Relay', intake: 'Webhook-Intake', digest: 'Link-Digest', secrets: 'Geheimnisse', bookmarks: 'Lesezeichen', listings: 'Wohnungen' },
  states: { ready: 'bereit', unready: 'nicht bereit', away: 'antwortet nicht', slow: 'antwortet zu spät', refused: 'lehnt die Konsole ab' },
  ofLimit: 'der Grenze dieses Monats',
};
