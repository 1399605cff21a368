// Cards in the form of several portals' alert mails: prices without a period, towns without a street, titles in place of addresses.
import { expect } from 'chai';
import { typeOf, typeOfTitle } from '../../../../services/listings/mails/facts.ts';
import { parseAlertMail } from '../../../../services/listings/mails/parser.ts';
import { expectLinearTime } from '../../../support/linear-time.ts';
import { alertMail } from './alert-mails.ts';

const pattern = /example\.org\/\S*?(\d+)/i;
const link = (text: string, id = 7) => `<a href="https://www.example.org/offers/${id}">${text}</a>`;
const encoded = (subject: string) => `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`;
async function found(subject: string, body: { readonly html: string } | { readonly text: string }) {
  const parsed = await parseAlertMail(alertMail({ ...body, headers: { Subject: encoded(subject) } }), pattern);
  return parsed.kind === 'listings' ? parsed.listings.map((one) => (one.kind === 'listing' ? one.listing : one.reason)) : [];
}
const only = async (subject: string, html: string) => (await found(subject, { html }))[0];

/** As leboncoin sends it: links around the picture, the whole card, and the button. */
const french = (id: number, price: string, area: string, town: string) =>
  `<tr><td><div>${link('<table><tr><td>&nbsp;<img src="https://img.example.org/dots.png" width="96" height="8"></td></tr></table>', id)}</div>` +
  `<div>${link('', id).replace('</a>', '')}<table><tr><td><table><tr><td><b>${price}</b></td><td>Pro</td></tr></table></td></tr>` +
  `<tr><td>Appartement · 3 pièces · 48 m²</td></tr><tr><td>Dernier étage · Parking</td></tr><tr><td>${area}<br>${town}</td></tr>` +
  `<tr><td>${link("<table><tr><td>Voir l'annonce</td></tr></table>", id)}</td></tr></table></a></div></td></tr>`;

