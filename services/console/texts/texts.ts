// The languages of the console: an area has its texts in a file of each language's folder, and a line in each catalogue.
import { de } from './de.ts';
import { en, type Texts } from './en.ts';

export type { Texts };
export type Language = 'en' | 'de';

export const languages: Readonly<Record<Language, { readonly name: string; readonly tag: string; readonly texts: Texts }>> = {
  en: { name: 'English', tag: 'en-GB', texts: en },
  de: { name: 'Deutsch', tag: 'de-DE', texts: de },
};

export const isLanguage = (text: string): text is Language => Object.hasOwn(languages, text);
