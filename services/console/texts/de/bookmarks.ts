// German texts of the area of bookmarks.
import type { Texts } from '../en.ts';

export const bookmarks: Texts['bookmarks'] = {
  list: 'Lesezeichen, die neuesten zuerst',
  title: 'Titel',
  tags: 'Schlagwörter',
  added: 'Hinzugefügt',
  actions: 'Aktionen',
  delete: 'Löschen',
  deleted: (title) => `„${title}“ ist gelöscht`,
  restored: (title) => `„${title}“ ist wieder da`,
  empty: { title: 'Noch keine Lesezeichen', text: 'Importiere die Datei, die ein Browser exportiert:', command: 'signalbox bookmarks import bookmarks.html' },
};