describe('a price without a period', () => {
  const card = (price: string) => `<div>${link('12 Main Street, Cork')}${price}</div>`;

  it('is the rent where the mail offers to rent', async () => {
    const html = `<table>${french(1, '1 042 €', 'Centre', 'Valmont-la-Ferrière 77330')}${french(2, '980 €', 'Bois - Gare', 'Conflans-Sainte-Marie 78700')}</table>`;
    const [first, second] = await found('2 nouveaux biens à louer', { html });
    expect(first).to.include({ priceMonthly: 1042, beds: 2, propertyType: 'Apartment', address: 'Valmont-la-Ferrière 77330' });
    expect(second).to.include({ priceMonthly: 980, address: 'Conflans-Sainte-Marie 78700' });
    for (const [subject, price, rent] of [
      ['Neue Mietwohnungen', '<p>950 € VB</p>', 950],
      ['Mietobjekte in Bern', '<p>CHF 1’650.–</p>', 1650],
      ['Mietobjekte in Bern', "<p>CHF 1'850.—</p>", 1850],
      ['Mieszkania na wynajem', '<p>3 200 zł</p><p>+ czynsz: 650 zł/miesiąc</p>', 3200],
      ['Bolig til leie', '<p>16 500 kr</p>', 16_500],
      ['New flats to rent', '<p>€650,- incl. utilities</p>', 650],
      ['Case in affitto', '<p>Prezzo: € 650</p><p>€ 650</p>', 650],
    ] as const)
      expect(await only(subject, card(price).replace('12 Main', subject === 'Bolig til leie' ? 'finn.no, 12 Main' : '12 Main')), price).to.satisfy(
        (one: unknown) => one === 'kr is the currency of several countries' || (one as { priceMonthly: number }).priceMonthly === rent,
      );
  });

  it('is none of an offer to buy, of two amounts, of a deposit, or within other text', async () => {
    for (const [subject, price] of [
      ['Case in vendita', '<p>€ 185.000</p>'],
      ['Neue Immobilien', '<p>350.000 €</p>'],
      ['Mieten oder kaufen', '<p>350.000 €</p>'],
      ['Flats to rent', '<p>€1,200</p><p>€900</p>'],
      ['Flats to rent', '<p>Deposit</p><p>€1,200</p>'],
      ['Flats to rent', '<p>€1,200 is what we spent on paint</p>'],
      ['Flats to rent', '<p>€120</p><p>per night</p>'],
      ['Flats to rent', '<p>€39</p>'],
    ] as const)
      expect(await only(subject, card(price)), `${subject} ${price}`).to.equal('no price');
    const others = `<table><tr><td>${card('<p>On application</p>')}</td></tr><tr><td>€1,200</td></tr><tr><td>${link('1 Hill, Cork', 8)} €900 per month</td></tr></table>`;
    expect((await found('Flats to rent', { html: others }))[0]).to.equal('no price');
  });

  it('is the rent where no home is sold for so little, and nothing near or above says sale', async () => {
    for (const [price, currency] of [
      ['<p>€1,850</p>2 bed | 1 bath', 'EUR'],
      ['<p>1 850 €</p>3 pièces', 'EUR'],
      ['<p>$1,850</p>', 'USD'],
      ['<br>$1,850 base rent', 'USD'],
    ] as const)
      expect(await only('3 new results', card(price)), price).to.include({ priceMonthly: 1850, currency });
    for (const html of ['<p>€385,000</p>', '<p>£9,500</p><p>For sale</p>', '<p>9 500 €</p><p>Parking à vendre</p>', '<p>↓ $5,000</p><p>$385,000</p>'])
      expect(await only('3 new results', card(html)), html).to.equal('no price');
    expect(await only('New today', `<h1>Garages for sale in Leeds</h1>${card('<p>£9,500</p>')}`)).to.equal('no price');
    const text = `$2,500\r\n2 bed | 1 bath | No Fee\r\nEastside, Riverton\r\nPosted by Owner\r\n`;
    const [first, second] = await found('New homes', { text: [1, 2].map((id) => `${text}https://www.example.org/offers/${id}\r\n\r\n`).join('') });
    for (const one of [first, second]) expect(one).to.include({ priceMonthly: 2500, beds: 2, baths: 1, address: 'Eastside, Riverton' });
  });

  it('stands before charges', async () => {
    for (const price of ['950 € (+ 100 €)', '€ 950 (+ € 60 kosten)', '950 € + 100 € charges'])
      expect(await only('Appartement à louer', card(`<p>${price}</p>`)), price).to.include({ priceMonthly: 950 });
    const [czech] = await found('Nový pronájem bytu', { html: card('<p>18 500 Kč + 3 000 Kč</p>') });
    expect(czech).to.include({ priceMonthly: 18_500, currency: 'CZK' });
  });

  it('gives way to one with a period', async () => {
    expect(await only('Flats to rent', card('<p>€2,000</p><p>€1,850 per month</p>'))).to.include({ priceMonthly: 1850 });
  });

  it('is read before a link in a mail of text', async () => {
    const text = 'Neue Mietwohnung\r\n\r\n2-Zimmer-Wohnung\r\nPreis: 1.200 €\r\nBeispielmarkt 5, 10178 Berlin\r\n\r\nhttps://www.example.org/offers/7';
    expect((await found('Neue Mietwohnung', { text }))[0]).to.include({ priceMonthly: 1200, beds: 1, address: 'Beispielmarkt 5, 10178 Berlin' });
  });

  it('stands among the facts of a line', async () => {
    for (const [facts, expected] of [
      ['€1,850 · 2 bed · Apartment', { priceMonthly: 1850, beds: 2 }],
      ['950 € | 3 Zimmer | 75 m²', { priceMonthly: 950, beds: 2 }],
      ['750 €, 2 hab., 70 m²', { priceMonthly: 750, beds: 2 }],
      ['48 m² - 1 042 €', { priceMonthly: 1042 }],
      ['2 bed / 1 bath / €1,850', { priceMonthly: 1850, beds: 2, baths: 1 }],
      ['€1,850 - 2 bed - €2,000 deposit', { priceMonthly: 1850 }],
      ['A quiet place $1,850 / 2br - 850ft²', { priceMonthly: 1850, beds: 2, currency: 'USD' }],
    ] as const)
      expect(await only('Flats to rent', card(`<br>${facts}`)), facts).to.include(expected);
    expect(await only('Flats to rent', card('<p>€1,850</p><p>€2,000 - 2 bed</p>'))).to.include({ priceMonthly: 1850 });
    for (const facts of [
      'Deposit €1,850 · 2 bed',
      '€1,850 deposit · 2 bed',
      '€120 / night - 2br',
      '€120 / Nacht | 2 Zimmer',
      '€1,000 - €2,000 | 2 bed',
      '1.000 € - 2.000 € | 2 Zimmer',
      'up to €2,000 | 2 bed',
      '€1,850 | 2 bed | €1,900 | 3 bed',
      '€1,200 - what we spent on the house',
    ])
      expect(await only('Flats to rent', card(`<br>${facts}`)), facts).to.equal('no price');
    expect(await only('Homes', card('<br>€185,000 · 2 bed'))).to.equal('no price');
  });

  it('is searched in linear time', async () => {
    for (const title of ['-', '12 ', 'Ab ', '1 Ab '])
      await expectLinearTime((parts) => only('x', `<div>${link(`flat ${title.repeat(parts * 20_000)}`)}<p>€900 per month</p></div>`), title);
    for (const part of ['€1 200 ', '€1 200 - 2 bed / '])
      await expectLinearTime((parts) => only('Flats to rent', `<div>${link('1 Main St, Cork')}<p>${part.repeat(parts * 200)}</p></div>`), part);
  });
});

