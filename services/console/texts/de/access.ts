// German texts of logging in, of refusals, and of the record of actions.
import type { Texts } from '../en.ts';

export const access: Texts['access'] = {
  login: {
    title: 'Anmelden',
    again: 'Noch einmal anmelden',
    againLead: 'Dafür muss die Anmeldung jünger als zehn Minuten sein.',
    name: 'Name',
    password: 'Passwort',
    submit: 'Anmelden',
    wrong: 'Der Name oder das Passwort ist falsch.',
    tooMany: 'Zu viele falsche Anmeldungen. In einer Viertelstunde geht es wieder.',
    needsTls: 'Ein Browser behält eine Anmeldung nur über HTTPS, oder unter einer Adresse des eigenen Rechners wie localhost.',
  },
  formFaults: 'Einige Eingaben sind nicht gültig.',
  faults: {
    service: 'Ein Dienst antwortet nicht',
    refused: 'Das wurde abgelehnt',
    home: 'Zur ersten Seite',
    crossSite: {
      title: 'Die Anfrage kam von einer anderen Seite',
      hint: 'Die Konsole nimmt Änderungen nur von ihren eigenen Seiten an. Öffne die Seite hier und versuche es noch einmal.',
    },
    roleMissing: { title: 'Deine Rolle erlaubt das nicht', hint: 'Wer im Bereich System die Rolle Admin hat, kann sie ändern.' },
    missing: { title: 'Hier ist nichts', hint: 'Es wurde gelöscht, oder die Adresse ist falsch.' },
    loggedOut: { title: 'Du bist abgemeldet', hint: 'Melde dich an und wiederhole es: Geändert wurde nichts.' },
    busy: { title: 'Der Dienst nimmt gerade keine Anfragen mehr an', hint: 'Versuche es gleich noch einmal.' },
    failed: { title: 'In der Konsole ist ein Fehler aufgetreten', hint: 'Ihr Log hat den Grund unter der Nummer dieser Anfrage.' },
    unavailable: { title: 'Die Datenbank der Konsole antwortet nicht', hint: 'Versuche es gleich noch einmal.' },
  },
};
