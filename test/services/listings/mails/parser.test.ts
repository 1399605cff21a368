// Reading alert mails: each rule on a mail that shows it, and whole mails as mail programs leave them.
import { expect } from 'chai';
import { readWorkerConfig } from '../../../../services/listings/config.ts';
import { parseAlertMail } from '../../../../services/listings/mails/parser.ts';
import { alertMail, card, fixture, linkTo } from './alert-mails.ts';

const { linkPattern } = readWorkerConfig({ DATABASE_URL: 'postgres://nobody/nothing' });
async function listingsIn(raw: Buffer, pattern = linkPattern) {
  const parsed = await parseAlertMail(raw, pattern);
  if (parsed.kind !== 'listings') return [parsed];
  return parsed.listings.map((one) => (one.kind === 'listing' ? one.listing : one));
}
/** The first listing, or why there is none. */
const parse = async (raw: Buffer, pattern = linkPattern) => (await listingsIn(raw, pattern))[0] ?? { kind: 'none' };
async function listingIn(raw: Buffer, pattern = linkPattern) {
  const first = await parse(raw, pattern);
  if (!('sourceId' in first)) throw new Error(JSON.stringify(first));
  return first;
}
const listingOf = (parts: Parameters<typeof card>[0]) => listingIn(alertMail({ html: card(parts) }));
const inText = (text: string) => listingIn(alertMail({ text: `${text}\r\n${linkTo(1)}` }));