describe('an alert of Craigslist', () => {
  const address = (id: number) => `https://sfbay.craigslist.org/eby/apa/d/lakeside/${id}.html`;
  const read = async (body: { readonly html: string } | { readonly text: string }) => {
    const parsed = await parseAlertMail(alertMail({ ...body, headers: { Subject: '2 new results' } }), /craigslist\.org\/\S*?(\d{7,12})\.html/);
    return parsed.kind === 'listings' ? parsed.listings.map((one) => (one.kind === 'listing' ? one.listing : one.reason)) : [];
  };
  const lines = ['$1,850 - 2br - 850ft2 - Sunny flat', '$1,500 - 1br -  Quiet flat near the lake', '$1,200 -  Bright studio'];

  it('in blocks of text has a title behind price and rooms', async () => {
    const block = (line: string, at: number) =>
      `${'='.repeat(60)}\r\n${line}\r\n${address(7_000_000 + at)}\r\n(Lakeside)\r\n\r\n${address(7_000_000 + at)}\r\n`;
    const [first, second, third, ...others] = await read({ text: `New results: apts, max price $2,000\r\n\r\n${lines.map(block).join('')}` });
    expect(first).to.include({ sourceId: '7000000', address: 'Sunny flat', priceMonthly: 1850, beds: 2, currency: 'USD' });
    expect(second).to.include({ address: 'Quiet flat near the lake', priceMonthly: 1500, beds: 1 });
    expect(third).to.include({ address: 'Bright studio', priceMonthly: 1200, propertyType: 'Studio' });
    expect(others).to.deep.equal([]);
  });

  it('in lines has them before or behind the link, or in it', async () => {
    const [one, two] = ['$1,850 / 2br - 850ft² - Sunny flat (Oakland)', '$1,500 / 1br - Quiet flat (Berkeley)'];
    for (const body of [
      { text: `Results:\r\n\r\n   - ${one} <${address(7_000_001)}>\r\n   - ${two} <${address(7_000_002)}>\r\n` },
      { html: `<ul><li><a href="${address(7_000_001)}">${one}</a></li><li><a href="${address(7_000_002)}">${two}</a></li></ul>` },
    ]) {
      const [first, second] = await read(body);
      expect(first).to.include({ address: 'Sunny flat (Oakland)', priceMonthly: 1850, beds: 2 });
      expect(second).to.include({ address: 'Quiet flat (Berkeley)', priceMonthly: 1500, beds: 1 });
    }
  });
});

