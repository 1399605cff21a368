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
    by: (provider: string) => `Anmelden mit ${provider}`,
    confirm: 'Ja, ich bin es',
    confirmLead: 'Der Proxy vor der Konsole hat Sie angemeldet. Bestätigen Sie, dass Sie dies wollen.',
    refused: {
      wrong: () => 'Der Name oder das Passwort ist falsch.',
      tooMany: () => 'Zu viele falsche Anmeldungen. In einer Viertelstunde geht es wieder.',
      noRole: () => 'Ihr Konto hat hier keine Rolle: Diese Konsole kennt keine seiner Gruppen. Fragen Sie eine Person, die sie betreibt.',
      disabled: () => 'Ihr Konto ist hier gesperrt. Fragen Sie eine Person, die diese Konsole betreibt.',
      away: (provider: string) => `${provider} antwortet nicht, wie es soll. Versuchen Sie es gleich noch einmal; das Log der Konsole hat den Grund.`,
      denied: (provider: string) => `${provider} hat die Anmeldung abgelehnt.`,
      foreign: (provider: string) => `Die Antwort von ${provider} gehört zu einer anderen Anmeldung oder wurde schon benutzt. Melden Sie sich noch einmal an.`,
      old: (provider: string) =>
        `${provider} hat eben nicht nach Ihrem Passwort gefragt, oder sagt nicht, wann es das tat. Melden Sie sich dort ab und versuchen Sie es dann noch einmal.`,
      stale: () => 'Die Anmeldung hat zu lange gedauert oder wurde in einem anderen Browser begonnen. Melden Sie sich noch einmal an.',
    },
    loggedOut: {
      title: 'Sie sind abgemeldet',
      lead: (provider: string) => `${provider} kennt Sie vielleicht noch.`,
      there: (provider: string) => `Von ${provider} abmelden`,
    },
    needsTls: 'Ein Browser behält eine Anmeldung nur über HTTPS, oder unter einer Adresse des eigenen Rechners wie localhost.',
  },
  formFaults: 'Einige Eingaben sind nicht gültig.',
  entered: {
    title: 'Ihre Eingaben',
    again: 'Noch einmal senden',
    kept: 'Sie haben sich angemeldet. Was Sie zuvor tun wollten, ist noch nicht getan: Senden Sie es noch einmal.',
  },
  faults: {
    service: 'Ein Dienst antwortet nicht',
    refused: 'Das wurde abgelehnt',
    tooLarge: (size: string) => `Eine Datei oder ein Formular darf hier höchstens ${size} haben.`,
    home: 'Zur ersten Seite',
    crossSite: {
      title: 'Die Anfrage kam von einer anderen Seite',
      hint: 'Die Konsole nimmt Änderungen nur von ihren eigenen Seiten an. Öffnen Sie die Seite hier und versuchen Sie es noch einmal.',
    },
    roleMissing: { title: 'Ihre Rolle erlaubt das nicht', hint: 'Wer im Bereich System die Rolle Admin hat, kann sie ändern.' },
    missing: { title: 'Hier ist nichts', hint: 'Es wurde gelöscht, oder die Adresse ist falsch.' },
    loggedOut: { title: 'Sie sind abgemeldet', hint: 'Melden Sie sich an und wiederholen Sie es: Geändert wurde nichts.' },
    localLoginOff: { title: 'Namen und Passwörter sind abgeschaltet', hint: 'Melden Sie sich auf dem anderen Weg an, den die Anmeldeseite zeigt.' },
    busy: { title: 'Der Dienst nimmt gerade keine Anfragen mehr an', hint: 'Versuchen Sie es gleich noch einmal.' },
    failed: { title: 'In der Konsole ist ein Fehler aufgetreten', hint: 'Ihr Log hat den Grund unter der Nummer dieser Anfrage.' },
    unavailable: { title: 'Die Datenbank der Konsole antwortet nicht', hint: 'Versuchen Sie es gleich noch einmal.' },
  },
};
