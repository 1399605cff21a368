// German for what the services say of entries: patterns of their messages, and what becomes of them. Others stay in English.
import type { Texts } from '../en.ts';

export const faults: Texts['faults'] = [
  [/^must not be empty$/, 'darf nicht leer sein'],
  [/^must be at least (\d+) characters? long$/, 'muss mindestens $1 Zeichen haben'],
  [/^must be at most (\d+) characters? long$/, 'darf höchstens $1 Zeichen haben'],
  [/^must be at least (\S+)$/, 'muss mindestens $1 sein'],
  [/^must be at most (\S+)$/, 'darf höchstens $1 sein'],
  [/^must be between (\S+) and (\S+)$/, 'muss zwischen $1 und $2 liegen'],
  [/^must hold at most (\d+) \w+$/, 'darf höchstens $1 davon haben'],
  [/^must be given at most (\d+) times$/, 'darf höchstens $1-mal vorkommen'],
  [/^must be (a|an) (\w+)?\s?number$/, 'muss eine Zahl sein'],
  [/^must not be negative$/, 'darf nicht negativ sein'],
  [/^must be an? (absolute )?(http or https )?URL.*$/, 'muss eine Adresse mit http:// oder https:// sein'],
  [/^must be a day as yyyy-MM-dd$/, 'muss ein Tag sein, zum Beispiel 2026-03-15'],
  [/^must be an ISO 8601 date and time.*$/, 'muss Datum und Uhrzeit mit Zone sein, zum Beispiel 2026-03-15T12:00:00Z'],
  [/^must not be before from$/, 'darf nicht vor dem Anfang liegen'],
  [/^must name an existing folder$/, 'muss ein Ordner sein, den es gibt'],
  [/^must not be the folder itself or one below it$/, 'darf nicht der Ordner selbst oder einer darin sein'],
  [/^must be Unicode text( without NUL characters)?$/, 'darf keine unlesbaren Zeichen haben'],
  [/^must not hold control characters$/, 'darf keine Steuerzeichen haben'],
  [/^The request is not valid; see errors\.$/, 'Etwas daran stimmt nicht.'],
];