describe('several listings in lines', () => {
  const alerts = [
    `Ihre Suche: bis 1.300 €, ab 2 Zimmer\n\n1. Helle 3-Zimmer-Wohnung\nMusterstr. 5, 50667 Köln\nKaltmiete: 1.050 €\nONE\n\n2. Altbau\nBeispielweg 7, 50823 Köln\nKaltmiete: 890 €\nZimmer: 2\nTWO`,
    `Trilocale via Roma 5, Centro, Torino\n€ 1.050/mese\n3 locali | 85 m²\nONE\n\nBilocale corso Francia 12, Cit Turin, Torino\n€ 890/mese\n2 locali\nTWO`,
    `Lejlighed, 3 værelser\nNørregade 5, 2100 København\n1.050 €/md.\nONE\n\nLejlighed, 2 værelser\nVestergade 7, 8000 Aarhus\n890 €/md.\nTWO`,
  ];
  it('have each their facts, below them an address of a page or a link that says nothing', async () => {
    const address = (id: number) => `https://www.example.org/offers/${id}`;
    for (const alert of alerts)
      for (const body of [
        { text: alert.replace('ONE', address(1)).replace('TWO', address(2)).replaceAll('\n', '\r\n') },
        { html: alert.replace('ONE', link('Link', 1)).replace('TWO', link('Hier klicken', 2)).replaceAll('\n', '<br>\n') },
      ]) {
        const [first, second] = await found('x', body);
        expect(first, alert).to.deep.include({ sourceId: '1', priceMonthly: 1050, beds: 2 });
        expect(second, alert).to.deep.include({ sourceId: '2', priceMonthly: 890, beds: 1 });
        expect((first as { address: string }).address).to.match(/ 5, /);
        expect((second as { address: string }).address).to.match(/ (?:7|12), /);
      }
  });
});

describe('a listing that is gone', () => {
  it('says so in a line of its own', async () => {
    const isWithdrawn = async (line: string) => (await found('x', { html: `<div>${link('12 Hill, Cork')}<p>${line}</p><p>€900 per month</p></div>` }))[0];
    for (const line of [
      ...['Let STC', 'Leased', 'Rented', 'This property is no longer available.', 'This listing has been removed', 'Verhuurd onder voorbehoud', 'Déjà loué'],
      ...['Uthyrd', 'Udlejet', 'Ogłoszenie nieaktualne', 'Ya no está disponible', 'Già affittato', 'Dieses Objekt ist nicht mehr verfügbar'],
    ])
      expect(await isWithdrawn(line), line).to.include({ withdrawn: true });
    for (const line of ['Let', 'Not available', 'No disponible', 'Rented garage included', 'Removed'])
      expect(await isWithdrawn(line), line).to.include({ withdrawn: undefined });
  });
});

describe('a listing of a text that is gone', () => {
  it('says so among the lines above its link, unless they tell of two', async () => {
    const text = (lines: string) => found('x', { text: `${lines}\r\n€900 per month\r\nLet agreed\r\nhttps://www.example.org/offers/7` });
    expect((await text('12 Hill, Cork'))[0]).to.include({ priceMonthly: 900, withdrawn: true });
    expect((await text('9 Hill, Cork\r\n€950 per month\r\n\r\n12 Hill, Cork'))[0]).to.include({ withdrawn: undefined });
  });
});

