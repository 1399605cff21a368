// Facts of listings out of text: rents beside what else is paid, former prices, ranges, words for numbers, and other languages.
import { expect } from 'chai';
import { bathsIn, bedsIn, factsOf, typeOf } from '../../../../services/listings/mails/facts.ts';
import { codeOf, hasPrice, rentIn as rentInTexts } from '../../../../services/listings/mails/prices.ts';
import { expectLinearTime } from '../../../support/linear-time.ts';

const rentIn = (text: string) => rentInTexts([factsOf(text)])?.value;
const currencyIn = (text: string, host = 'portal.example') => codeOf(rentInTexts([factsOf(text)])?.currency ?? '', host);
const cases = <T>(title: (text: string, expected: T) => string, expected: Readonly<Record<string, T>>, read: (text: string) => T | undefined) => {
  for (const [text, value] of Object.entries(expected)) it(title(JSON.stringify(text), value), () => expect(read(text)).to.deep.equal(value));
};

describe('rentIn', () => {
  describe('beside what else is paid', () => {
    cases(
      (text, rent) => `reads ${rent} in ${text}`,
      {
        'Parking | €100 per month | Rent | €1,850 per month': 1850,
        'Parking\n€100 per month\nRent\n€1,850 per month': 1850,
        'Parking\n\n€300 per month\n\nRent\n\n€1,850 per month': 1850,
        'Rent | Parking | €1,850 per month | €100 per month': 1850,
        'Rent\nParking\n€1,850 per month\n€100 per month': 1850,
        'Car parking space available at €120 per month\n€1,850 per month': 1850,
        'Parking (€100 per month), €1,850 per month': 1850,
        'Parking, optional: €100 per month\n€1,850 per month': 1850,
        'Bills approx. €150 per month. Rent €1,850 per month': 1850,
        'Bills are about €150 per month\n€1,850 per month': 1850,
        'Service charge - €80 per month\n€1,850 per month': 1850,
        'Management fee €60/month\n€1,850/month': 1850,
        '€100 per month for parking. €1,850 per month': 1850,
        '€90 per month (utilities), €1,850 per month': 1850,
        '€1,850 per month plus €100 per month for a garage': 1850,
        '€1,850 per month + €100 per month': 1850,
        'Plus €100 per month\n€1,850 per month': 1850,
        'Electricity: €70 pcm | Internet: €40 pcm | Rent: €1,850 pcm': 1850,
        'Stellplatz: 60 € pro Monat, Kaltmiete: 900 € pro Monat': 900,
        'Charges: 80 € par mois\nLoyer: 900 € par mois': 900,
        '2 bed apartment with parking for €1,850 per month': 1850,
        'Garden\nParking\n€1,850 per month': 1850,
        'Garden | Parking | €1,850 per month': 1850,
        'All bills included\n€950 per month': 950,
        'No pets €1,850 per month': 1850,
        '€1,850 per month parking included': 1850,
        '€1,850 per month (bills included)': 1850,
        'Heating\n€1,850 per month': 1850,
      },
      rentIn,
    );
    for (const text of [
      'Parking | €100 per month',
      'Parking\n€100 per month',
      'Parking: €300 per month',
      'Rent on application, bills €150 per month',
      'Garage €120 pcm',
    ])
      it(`reads no rent in ${JSON.stringify(text)}`, () => expect(rentIn(text)).to.equal(undefined));
  });

  describe('beside a former price', () => {
    cases(
      (text, rent) => `reads ${rent} in ${text}`,
      {
        'Was | €2,000 per month | Now | €1,850 per month': 1850,
        'Was\n€2,000 per month\nNow\n€1,850 per month': 1850,
        'Old price: €2,000/month New price: €1,850/month': 1850,
        'Previous rent €2,000 per month. Current rent €1,850 per month': 1850,
        'Last price: €2,000 per month\n€1,850 per month': 1850,
        '€1,850 per month, down from €2,000 per month': 1850,
        'Down from €2,000 per month to €1,850 per month': 1850,
        'Dropped from €2,000 per month to €1,850 per month': 1850,
        '€2,000 per month (previously), €1,850 per month': 1850,
        '€2,000 per month ↓ €1,850 per month': 1850,
        '€2,000 per month ⇒ €1,850 per month': 1850,
        '€2,000 p/m › €1,850 p/m': 1850,
        '€1,850 per month ↓ €150': 1850,
        '€1,850 per month ▼ 7%': 1850,
        '€150 per month less: €1,850 per month': 1850,
        'You save €150 per month: €1,850 per month': 1850,
        'Originally €2,000 per month, now only €1,850 per month': 1850,
        'Statt 1.100 € pro Monat nur 990 € pro Monat': 990,
        'Au lieu de 1 100 € par mois : 990 € par mois': 990,
        'Antes 1.100 €/mes, ahora 990 €/mes': 990,
        'Alte Miete 1.100 € kalt, neue Miete 990 € kalt': 990,
        'Gesenkt um 80 €/Monat auf 990 €/Monat': 990,
        'Ancien loyer : 1 100 € cc\n990 € cc': 990,
        '1 100 €/mois → 1 020 €/mois': 1020,
        '1 100 € par mois à 500 m du métro': 1100,
        'De 1.100 €/mes a 990 €/mes': 990,
        'Planta baja 990 €/mes': 990,
        'Era 1.100 €/mese, ora 990 €/mese': 990,
        'Van € 1.100 per maand voor € 990 per maand': 990,
        'Poprzednia cena: 3 100 zł/miesiąc\nNowa cena: 2 800 zł/miesiąc': 2800,
        'Tidigare 10 500 kr/mån, nu 9 800 kr/mån': 9800,
        'Før 10.500 kr/md. Nu 9.800 kr/md.': 9800,
        'Preço anterior: 1.100 €/mês\n990 €/mês': 990,
        'Původní cena 20 500 Kč/měsíc\n18 500 Kč/měsíc': 18_500,
        'Under €2,500 per month\n€1,850 per month': 1850,
        'Budget: €2,500 per month\n€1,850 per month': 1850,
        'Max price | €2,500 per month\n€1,850 per month': 1850,
        'Reduced by €100 to €1,750 per month': 1750,
        'Price drop from €1,850 to €1,750 per month': 1750,
        '€2,000 - €1,850 per month': 1850,
      },
      rentIn,
    );
  });

  describe('of a range', () => {
    cases(
      (text, rent) => `reads ${rent} in ${text}`,
      {
        'From €1,500 per month': 1500,
        'Between €1,500 and €2,100 per month': 1500,
        '€1,500 - €2,100 pcm': 1500,
        '€1,500–€2,100 per month': 1500,
        '€1,500-2,100 per month': 1500,
        '1.500–2.100 € pro Monat': 1500,
        '1,500 to 2,100 euro per month': 1500,
        '900 bis 1.200 € monatlich': 900,
        'De 900 à 1 200 € par mois': 900,
        'Entre 900 € y 1.200 € al mes': 900,
        'Da 900 a 1.200 € al mese': 900,
        '€900 tot €1.200 per maand': 900,
      },
      rentIn,
    );
  });

  describe('in other words and languages', () => {
    cases(
      (text, rent) => `reads ${rent} in ${text}`,
      {
        'Rent: €1,850': 1850,
        'Rent\n€1,850': 1850,
        'Rent per month | €1,850': 1850,
        'Price per month: €1,850': 1850,
        'Monthly price\n€1,850': 1850,
        'Weekly rent: €300': 1300,
        'AED 84,000 / year': 7000,
        'CHF 28’800 / Jahr': 2400,
        'Income above €50,000 per year. €1,850 per month': 1850,
        'Rent ₹1,25,000/month': 125_000,
        '12 triệu VND/tháng': 12_000_000,
        '2.1 lakh INR / month': 210_000,
        '60 m2\n700 €/mj': 700,
        'T3 700 €/mois': 700,
        '€1,850 rent per month': 1850,
        '€1,850pm': 1850,
        '€1,850 p.m.': 1850,
        '1.850 € / Monat': 1850,
        '1.850,- € im Monat': 1850,
        '1.850,50 EUR mtl.': 1850.5,
        "1'850 € pro Monat": 1850,
        '1 850 € / mois': 1850,
        '950 € CC par mois': 950,
        '1.850 €/mes': 1850,
        '1.850 € mensuales': 1850,
        '1.850 euro al mese': 1850,
        '€ 1.850 per maand': 1850,
        '€ 1.850 /mnd': 1850,
        '1.850 € por mês': 1850,
        'Kaltmiete 900 €': 900,
        'Nettokaltmiete: 900 €': 900,
        '900 € Kaltmiete': 900,
        '900 €\nKaltmiete\n60 m²': 900,
        '1.100,00 € warm': 1100,
        '900 € zzgl. NK': 900,
        '1 850 € CC*': 1850,
        '1 850 € charges comprises': 1850,
        'EUR1,850 per month': 1850,
        '$1,850+/mo': 1850,
        '£450pw': 1950,
        '£1,950 pcm (£450 pw)': 1950,
        '£450 pw (£1,950 pcm)': 1950,
        'CHF 2’150.– / Monat': 2150,
        '2 500 zł / miesiąc': 2500,
        'Loyer : 900 €': 900,
        '850 €/kk': 850,
        '750 €/μήνα': 750,
        'Chirie 450 €': 450,
        'Månedlig leje 12.500 kr.': 12500,
        '2 500 zł + czynsz: 600 zł/miesiąc': 2500,
        'aylık 25.000 TL': 25000,
        'Bérleti díj: 180 ezer Ft/hó': 180000,
        '£2k pcm': 2000,
        '€2.1k per month': 2100,
        'Gesamtmiete (warm): 1.050,00 €': 1050,
        '15,40 €/m² · 1.001 € Kaltmiete': 1001,
        '45 000 ₽ в месяц': 45000,
      },
      rentIn,
    );
    for (const text of [
      'Rent: €90 per night',
      'Deposit: €1,850',
      'Rental insurance €20',
      'Current €1,850',
      'Parent: €1,850',
      '€1,850 per moment',
      'POA',
      '£350,000',
      'Kaution 2.400 €\nGarten',
      '€15/m² per month',
      '650 sq ft a month',
    ])
      it(`reads none in ${JSON.stringify(text)}`, () => expect(rentIn(text)).to.equal(undefined));
  });

  describe('in a currency', () => {
    cases(
      (text, code) => `is ${code} in ${text}`,
      {
        '€1,850 per month': 'EUR',
        '1,850 euro a month': 'EUR',
        '£1,950 pcm': 'GBP',
        '1,950 GBP pcm': 'GBP',
        'CHF 2150 pro Monat': 'CHF',
        '$1,950/mo': 'USD',
        'US$ 1,950/month': 'USD',
        'A$450 per week': 'AUD',
        'C$1,950 monthly': 'CAD',
        'R$ 1.950/mês': 'BRL',
        '2 500 zł/mc': 'PLN',
        '₹25,000/month': 'INR',
        '15 000 Kč za měsíc': 'CZK',
        '180.000 Ft / hó': 'HUF',
        '1.800 lei/lună': 'RON',
        '₺25.000 aylık': 'TRY',
        '12,500 SEK per month': 'SEK',
        'NOK 14,000 per month': 'NOK',
        'HK$18,000/month': 'HKD',
        'S$3,500 per month': 'SGD',
        '18,000 MX$ monthly': 'MXN',
        '$15,000 MXN/mes': 'MXN',
        'R 12 500 per month': 'ZAR',
        'RM 1,800 / month': 'MYR',
        '₦250,000 per month': 'NGN',
        '6500元/月': 'CNY',
        "Fr. 1'890.- pro Monat": 'CHF',
      },
      (text) => currencyIn(text),
    );
    for (const [sign, host, code] of [
      ['12 500 kr/mån', 'www.hemnet.se', 'SEK'],
      ['10.000 kr./md.', 'www.boligportal.dk', 'DKK'],
      ['kr 14 000,-/mnd', 'www.finn.no', 'NOK'],
      ['12 500 kr/mån', 'portal.example', undefined],
      ['$550 pw', 'www.domain.com.au', 'AUD'],
      ['$2,300/mo', 'www.rentals.ca', 'CAD'],
      ['US$2,300/mo', 'www.rentals.ca', 'USD'],
      ['¥85,000/月', 'suumo.jp', 'JPY'],
    ] as const)
      it(`of several countries is ${code} in ${sign} of ${host}`, () => expect(currencyIn(sign, host)).to.equal(code));
    it('is none in words that are spelt as a code', () => {
      for (const text of ['Ron Byrne, 12 Main St', 'lei abita al 5', 'D02 X285', 'R93 AB12']) expect(hasPrice(text), text).to.equal(false);
    });
  });

  it('takes linear time', async () => {
    for (const part of ['€1', '1,', '123 ', '€1,850 ', 'parking ', '|', 'was ', '€1 per month ', 'bed ', '2 ', '\n2\nBeds'])
      for (const read of [rentIn, (text: string) => bedsIn(factsOf(text))])
        await expectLinearTime((parts) => read(part.repeat((parts * 2500) / part.length)), part);
  });
});

