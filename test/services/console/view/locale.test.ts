// The words of services on faults, in the language of a page.
import { expect } from 'chai';
import { wordOf } from '../../../../services/console/areas/events/typed-columns.ts';
import { toMarkup } from '../../../../services/console/view/elements.ts';
import { createLocale } from '../../../../services/console/view/locale.ts';
import { said, saidWhole } from '../../../../services/console/view/texts.ts';

describe('the words of services', () => {
  const german = createLocale({ language: 'de', zone: 'Europe/Berlin', now: new Date() });
  const refused = 'the broker is not connected after 5000 ms: connect ECONNREFUSED 10.0.0.1:5672';

  it('are in the language of the page as far as it knows them, an end by a pattern of its own', () => {
    expect(german.faultText('the payload is not JSON: Unexpected end of JSON input')).to.equal('der Inhalt ist kein JSON: Er hört zu früh auf');
    expect(german.faultText(refused)).to.equal('nach 5000 ms noch nicht mit dem Broker verbunden: 10.0.0.1:5672 nimmt keine Verbindung an');
    expect(german.faultText('no such column')).to.equal('no such column');
  });

  it('of a forge are its own where the language has none', () => {
    expect(['timed_out', 'waiting_for_it', 'constructor'].map((word) => wordOf(german, word))).to.deep.equal(['zu langsam', 'waiting for it', 'constructor']);
  });

  it('are kept as they were beside other words, for searches and logs', () => {
    expect(toMarkup(said(german, 'read ECONNRESET'))).to.equal('<span title="read ECONNRESET">die Verbindung ist abgebrochen</span>');
    expect([saidWhole(german, refused)].flat()).to.have.length(2);
    expect([said(german, 'no such column'), said(german, null)]).to.deep.equal(['no such column', '']);
  });
});
