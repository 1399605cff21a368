// Texts of links that senders of newsletters offer beside their stories, and of stories that begin or end alike.
import { expect } from 'chai';
import { extract } from '../../../../services/link-digest/extraction/extraction.ts';

const mail = { subject: null, date: null, from: 'weekly@news.example', to: null, text: null, unsubscribe: [] };

describe('links behind a click counter', () => {
  const counter = 'https://click.counter.example/f/a/Zk1_2Q34567890abcdEFG';
  const kept = (texts: readonly string[]) => texts.filter((text) => extract({ ...mail, html: `<a href="${counter}">${text}</a>` }).length > 0);
  const offers: Readonly<Record<string, readonly string[]>> = {
    English: [
      ...['Unsubscribe me', 'unsubscribe from all', 'No longer want to receive these emails?', 'Having trouble viewing this email?'],
      ...['Trouble viewing this email? Click here', 'Why did I get this?', 'Add us to your address book', 'Change email address', 'Forward to a friend'],
      ...['Forward this email', 'Help Center', 'FAQ', 'Report abuse', 'Share on Facebook', 'Follow us', 'Tweet'],
    ],
    German: [
      ...['Hier klicken, um sich abzumelden', 'Klicken Sie hier, um den Newsletter abzubestellen', 'Wird diese E-Mail nicht richtig dargestellt?'],
      ...['Datenschutzhinweise', 'Kontakt'],
    ],
    French: ['Désabonnez-vous', 'Se désinscrire ici', 'Voir la version en ligne', 'Politique de confidentialité'],
    Spanish: ['Ver versión online', 'Política de privacidad', 'Preferencias'],
    Portuguese: ['Ver versão online', 'Política de privacidade'],
    Italian: ['Cancella iscrizione', 'Informativa sulla privacy'],
    Dutch: ['Bekijk de online versie', 'Voorkeuren aanpassen', 'Privacyverklaring'],
    Swedish: ['Avprenumerera', 'Avsluta prenumeration', 'Visa i webbläsaren'],
    Norwegian: ['Meld deg av', 'Vis i nettleser'],
    Danish: ['Afmeld nyhedsbrev', 'Vis i browser'],
    Polish: ['Wypisz się', 'Zobacz w przeglądarce'],
  };
  for (const [language, texts] of Object.entries(offers)) it(`leave out what senders offer in ${language}`, () => expect(kept(texts)).to.deep.equal([]));

  it('are kept where their text only begins or ends alike', () => {
    const pages = [
      ...['Preferences in political theory', 'How to unsubscribe from life', 'Contact lenses: a history', 'Help wanted', 'The FAQ that changed medicine'],
      ...['Sharing is caring', 'Following the money', 'Lire en ligne ou sur papier ?', 'Kontaktlinsen', 'Forward to the past', 'Why am I here?'],
      ...['Trouble with the view', 'Online-Versionen alter Bücher', 'Support for the strike', 'Visa i Sverige'],
    ];
    expect(kept(pages)).to.deep.equal(pages);
  });
});