describe('the picture', () => {
  const photo = 'https://img.example.org/flat.jpg';
  const rest = `<tr><td>${link('12 Hill, Cork')}</td></tr><tr><td>€900 per month</td></tr>`;
  const pictureOf = async (html: string) => (await only('x', `<table>${html}${rest}</table>`)) as { mainImageUrl?: string };
  for (const picture of [
    `<tr><td background="${photo}" width="600">${link('&nbsp;')}</td></tr>`,
    `<tr><td style="background-image:url('${photo}');background-size:cover">${link('<div style="height:200px"></div>')}</td></tr>`,
    `<tr><td style="background: #eee url(&quot;${photo}&quot;) center / cover">${link('€900')}</td></tr>`,
    `<tr><td>${link(`<div style="background-image:url(${photo})"></div>`)}</td></tr>`,
    `<tr><td>${link('').replace('<a', `<a style="display:block;background:url(${photo})"`)}</td></tr>`,
    `<tr><td style="background-image: url(${photo})"></td><td>${link('12 Hill, Cork')}</td></tr>`,
    `<tr><td background="https://img.example.org/shadow.png">${link(`<img src="${photo}">`)}</td></tr>`,
  ])
    it(`is that of ${picture.replace(/<a .*/, '…')}`, async () => expect((await pictureOf(picture)).mainImageUrl).to.equal(photo));

  for (const other of [
    `<tr><td background="${photo}">${link('View details')}</td></tr>`,
    `<tr><td style="background:#f60 url(${photo}) repeat-x">${link('Check it out')}</td></tr>`,
    `<tr><td background="${photo}"><h1>New homes</h1></td></tr>`,
    `<tr><td background="${photo}" height="8">${link('&nbsp;')}</td></tr>`,
    `<tr><td style="background-image:url(data:image/png;base64,AAAA)">${link('&nbsp;')}</td></tr>`,
    `<tr style="display:none"><td background="${photo}">${link('&nbsp;')}</td></tr>`,
  ])
    it(`is not that of ${other.replace(/<a .*/, '…')}`, async () => expect((await pictureOf(other)).mainImageUrl).to.equal(undefined));

  it('is not the background of a whole card or page', async () => {
    const html = `<body background="${photo}"><table background="${photo}">${rest}</table></body>`;
    expect(await only('x', html)).to.include({ mainImageUrl: undefined });
  });

  it('is no icon or line', async () => {
    const image = (name: string, size: string) => `<img src="https://img.example.org/${name}.jpg" ${size}>`;
    const of = async (...images: readonly string[]) => only('x', `<div>${link(images.join(''))}${link('12 Hill, Cork')}<p>€900 per month</p></div>`);
    expect(await of(image('dots', 'width="96" height="8"'), image('arrow', 'width="48"'), image('flat', 'width="100%" height="223"'))).to.include({
      mainImageUrl: 'https://img.example.org/flat.jpg',
    });
    expect(await of(image('dots', 'width="96" height="8"'))).to.include({ mainImageUrl: undefined });
    expect(await of(image('flat', ''))).to.include({ mainImageUrl: 'https://img.example.org/flat.jpg' });
  });
});

describe('an icon', () => {
  const icon = (alt: string) => `<img src="https://img.example.org/icon.png" width="16" height="16" alt="${alt}">`;
  const card = (facts: string, id = 7) => `<div>${link(`${id} Main Street, Cork`, id)}<p>€1,850 per month</p><p>${facts}</p></div>`;

  for (const facts of [
    `${icon('Bedrooms')} 3 ${icon('Bathrooms')} 2 ${icon('Parking')} 1`,
    `3 ${icon('bed')} 2 ${icon('bath')} 1 ${icon('car')}`,
    `<span>${icon('Bed icon')}<span>3</span></span><span>${icon('Icon of baths')}<span>2</span></span>`,
    `<table><tr><td>${icon('Bedrooms')}</td><td>3</td><td>${icon('Bathrooms')}</td><td>2</td><td>${icon('Car spaces')}</td><td>1</td></tr></table>`,
    `${icon('bed')} 3 bedrooms ${icon('bath')} 2 bathrooms`,
  ])
    it(`labels the number beside it: ${facts.replace(/<img[^>]*alt="([^"]*)">/g, '[$1]').replace(/<[^>]*>/g, ' ')}`, async () => {
      expect(await only('Flats to rent', card(facts))).to.include({ address: '7 Main Street, Cork', beds: 3, baths: 2 });
      const others = card(`${icon('Bedrooms')} 1 ${icon('Bathrooms')} 1`, 8);
      const both = await found('Flats to rent', { html: `${card(facts)}${others}` });
      expect(both.map((one) => typeof one !== 'string' && [one.beds, one.baths])).to.deep.equal([
        [3, 2],
        [1, 1],
      ]);
    });

  it('labels none where its description is that of a picture', async () => {
    expect(await only('Flats to rent', card(`${icon('Bedrooms with a view')} 3 ${icon('2 bathrooms')} <b>5</b>`))).to.not.have.property('beds', 3);
  });
});