describe('beds and baths', () => {
  cases<readonly [beds: number | undefined, baths: number | undefined]>(
    (text, [beds, baths]) => `are ${String(beds)} and ${String(baths)} in ${text}`,
    {
      'Beds\n2\nBaths\n1': [2, 1],
      'Bedrooms:\n\n3\n\nBathrooms:\n\n2': [3, 2],
      '3\nBeds\n2\nBaths': [3, 2],
      'Bedrooms | 3 | Bathrooms | 2': [3, 2],
      'Bedrooms (3), Bathrooms (2)': [3, 2],
      'Three (3) bedrooms, two (2) bathrooms': [3, 2],
      'Two bed, one bath': [2, 1],
      'three-bedroomed house with two-bath': [3, 2],
      '2 x double bedrooms and 1 × bathroom': [2, 1],
      '2 no. bedrooms, 1 no. bath': [2, 1],
      '2½ bath, 4 bed': [4, 2],
      'Two and a half baths, four beds': [4, 2],
      '2 large, bright bedrooms, 1 main bathroom': [2, 1],
      '2 dbl bedrooms, 1 full bath': [2, 1],
      '3+1 bed, 2 bath': [3, 2],
      'Min 3 beds. 2 bed 1 bath': [2, 1],
      '2 Schlafzimmer, 1 Bad': [2, 1],
      'Drei Schlafzimmer, zwei Bäder': [3, 2],
      'deux chambres, une salle de bain': [2, 1],
      '3 dormitorios, 2 baños': [3, 2],
      'due camere da letto, un bagno': [2, 1],
      'twee slaapkamers, één badkamer, 1 badkamer': [2, 1],
      'três quartos, duas casas de banho': [3, 2],
      'two double and one single bedrooms, one bath': [3, 1],
      '2 large double & 1 single bedrooms': [3, undefined],
      '3-Zimmer-Wohnung mit 1 Bad': [2, 1],
      '3,5 Zimmer': [2, undefined],
      '3 Zi.': [2, undefined],
      '2 bds | 1 ba': [2, 1],
      '2 hab. 90 m²': [2, undefined],
      '2 dorm.': [2, undefined],
      '3 p · 2 ch · 65 m²': [2, undefined],
      '2 ch 1200 €': [2, undefined],
      'Seestrasse 12 CH-8001 Zürich': [undefined, undefined],
      'Seestrasse 12, 3 CH 8001 Zürich': [undefined, undefined],
      '4+ beds': [4, undefined],
      'Trilocale via Roma': [2, undefined],
      '4 Zimmer, davon 2 Schlafzimmer': [2, undefined],
      '1 Zimmer': [0, undefined],
      'appartement de deux pièces': [1, undefined],
      '1.850 Zimmer': [undefined, undefined],
      'Zimmer: 3,5, Bäder: 1': [2, 1],
      'Antal rum: 2': [1, undefined],
      'Værelser: 3': [2, undefined],
      'Liczba pokoi: 2': [1, undefined],
      'Schlafzimmer\n2\nBadezimmer\n1': [2, 1],
      'Habitaciones: 2 | Baños: 1': [2, 1],
      '3½-Zimmerwohnung': [2, undefined],
      '3 pokoje, 1 łazienka': [2, 1],
      'byt 2+kk 45 m²': [1, undefined],
      '3 værelser': [2, undefined],
      '2 soverom, 1 bad': [2, 1],
      '2-комнатная': [1, undefined],
      '2 BHK flat': [2, undefined],
      'Bed(s): 3': [3, undefined],
      'Appartement T3 · 65 m²': [2, undefined],
      'Appartement F2 à louer': [1, undefined],
      'T3 duplex | 2 casas de banho | Renda 1 450 €': [3, 2],
      'Arriving at Terminal T3': [undefined, undefined],
      'Kiralık daire 2+1 90 m²': [2, undefined],
      'Pronájem bytu 3+1': [2, undefined],
      'Apartament 3 camere, 550 €/lună': [2, undefined],
      '3 camere da letto': [3, undefined],
      '3 ambientes': [2, undefined],
      '3 recámaras, 2 baños': [3, 2],
      'Dormitórios: 2 | Banheiros: 1': [2, 1],
      '3-værelses lejlighed': [2, undefined],
      '2h+k, 48 m²': [1, undefined],
      '3h + kt + s': [2, undefined],
      Pentalocale: [4, undefined],
      'Двустаен апартамент': [1, undefined],
      '3-кімнатна квартира': [2, undefined],
      '2-izbový byt': [1, undefined],
      '3室2厅1卫': [3, undefined],
      '3 חדרים': [2, undefined],
      'Zimmer: 3 CHF': [2, undefined],
    },
    (text) => [bedsIn(factsOf(text)), bathsIn(factsOf(text))],
  );
});

describe('the type', () => {
  cases(
    (text, type) => `is ${type} in ${text}`,
    {
      'Schöne Wohnung': 'Apartment',
      'Bel appartement': 'Apartment',
      Haus: 'House',
      'maison de ville': 'House',
      'casa in affitto': 'House',
      'duas casas de banho, uma casa de banho': undefined,
      'Casa Mia apartment': 'Apartment',
      'Maison Studio': 'Studio',
      Dachgeschosswohnung: 'Apartment',
      'Reihenhaus am Rathaus': 'House',
      'mieszkanie na wynajem': 'Apartment',
      'chambre en colocation': 'Shared',
      'Departamento en alquiler': 'Apartment',
      'Garsonieră de închiriat': 'Studio',
      '3-Zi.-Whg.': 'Apartment',
    },
    typeOf,
  );
  for (const text of ['Hausmann', 'Nähe Krankenhaus', 'Houses', 'Wohnungen', 'a room'])
    it(`is none in ${text}`, () => expect(typeOf(text)).to.equal(undefined));
});
