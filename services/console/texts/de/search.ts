// German texts of the search over all areas.
import type { Texts } from '../en.ts';

export const search: Texts['search'] = {
  title: 'Suche',
  titleOf: (q) => `${q} · Suche`,
  all: 'Alle',
  allIn: (area) => `Alle in ${area}`,
  start: 'Alles durchsuchen',
  startHint: 'Ereignisse, Links, Wohnungen, Lesezeichen und Anwendungen nach Titel, Name und Adresse.',
  nothing: (q) => `Nichts enthält „${q}“`,
  nothingNamed: 'Nichts gefunden in Titeln, Namen und Adressen',
  perhapsDelivery: 'Ist das die Kennung einer Zustellung, hilft ihr Weg weiter.',
  nothingHint: 'Gesucht wird der Text, wie er geschrieben ist, in Titeln, Namen und Adressen.',
};