describe('an address', () => {
  it('is a town with its postal code where the links are buttons', async () => {
    for (const [line, address] of [
      ['Location appartement · Valmont (77127)', 'Valmont (77127)'],
      ['50667 Köln', '50667 Köln'],
      ['3511 AB Utrecht', '3511 AB Utrecht'],
    ] as const)
      expect(await only('x', `<div>${link("Voir l'annonce et contacter le propriétaire")}<p>${line}</p><p>900 € / mois</p></div>`)).to.include({ address });
    const text = 'Location appartement\r\nValmont (77127)\r\n3 pièces - 63 m²\r\n1.150 € / mois\r\n\r\nhttps://www.example.org/offers/7';
    expect((await found('x', { text }))[0]).to.include({ address: 'Valmont (77127)', priceMonthly: 1150, beds: 2 });
  });

  it('is a street and a town in the card rather than a title, and not that of the footer', async () => {
    const footer = '<p>Portal AG, Beispielallee 1, 10115 Berlin</p>';
    const card = (line: string) => `<div><div>${link('Helle 2-Zimmer-Wohnung mit Loggia')}${line}<p>890 € pro Monat</p></div>${footer}</div>`;
    expect(await only('x', card('<p>Musterstraße 5, 10178 Berlin</p>'))).to.include({ address: 'Musterstraße 5, 10178 Berlin', propertyType: 'Apartment' });
    for (const line of ['', '<p>50667 Köln</p>']) expect(await only('x', card(line))).to.include({ address: 'Helle 2-Zimmer-Wohnung mit Loggia', beds: 1 });
  });

  it('is a street and a town rather than a title of the kind of home, and a town rather than the kind alone', async () => {
    const card = (title: string, line: string) => only('x', `<div>${link(title)}<p>${line}</p><p>890 € pro Monat</p></div>`);
    for (const line of ['Musterstraße 5, 10178 Berlin', 'Storgatan 5, 211 42 Malmö', 'Kwiatowa 5, 00-123 Warszawa', 'Rua Nova 5, 1000-123 Lisboa'])
      expect(await card('Helle Wohnung mit Loggia', line)).to.include({ address: line });
    for (const [title, line, address] of [
      ['Appartement te huur', '9000 Gent', '9000 Gent'],
      ['Appartement', '1050 Ixelles', '1050 Ixelles'],
      ['Appartement Kerkstraat', '1017 GC Amsterdam', 'Appartement Kerkstraat'],
      ['Seaview', '10178 Berlin', 'Seaview'],
      ["Voir l'annonce", 'Lyon 3ème (69)', 'Lyon 3ème (69)'],
    ] as const)
      expect(await card(title, line)).to.include({ address });
  });

  it('is a street and a town without a postal code rather than a title', async () => {
    const card = (line: string) => only('x', `<div>${link('Bright 2-room flat')}<p>${line}</p><p>890 € per month</p></div>`);
    for (const line of [
      ...['Hauptstraße 5, Berlin', '12 Main Street, Cork', 'Calle de Alcalá 45, Madrid', '45 rue de la Paix, Paris', 'Via Roma 12, Torino'],
      ...['Kerkstraat 12a, Amsterdam', 'ul. Długa 7, Stare Miasto, Kraków', 'Lindenallee 14, Köln', '216 7th St. #1', '45-15 43rd Avenue #4A'],
    ])
      expect(await card(line), line).to.include({ address: line, beds: 1, propertyType: 'Apartment' });
    for (const line of [
      ...['Beds 2, Baths 1', 'Zimmer 3, Küche', 'Chambres 2, Terrasse', '1 großer Balkon, Keller', '1 parking space, Lift', 'Etage 3, Balkon'],
      ...['Zone 2, Central', 'Available May 5, Furnished', 'Baujahr 1998, Aufzug', 'BER 120, Gas heating', 'Ref. 123, Agency Hill'],
      ...['5 minute walk to Main Street', '10 Minutes From Oak Ave', 'Immobilien Müller, Hauptstr. 5, Köln', 'Balcony, Parking'],
    ])
      expect(await card(line), line).to.include({ address: 'Bright 2-room flat' });
  });

  it('stands below a title that is the last link, and is not that of the footer', async () => {
    const card = (line: string, rest = '') =>
      `<table><tr><td>${link('<img>')}</td></tr><tr><td>890 € per month</td></tr><tr><td>${link('Bright flat')}</td></tr>${line}</table>${rest}`;
    expect(await only('x', card('<tr><td>Lindenallee 14, Köln</td></tr><tr><td>2 rooms</td></tr>'))).to.include({ address: 'Lindenallee 14, Köln' });
    expect(await only('x', card('', '<p>Portal AG, Allee 1, 10115 Berlin</p>'))).to.include({ address: 'Bright flat' });
  });

  it('has no number of a list, and no kind of home with its facts', async () => {
    const text = [1, 2].map((id) => `${id}. ${id}0 Harbour Street, Galway\r\n€900 per month\r\nhttps://www.example.org/offers/${id}`).join('\r\n\r\n');
    expect((await found('x', { text })).map((one) => typeof one !== 'string' && one.address)).to.deep.equal(
      [1, 2].map((id) => `${id}0 Harbour Street, Galway`),
    );
    const card = `<div>${link('Appartement 2 pièces 41 m²')}<p>Lyon 3ème (69003)</p><p>900 € / mois</p></div>`;
    expect(await only('x', card)).to.include({ address: 'Lyon 3ème (69003)', beds: 1, propertyType: 'Apartment' });
    const swedish = 'Nya annonser för "Lägenheter, Göteborg":\r\n\r\nStorgatan 12, Göteborg\r\n11 500 kr/mån\r\nhttps://www.example.se/example.org/1';
    expect((await found('x', { text: swedish }))[0]).to.include({ address: 'Storgatan 12, Göteborg' });
  });

  it('is no button, whatever its language', async () => {
    for (const button of [
      'Exposé ansehen',
      'Anzeige öffnen',
      "Découvrir l'annonce",
      "Vai all'annuncio",
      'Zobacz ogłoszenie',
      'Visa annonsen',
      'Woning bekijken',
    ])
      expect(await only('x', `<div><p>Musterstraße 5, 10178 Berlin</p><p>€900 per month</p>${link(button)}</div>`), button).to.include({
        address: 'Musterstraße 5, 10178 Berlin',
      });
  });

  it('is no arrow', async () => {
    expect(await only('x', `<div>${link('↘ 12%')}${link('12 Hill')}<p>€900 per month</p></div>`)).to.include({ address: '12 Hill' });
  });
});