describe('parseAlertMail', () => {
  it('reads an alert of daft.ie: quoted-printable, both parts, encoded subject, links that count clicks', async () => {
    const sourceUrl = 'https://www.daft.ie/for-rent/house-27-leinster-road-rathmines-dublin-6/5912345';
    expect(await listingIn(await fixture('daft-alert.eml'))).to.deep.include({
      sourceId: '5912345',
      sourceUrl,
      address: '27 Leinster Road, Rathmines, Dublin 6, D06 W2F4',
      eircode: 'D06 W2F4',
      routingKey: 'D06',
      priceMonthly: 3250,
      beds: 4,
      baths: 3,
      propertyType: 'House',
      berRating: 'C1',
      mainImageUrl: 'https://media.daft.ie/photos/5912345/main.jpg?w=600',
    });
  });

  it('reads an alert that Outlook forwarded in base64', async () => {
    const read = await listingIn(await fixture('forwarded-by-outlook.eml'));
    expect(read).to.include({
      sourceId: '5900777',
      address: '5 Mount Street Lower, Dublin 2',
      priceMonthly: 1495,
      propertyType: 'Studio',
      berRating: 'D2',
      baths: 1,
    });
  });

  it('reads a mail of text alone, in another character set', async () => {
    const read = await listingIn(await fixture('plain-text.eml'));
    expect(read).to.include({
      sourceId: '5907001',
      address: '14 Patrick Street, Cork, T12 W8K3',
      priceMonthly: 1200,
      propertyType: 'Shared',
      berRating: 'Exempt',
    });
    expect(read).to.include({ beds: 1, baths: 2, sourceUrl: 'https://www.daft.ie/for-rent/room-14-patrick-street-cork/5907001' });
  });

  it('prefers the HTML part, and takes the text where that has no listing link', async () => {
    const text = `Flat 1, Cork, T12 W8K3\r\n€900 per month\r\n${linkTo(2)}`;
    expect(await listingIn(alertMail({ html: card({ id: 1 }), text }))).to.include({ sourceId: '1', priceMonthly: 1850 });
    expect(await listingIn(alertMail({ html: '<p>See the text</p>', text }))).to.include({ sourceId: '2', priceMonthly: 900 });
  });

  it('takes no button, picture or price for the address', async () => {
    const html = `<div><a href="${linkTo(1)}"><img src="https://media.daft.ie/1.jpg"></a><a href="${linkTo(1)}">€1,950 pcm</a><br>12 High Street, Cork<br><a href="${linkTo(1)}">View property</a></div>`;
    expect((await listingIn(alertMail({ html }))).address).to.equal('12 High Street, Cork');
  });

  describe('the listing link', () => {
    it('may go on in the next line of a text, between < and >', async () => {
      const text = `Apt 1, D04 X285\r\n€1,850 per month\r\n<https://www.daft.ie/for-rent/the-elms/555\r\n1234>`;
      expect((await listingIn(alertMail({ text }))).sourceId).to.equal('5551234');
    });

    const linked = async (attributes: string) => (await listingIn(alertMail({ html: `<a ${attributes}>1 Main St</a> €900 per month` }))).sourceUrl;
    const safe = (url: string) => `https://eur01.safelinks.protection.outlook.com/?url=${encodeURIComponent(url)}&amp;data=05`;

    it('has the form /for-rent/<slug>/<digits> on daft.ie; what follows is dropped', async () => {
      expect(await linked(`href="${linkTo(77)}?utm_source=x#photos"`)).to.equal(linkTo(77));
      expect(await linked(`href="http://daft.ie/for-rent/a/77/"`)).to.equal('http://daft.ie/for-rent/a/77');
    });

    it('is originalsrc before href', async () => {
      expect(await linked(`href="${linkTo(1)}" originalsrc="${linkTo(2)}"`)).to.equal(linkTo(2));
      expect(await linked(`href="${linkTo(1)}" originalsrc="https://example.org"`)).to.equal(linkTo(1));
    });

    it('is taken out of SafeLinks, however often they were wrapped', async () => {
      expect(await linked(`href="${safe(linkTo(3))}"`)).to.equal(linkTo(3));
      expect(await linked(`href="${safe(safe(linkTo(3)).replace('&amp;', '&'))}"`)).to.equal(linkTo(3));
    });

    it('is taken out of what mail services and security gateways put in its place', async () => {
      const counted = `https://x1.r.eu-west-1.awstrack.me/L0/${encodeURIComponent(linkTo(4))}/1/0102-000000/sig=30`;
      const checked = `https://urldefense.com/v3/__${linkTo(4)}__;!!AbC!token$`;
      for (const url of [counted, checked, safe(counted)]) expect(await linked(`href="${url}"`)).to.equal(linkTo(4));
    });

    it('is the first of several, and a second listing lends it nothing', async () => {
      const html = card({ id: 1, facts: '2 Bed' }) + card({ id: 2, price: '€2,000 per month', facts: '3 Bed · 4 Bath · House' });
      const read = await listingIn(alertMail({ html }));
      expect(read).to.include({ sourceId: '1', priceMonthly: 1850, beds: 2 });
      expect([read.baths, read.propertyType]).to.deep.equal([undefined, undefined]);
    });

    for (const link of [
      'https://www.daft.ie/for-sale/a/1',
      'https://www.daft.ie/for-rent/a/1x',
      'https://daft.ie.example.org/for-rent/a/1',
      'https://notdaft.ie/for-rent/a/1',
    ]) {
      it(`is not ${link}`, async () => {
        expect(await parse(alertMail({ html: card({ link }) }))).to.deep.equal({ kind: 'ignored', reason: 'no listing link' });
      });
    }

    it('has the pattern of the setting', async () => {
      const { linkPattern: own } = readWorkerConfig({
        DATABASE_URL: 'postgres://nobody/nothing',
        Ingest__LinkPattern: String.raw`^https://rent\.example/l\?id=(\w+)`,
      });
      const link = 'https://rent.example/l?id=Ab9&amp;from=mail';
      const read = await listingIn(alertMail({ html: card({ link }) }), own);
      expect([read.sourceId, read.sourceUrl]).to.deep.equal(['Ab9', 'https://rent.example/l?id=Ab9']);
      expect(await parse(alertMail(), own)).to.include({ kind: 'ignored' });
      for (const [pattern, fault] of [
        [String.raw`rent\.example/l`, 'must have a group'],
        [String.raw`rent\.example/(?:l|m)`, 'must have a group'],
        ['rent(', 'must be a regular expression'],
      ] as const)
        expect(() => readWorkerConfig({ DATABASE_URL: 'postgres://nobody/nothing', Ingest__LinkPattern: pattern })).to.throw(fault);
    });
  });

  describe('the facts of a listing', () => {
    const search = '<p>Your alert House in Dublin, min 3 beds, up to €2,500 per month</p>';

    it('are read from its link outward: the saved search tells nothing that the card tells', async () => {
      const html = `<div>${search}${card({ price: '€1,850 per month', facts: '2 Bed · Apartment' })}<p class="address">Agency Ltd, 1 High St</p></div>`;
      expect(await listingIn(alertMail({ html }))).to.include({ priceMonthly: 1850, beds: 2, propertyType: 'Apartment' });
      expect((await listingIn(alertMail({ html }))).address).to.equal('Apartment 12, The Elms, Dublin 4, D04 X285');
      expect((await listingIn(alertMail({ html: `${search}${card({ facts: 'Call us' })}` }))).beds).to.equal(undefined);
    });

    it('are those of each of several listings, in cards, rows of a table and lines of text', async () => {
      const facts = async (mail: Parameters<typeof alertMail>[0]) =>
        (await listingsIn(alertMail(mail))).map((one) => ('sourceId' in one ? [one.sourceId, one.priceMonthly, one.beds, one.address] : one));
      const expected = [
        ['1', 1850, 2, '1 Main St'],
        ['2', 2000, 3, '2 Main St'],
        ['3', 950, undefined, '3 Main St'],
      ];
      const parts = [
        { id: 1, address: '1 Main St', price: '€1,850 per month', facts: '2 Bed' },
        { id: 2, address: '2 Main St', price: '€2,000 per month', facts: '3 Bed' },
        { id: 3, address: '3 Main St', price: '€950 per month', facts: 'A room' },
      ];
      expect(await facts({ html: `<div>${search}${parts.map(card).join('')}</div>` })).to.deep.equal(expected);
      const row = ({ id, address, price, facts }: (typeof parts)[number]) =>
        `<tr><td><a href="${linkTo(id)}"><img src="https://media.daft.ie/${id}.jpg"></a></td></tr><tr><td><a href="${linkTo(id)}">${address}</a></td></tr><tr><td>${price}<br>${facts}</td></tr>`;
      expect(await facts({ html: `<table>${parts.map(row).join('')}</table>` })).to.deep.equal(expected);
      const before = parts.map(({ id, address, price, facts }) => `${address}, D04 X28${id}\r\n${price}\r\n${facts}\r\n${linkTo(id)}`).join('\r\n\r\n');
      const inText = expected.map(([id, price, beds, address]) => [id, price, beds, `${String(address)}, D04 X28${String(id)}`]);
      expect(await facts({ text: before })).to.deep.equal(inText);
      const quoted = before.replaceAll(/^/gm, '> ');
      expect(await facts({ text: quoted })).to.deep.equal(inText);
    });

    const two = [
      ['1', 1850, 2, 'Apt 1, D04 X285'],
      ['2', 1950, 3, 'Apt 2, D02 X286'],
    ];
    const [apt1, apt2] = [`<a href="${linkTo(1)}">Apt 1, D04 X285</a>`, `<a href="${linkTo(2)}">Apt 2, D02 X286</a>`];
    const photo = (id: number) => `<a href="${linkTo(id)}"><img src="https://media.daft.ie/${id}.jpg"></a>`;
    for (const [layout, html] of Object.entries({
      'two columns, pictures above facts': `<table><tr><td>${photo(1)}</td><td>${photo(2)}</td></tr><tr><td>€1,850 per month<br>2 Bed<br>${apt1}</td><td>€1,950 per month<br>3 Bed<br>${apt2}</td></tr></table>`,
      'a picture, facts and a button in rows': [1, 2]
        .map(
          (id) =>
            `<tr><td>${photo(id)}</td></tr><tr><td>Apt ${id}, D0${id === 1 ? '4 X285' : '2 X286'}</td></tr><tr><td>€1,${7 + id}50 per month</td></tr><tr><td>${id + 1} Bed</td></tr><tr><td><a href="${linkTo(id)}">View</a></td></tr>`,
        )
        .join(''),
      'lines, facts before the link': `<body>€1,850 per month<br>2 Bed<br>${apt1}<br><br>€1,950 per month<br>3 Bed<br>${apt2}</body>`,
      'lines, facts behind the link': `<body>Your search: rent €1,000 per month and more<br>${apt1}<br>€1,850 per month<br>2 Bed<br><br>${apt2}<br>€1,950 per month<br>3 Bed</body>`,
    }))
      it(`are those of each listing in ${layout}`, async () => {
        const found = await listingsIn(alertMail({ html }));
        expect(found.map((one) => ('sourceId' in one ? [one.sourceId, one.priceMonthly, one.beds, one.address] : one))).to.deep.equal(two);
      });

    it('have the currency that is written', async () => {
      expect(await listingOf({ price: '£1,950 pcm' })).to.include({ priceMonthly: 1950, currency: 'GBP' });
      expect((await listingOf({ price: '€1,950 per month' })).currency).to.equal('EUR');
    });

    it('are on one line with the address', async () => {
      for (const line of [
        'Apt 1, The Elms, D04 X285 - €1,850 per month',
        '€1,850 per month, Apt 1, The Elms, D04 X285',
        '2 Bed | Apt 1, The Elms, D04 X285 | €1,850 pcm',
      ])
        expect(await inText(line), line).to.include({ priceMonthly: 1850, address: 'Apt 1, The Elms, D04 X285' });
    });

    it('tell that the listing is withdrawn', async () => {
      expect((await listingOf({ facts: '2 Bed<br>LET AGREED' })).withdrawn).to.equal(true);
      expect((await listingOf({ facts: '2 Bed<br>Not let agreed yet' })).withdrawn).to.equal(undefined);
      const price = `Let agreed<br><b><a href="${linkTo(5551234)}">€1,850 per month</a></b>`;
      expect((await listingOf({ price })).withdrawn).to.equal(true);
    });

    for (const other of ['<h2>Let agreed</h2>', '<div>Flat 9, Cork<br>€900 per month<br>Let agreed</div>'])
      it(`do not tell that it is withdrawn with ${other} elsewhere in its mail`, async () => {
        for (const html of [`<div>${other}${card()}</div>`, `<div>${card()}${other}</div>`])
          expect((await listingIn(alertMail({ html }))).withdrawn).to.equal(undefined);
      });

    it('fail one listing alone that lacks its price', async () => {
      const html = `${card({ id: 1, price: 'On application' })}${card({ id: 2 })}`;
      const [first, second] = await listingsIn(alertMail({ html }));
      expect(first).to.deep.equal({ kind: 'failed', reason: 'no price' });
      expect(second).to.include({ sourceId: '2', priceMonthly: 1850 });
    });

    for (const [price, expected] of Object.entries({
      '<s>€2,000 per month</s> €1,850 per month': 1850,
      '<del>€2,000</del> €1,850 per month': 1850,
      '<span style="text-decoration: line-through">€2,000 per month</span> €1,850 per month': 1850,
      'Was €2,000 per month, now €1,850 per month': 1850,
      'From €1,500 to €2,100 per month': 1500,
      '€1,500 – €2,100 per month': 1500,
      '<div style="display:none">€3,000 per month, 5 Bed House</div>€1,850 per month': 1850,
      '<span style="font-size:0">€3,000 per month</span>€1,850 per month': 1850,
      '<p hidden>€3,000 per month</p>€1,850 per month': 1850,
      '<i class="old-price">€2,000 per month</i> €1,850 per month': 1850,
      '€2,000 per month → €1,850 per month': 1850,
      '€2,000 per month -> €1,850 per month': 1850,
      'Price changed from €2,000 per month to €1,850 per month': 1850,
      'Reduced by €150 per month to €1,850 per month': 1850,
      'Save €150 per month! €1,850 per month': 1850,
      'Parking: €100 per month. Rent: €1,850 per month': 1850,
      'Deposit of €1,900 per month, €1,850 per month': 1850,
      '€1,850 per month (was €2,000 per month)': 1850,
      '2 Bed, 1 Bath, Parking<br>€1,850 per month': 1850,
      'Bills: €90 per month, €1,850 per month': 1850,
      '€1,850 per month<br>» View property': 1850,
      '€1,850 per month → View': 1850,
      '€1,850 per month » 2 bed': 1850,
      '€2,000 per month ➜ now: 1,850 € per month': 1850,
    }))
      it(`give ${expected} for ${price}`, async () => expect((await listingOf({ price })).priceMonthly).to.equal(expected));

    for (const [facts, beds] of Object.entries({
      '2-bed': 2,
      '3 double bedrooms': 3,
      'Two bedroom': 2,
      'Three-bed house': 3,
      '2 to 3 bed': 2,
      '2-3 bedrooms': 2,
      'four spacious double bedrooms': 4,
      '2/3 bed': 2,
      '2‑bed': 2,
      '2 – 3 bed': 2,
      'Bedrooms: 2, Bathrooms: 1': 2,
      'Beds 2 Baths 1': 2,
      'No. of bedrooms: 3': 3,
      '2BR apartment': 2,
      'eleven beds': 11,
      '1.5 Bath, 3 Bed': 3,
    }))
      it(`count ${beds} beds in "${facts}"`, async () => expect((await listingOf({ facts })).beds).to.equal(beds));

    it('are of visible links only', async () => {
      const html = `<div style="display:none"><a href="${linkTo(9)}">Hidden</a></div>${card({ id: 1 })}`;
      expect((await listingsIn(alertMail({ html }))).map((one) => ('sourceId' in one ? one.sourceId : one))).to.deep.equal(['1']);
    });
  });

  describe('the price', () => {
    const prices: Readonly<Record<string, number>> = {
      '€1,850 per month': 1850,
      '€ 1,850.50 per month': 1850.5,
      '€950 a month': 950,
      '€950/month': 950,
      '€12,950 pcm': 12_950,
      'EUR 950 p/m': 950,
      '<b>€1,850</b> <span>per&nbsp;month</span>': 1850,
      '€0 per month, then €900 per month': 900,
      'Deposit €500. €900 per month': 900,
      '€300 per week': 1300,
      '€300 per week or €1,250 per month': 1250,
      '1,850 € per month': 1850,
      '1850 EUR p.c.m.': 1850,
      '1,850 euro a month': 1850,
      '€1.850 per month': 1850,
      '€1.850,50 per month': 1850.5,
      '€1 850 per month': 1850,
      '€1,850 (per month)': 1850,
      '€1,850 <small>/mo</small>': 1850,
      '€1,850 each month': 1850,
      'Monthly rent: €1,850': 1850,
      'Per month: €1,850': 1850,
      '€1,234,567 per month': 1_234_567,
    };
    for (const [price, expected] of Object.entries(prices)) {
      it(`of "${price}" is ${expected}`, async () => expect((await listingOf({ price })).priceMonthly).to.equal(expected));
    }
    for (const price of ['€0 per month', '', 'Price on application', 'Deposit €900', '1,850 per month', '€ per month', '€1,850 per moment', '€1,850 a mile']) {
      it(`is not in "${price}", and the mail has failed`, async () => {
        expect(await parse(alertMail({ html: card({ price }) }))).to.deep.equal({ kind: 'failed', reason: 'no price' });
      });
    }

    it('in a sign of several countries has failed, where the portal tells of none', async () => {
      const failed = await parse(alertMail({ html: card({ price: '12 500 kr per month' }) }));
      expect(failed).to.deep.equal({ kind: 'failed', reason: 'kr is the currency of several countries' });
    });

    it('above what is kept has failed, with the reason', async () => {
      const parsed = await parse(alertMail({ html: card({ price: '€100,000,000 per month' }) }));
      expect(parsed).to.deep.equal({ kind: 'failed', reason: 'priceMonthly must be at most 99999999.99' });
    });
  });

  describe('beds and baths', () => {
    it('are the number before Bed and Bath', async () => {
      expect(await listingOf({ facts: '3 Beds | 2 Baths' })).to.include({ beds: 3, baths: 2 });
      expect(await listingOf({ facts: '1 bedroom, 1 bathroom' })).to.include({ beds: 1, baths: 1 });
      expect(await listingOf({ facts: 'Beds: 3 Baths: 2' })).to.include({ beds: 3, baths: 2 });
      expect(await listingOf({ facts: '3 beds 2 baths' })).to.include({ beds: 3, baths: 2 });
      expect(await listingOf({ facts: '2 Bed 1.5 Bath' })).to.include({ beds: 2, baths: 1 });
      expect(await listingOf({ facts: '<td>10 Bed</td><td>2 Bath</td>' })).to.include({ beds: 10, baths: 2 });
    });

    it('are unknown without it, so that a new listing gets 0 and a known one keeps what it has', async () => {
      const { beds, baths } = await listingOf({ facts: 'Bed and Bath; en-suite' });
      expect([beds, baths]).to.deep.equal([undefined, undefined]);
    });

    it('are not read out of the address', async () => {
      const { beds, baths, propertyType } = await listingOf({ address: '7 Bath Avenue, 12 Bed House Lane, Dublin 4', facts: '1 Bath' });
      expect([beds, baths, propertyType]).to.deep.equal([undefined, 1, undefined]);
    });
  });

  describe('the type', () => {
    for (const type of ['House', 'Apartment', 'Studio', 'Shared']) {
      it(`is ${type}, a whole word in any case`, async () => {
        expect((await listingOf({ facts: `Lovely ${type.toUpperCase()}, 2 Bed` })).propertyType).to.equal(type);
        expect((await listingOf({ facts: `${type}s, 2 Bed` })).propertyType).to.equal(undefined);
      });
    }
  });

  describe('the energy grade', () => {
    const grade = async (facts: string) => (await listingOf({ facts })).berRating;
    it('comes from the name of its image', async () => {
      expect(await grade('<img src="https://static.daft.ie/ber/B2.svg">')).to.equal('B2');
      expect(await grade('<img src="https://static.daft.ie/i/ber_a3@2x.png?v=C1">')).to.equal('A3');
      expect(await grade('<img src="cid:BERG.png">')).to.equal('G');
      expect(await grade('<img src="https://static.daft.ie/ber/exempt.png">')).to.equal('Exempt');
    });

    it('comes from the text where there is no such image, or it names no grade', async () => {
      expect(await grade('BER C3')).to.equal('C3');
      expect(await grade('BER Rating: e1 <img src="https://static.daft.ie/ber/logo.png"><img src="https://media.daft.ie/A1.png">')).to.equal('E1');
    });

    it('of the image comes before that of the text', async () => {
      expect(await grade('BER C3 <img src="https://static.daft.ie/ber/B1.png">')).to.equal('B1');
    });

    it('is none when nothing names one that there is', async () => {
      for (const facts of ['BER D3', 'BER: pending', 'NUMBER B2', '<img src="https://media.daft.ie/number/B2.png">'])
        expect(await grade(facts)).to.equal(undefined);
    });
  });

  describe('the address', () => {
    const html = (before: string) => `${before}<p>Elsewhere, T12 W8K3</p><a href="${linkTo(1)}">The link</a> €900 per month`;
    const address = async (before: string) => (await listingIn(alertMail({ html: html(before) }))).address;

    it('is the text of the first element whose class or css-class names it', async () => {
      expect(await address('<span class="card propertyAddress"> 1 Main <b>St</b>,&nbsp;<br> Cork </span><i class="address">2</i>')).to.equal('1 Main St, Cork');
      expect(await address('<span css-class="address">1 Main St</span>')).to.equal('1 Main St');
      expect(await address('<i class="address">\u200c </i><i class="address">1 Main St</i>')).to.equal('1 Main St');
    });

    for (const [before, expected] of [
      ['<i class="email-address">info@agent.example</i><i class="address">1 Main St</i>', '1 Main St'],
      ['<i class="emailAddress">Agent</i><i class="address">1 Main St</i>', '1 Main St'],
      ['<i class="address no-email-link">1 Main St</i>', '1 Main St'],
      ['<i class="address">info@agent.example</i><i class="address">1 Main St</i>', '1 Main St'],
      ['<i class="address">https://agent.example/a</i><i class="address">www.agent.example</i><i class="address">1 Main St</i>', '1 Main St'],
      ['<i class="web-address">agent.example</i><i class="ip-address">1.2.3.4</i><i class="address">1 Main St</i>', '1 Main St'],
      ['<i class="agent-address">5 Other Rd</i><i class="office_address">5 Other Rd</i><i class="property-address">1 Main St</i>', '1 Main St'],
      ['<i class="shipping">1</i><i class="strip-address">1 Main St</i>', '1 Main St'],
    ] as const)
      it(`is that of the flat in ${before}`, async () => expect(await address(before)).to.equal(expected));

    it('is else the line that holds an eircode', async () => {
      expect(await address('<p>In the D02 year</p>')).to.equal('Elsewhere, T12 W8K3');
      expect((await inText('New!\r\n1 Main St, Dublin 6W, d6wxy00\r\n€900 per month')).address).to.equal('1 Main St, Dublin 6W, d6wxy00');
    });

    it("is else the listing link's text", async () => {
      const link = (text: string) => `<a href="${linkTo(1)}">${text}</a>`;
      const parsed = await listingIn(alertMail({ html: `${link('<img src="https://media.daft.ie/1.jpg">')}${link('1 Main St')} €900 per month` }));
      expect(parsed.address).to.equal('1 Main St');
    });

    it('gives the eircode, with its routing key', async () => {
      const upper = await inText('1 Main St, Dublin 6W, d6wxy00\r\n€900 per month');
      expect([upper.eircode, upper.routingKey]).to.deep.equal(['D6W XY00', 'D6W']);
      expect((await listingOf({ address: '1 Main St' })).eircode).to.equal(undefined);
    });

    it('is needed', async () => {
      expect(await parse(alertMail({ text: `€900 per month ${linkTo(1)}` }))).to.deep.equal({ kind: 'failed', reason: 'no address' });
      expect(await parse(alertMail({ html: card({ address: 'x'.repeat(513) }) }))).to.deep.equal({
        kind: 'failed',
        reason: 'address must be at most 512 characters long',
      });
    });
  });

  it('sees nothing in styles, scripts, titles and comments', async () => {
    const hidden = '<style>9 Bed €9,999 per month</style><script>"8 Bath"</script><!-- House --><title>7 Bed</title>';
    expect(await listingOf({ price: `${hidden}€900 per month`, facts: 'Studio' })).to.include({ priceMonthly: 900, propertyType: 'Studio' });
  });

  it('says that the content of a mail is sealed', async () => {
    const raw = 'From: a@x\r\nContent-Type: application/pkcs7-mime\r\nContent-Transfer-Encoding: base64\r\n\r\nMIIB\r\n';
    expect(await parse(Buffer.from(raw))).to.have.property('kind', 'failed');
  });

  it('ignores a mail without a body, and what is no mail', async () => {
    for (const raw of ['Subject: hello\r\n\r\n', 'no mail at all', '\0\u00ff'.repeat(1000)])
      expect(await parse(Buffer.from(raw))).to.include({ kind: 'ignored' });
  });
});