describe('a title that is the address', () => {
  it('tells beds and type, unless it may be a street', async () => {
    const card = (title: string) => `<div>${link(title)}<p>€900 per month</p></div>`;
    expect(await only('x', card('2 Bed Flat, Main Road, SE15'))).to.include({ beds: 2, propertyType: 'Apartment' });
    expect(await only('x', card('Piso en calle Mayor, Burgos'))).to.include({ propertyType: 'Apartment' });
    expect(await only('x', card('Bilocale via Nizza 5, Torino'))).to.include({ propertyType: 'Apartment' });
    expect(await only('x', card('12 Bed Lane, Cork'))).to.include({ beds: undefined });
    expect([typeOfTitle('Casa Rosa, Roma'), typeOfTitle('Via Appartamento 3, Roma')]).to.deep.equal([undefined, undefined]);
  });

  it('of a home that is shared is Shared, and not that of the home', async () => {
    for (const text of [
      ...['House share', 'Flat Share · Moseley', 'Flatshare', 'Share house', 'Coliving house', 'Co-living', 'Rum i kollektiv', '3er WG'],
      ...['Habitación en piso compartido', 'Stanza in appartamento condiviso', 'Quarto em apartamento partilhado', 'Chambre dans appartement en colocation'],
    ])
      expect(typeOf(text), text).to.equal('Shared');
    for (const text of ['Wohnung, WG-geeignet', 'Apartment with shared garden', 'Apartment, flat sharing not allowed', 'Appartement, colocation possible'])
      expect(typeOf(text), text).to.equal('Apartment');
    const card = (title: string) => `<div>${link(title)}<p>€480 per month</p></div>`;
    expect(await only('x', card('Helles Zimmer in 3er WG'))).to.include({ propertyType: 'Shared' });
    expect(await only('x', card('Kerrostalo, kaksio, Keskuskatu 5, Helsinki'))).to.include({ propertyType: 'Apartment', beds: 1 });
    const text = 'Piso en calle del Pez, 12, Madrid\r\n1.395 €/mes\r\nhttps://www.example.org/offers/7';
    expect((await found('x', { text }))[0]).to.include({ propertyType: 'Apartment' });
  });

  it('an open house is a viewing, and a flat rate no flat', () => {
    expect(['Open House Sat, 11am', 'Flat rate of €50', '2 bedroom flat to rent', 'A house'].map((text) => typeOf(text))).to.deep.equal([
      undefined,
      undefined,
      'Apartment',
      'House',
    ]);
  });
});
