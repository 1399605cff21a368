// The area of listings, on a real service.
import { expect } from 'chai';
import { flats, hostile, useListings } from './listings-fixture.ts';

describe('console listings', () => {
  const running = useListings({ Console__ImageOrigins: 'https://pictures.example' });
  const { console } = running;

  describe('the list', () => {
    it('shows what waits with rent, facts and portal, and one entry for a flat at two portals', async () => {
      const { status, text } = await (await console.loggedIn()).get('/listings?preset=none');
      expect(status).to.equal(200);
      for (const { address } of flats.filter(({ sourceId }) => !sourceId.startsWith('quay'))) expect(text).to.include(address);
      expect(text).to.include('BER A2').and.include('daft.ie').and.include('€1,850');
      expect(text.match(/data-row=/g)).to.have.length(flats.length - 1);
      expect(text).to.include('Same flat:').and.include('rent.example €2,120');
      expect(text).to.include(`>${flats.length - 1} flats in ${flats.length} listings</span>`);
    });

    it('shows the former rent beside a changed one', async () => {
      await running.ingest([{ ...flats[2], priceMonthly: 1700 }]);
      const { text } = await (await console.loggedIn()).get('/listings?preset=none');
      expect(text).to.include('€1,700').and.include('€1,850</s>').and.include('−€150');
    });

    it('shows pictures of the configured origins only', async () => {
      await running.ingest([{ ...flats[2], mainImageUrl: 'https://other.example/canal.jpg' }]);
      const { text } = await (await console.loggedIn()).get('/listings?preset=none');
      expect(text).to.include('src="https://pictures.example/quay.jpg"').and.not.include('other.example');
    });

    it('applies the filters of the address, and offers to clear them where nothing matches', async () => {
      const browser = await console.loggedIn();
      const { text } = await browser.get('/listings?maxPrice=1700&minBeds=&sort=price-asc');
      expect(text).to.include('Parnell').and.include('Patrick Hill').and.not.include('Canal Row');
      expect(text.indexOf('Parnell')).to.be.below(text.indexOf('Patrick Hill'));
      expect((await browser.get('/listings?search=nowhere')).text).to.include('Clear filters');
      expect((await browser.get('/listings?minBeds=x')).status).to.equal(400);
    });

    it('is where the search of all areas leads, with the same words', async () => {
      const browser = await console.loggedIn();
      const [, all = ''] = /href="(\/listings\?[^"]+)"/.exec((await browser.get('/search?q=Canal')).text) ?? [];
      expect((await browser.get(all)).text)
        .to.include('Canal Row')
        .and.not.include('Parnell');
    });

    it('applies the default preset unless another one, or filters, are asked for, and counts each', async () => {
      const cheap = await running.preset({ name: 'Cheap', maxPrice: 1700, isDefault: true });
      const large = await running.preset({ name: 'Large', minBeds: 4, propertyTypes: ['House', 'Apartment'] });
      const browser = await console.loggedIn();
      const usual = (await browser.get('/listings')).text;
      expect(usual).to.include('Parnell').and.not.include('Canal Row');
      expect(usual)
        .to.match(new RegExp(`preset=${cheap}" aria-current="true"><span>Cheap</span><span class="count">2<`))
        .and.match(/Large<\/span><span class="count">1</);
      expect(usual).to.include('name="maxPrice" value="1700"');
      const { text } = await browser.get(`/listings?preset=${large}`);
      expect(text).to.include('Sea View').and.include('>House, Apartment<').and.not.include('Parnell');
      expect((await browser.get('/listings?minPrice=3000')).text)
        .to.include('Sea View')
        .and.not.include('Parnell');
      expect((await browser.get('/listings?preset=none')).text).to.include('Canal Row');
    });

    it('says where a count of a preset ends', async () => {
      await running.query(`
        insert into properties (id, source_id, source_url, address, price_monthly, currency, beds, baths, property_type, status, received_at)
        select gen_random_uuid(), 'many' || n, 'https://www.daft.ie/for-rent/x/1', 'x', 100, 'EUR', 1, 1, 'House', 'inbox', now() from generate_series(1, 1001) n`);
      await running.preset({ name: 'Cheap', maxPrice: 100 });
      const browser = await console.loggedIn();
      for (const path of ['/listings', '/presets']) expect((await browser.get(path)).text, path).to.include('>1,000+<');
    });

    it('leads on by a cursor with its filters', async () => {
      await running.ingest(
        Array.from({ length: 60 }, (_, index) => ({ ...flats[2], sourceId: `n${index}`, address: `${index} North Road`, eircode: undefined })),
      );
      const browser = await console.loggedIn();
      const first = await browser.get('/listings?search=north&view=rows');
      expect(first.text.match(/data-row=/g)).to.have.length(50);
      const [, next = ''] = /href="(\/listings\?[^"]*after=[^"]+)"/.exec(first.text) ?? [];
      const second = await browser.get(next.replaceAll('&amp;', '&'));
      expect(second.text.match(/data-row=/g)).to.have.length(10);
    });

    it('shows hostile texts as texts, on every page', async () => {
      const sourceUrl = `https://www.daft.ie/for-rent/x/9?q=${encodeURIComponent(hostile)}`;
      await running.ingest([{ ...flats[2], sourceId: 'hostile', sourceUrl, address: `${hostile} 1`, mainImageUrl: 'https://pictures.example/"onload="x' }]);
      const [{ id }] = await running.query(`select id from properties where source_id = 'hostile'`);
      await running.call('PATCH', `/api/properties/${id}`, { notes: hostile });
      const preset = await running.preset({ name: hostile });
      const browser = await console.loggedIn();
      const wanted = [
        '/listings?preset=none',
        '/listings?view=rows&preset=none',
        `/listings?search=${encodeURIComponent(hostile)}`,
        `/listings/${id}`,
        '/presets',
        `/presets/${preset}`,
      ];
      for (const path of [
        ...wanted,
        `/presets/new?routingKeys=${encodeURIComponent(hostile)}`,
        `/listings/map?search=${encodeURIComponent(hostile)}`,
        '/listings/rents',
      ]) {
        const { status, text } = await browser.get(path);
        expect(status, path).to.equal(200);
        expect(text, path).not.to.match(/<script>alert|<img src=x|"onload="/);
      }
    });
  });

  describe('decisions', () => {
    it('approves a flat with all of its listings, says so, and takes it back', async () => {
      const browser = await console.loggedIn();
      const { text: list } = await browser.get('/listings?preset=none');
      const [, both = ''] = new RegExp(`name="id" value="([^"]*${running.idOf('quay')}[^"]*)"`).exec(list) ?? [];
      expect(both.split(',')).to.have.members([running.idOf('quay'), running.idOf('quay-2')]);
      const { status, text } = await browser.act('/listings/decide/inbox/approved', { id: both });
      expect(status).to.equal(200);
      const { message, undo } = JSON.parse(text);
      expect(message).to.equal('2 listings are approved');
      expect([await running.statusOf('quay'), await running.statusOf('quay-2')]).to.deep.equal(['approved', 'approved']);
      expect((await browser.get('/listings/approved')).text).to.include('12 Quay Street');
      expect((await browser.act(undo.path, undo.fields)).status).to.equal(200);
      expect([await running.statusOf('quay'), await running.statusOf('quay-2')]).to.deep.equal(['inbox', 'inbox']);
    });

    it('recycles several at once by a form, and comes back to the list', async () => {
      const browser = await console.loggedIn();
      const fields = { id: [running.idOf('canal'), running.idOf('cork')] };
      const { status, headers } = await browser.post('/listings/decide/inbox/recycled', fields, { Referer: `${console.url}/listings?maxPrice=2000` });
      expect([status, headers.get('location')]).to.deep.equal([303, '/listings?maxPrice=2000']);
      expect((await browser.get('/listings?preset=none')).text)
        .to.include('2 listings are recycled')
        .and.not.include('Patrick Hill');
      expect((await browser.get('/listings/recycled')).text).to.include('Patrick Hill');
    });

    it('refuses what is not there, an unknown decision, none, and too many', async () => {
      const browser = await console.loggedIn();
      for (const id of ['x', '0197c000-0000-7000-8000-000000000000', '..'])
        expect((await browser.post('/listings/decide/inbox/approved', { id })).status, id).to.equal(404);
      expect((await browser.post('/listings/decide/inbox/gone', { id: running.idOf('canal') })).status).to.equal(400);
      expect((await browser.post('/listings/decide/inbox/approved')).status).to.equal(400);
      expect((await browser.post('/listings/decide/inbox/approved', { id: Array.from({ length: 501 }, () => running.idOf('canal')) })).status).to.equal(400);
      expect(await running.statusOf('canal')).to.equal('inbox');
    });

    it('takes no decision and shows no form to a reader', async () => {
      const browser = await console.personWith({ listings: 'reader' });
      for (const path of ['/listings?preset=none', '/listings?preset=none&view=rows', `/listings/${running.idOf('canal')}`, '/presets'])
        expect((await browser.get(path)).text, path).not.to.match(/method="post" action="\/(listings|presets)|formaction="\/(listings|presets)/);
      expect((await browser.post('/listings/decide/inbox/approved', { id: running.idOf('canal') })).status).to.equal(403);
      expect((await browser.get('/presets/new')).status).to.equal(403);
    });
  });

  describe('a listing', () => {
    it('shows facts, the same flat elsewhere, neighbours, and the rent over time', async () => {
      await running.ingest([{ ...flats[0], priceMonthly: 2000 }]);
      await running.query(`update price_history set changed_at = now() - interval '40 days' where price_monthly = 2100`);
      const { status, text } = await (await console.loggedIn()).get(`/listings/${running.idOf('quay')}`);
      expect(status).to.equal(200);
      expect(text).to.include('D02\u00a0X285').and.include('The same flat elsewhere').and.include('No. 12 Quay St.');
      expect(text).to.include('Rent over time').and.include('€2,100').and.include('class="line-1"');
      expect(text)
        .to.include('3 Canal Row')
        .and.match(/\d k?m away/);
    });

    it('keeps notes, and takes them back', async () => {
      const browser = await console.loggedIn();
      const path = `/listings/${running.idOf('canal')}`;
      expect((await browser.post(`${path}/note`, { notes: 'Viewing on Friday\r\nbring papers ' })).status).to.equal(303);
      expect((await browser.get(path)).text)
        .to.include('The notes are saved')
        .and.include('Viewing on Friday\nbring papers</textarea>');
      const { text } = await browser.act(`${path}/note`, { notes: '' });
      expect(JSON.parse(text).undo).to.deep.equal({ path: `${path}/note`, fields: { notes: 'Viewing on Friday\nbring papers' } });
      expect((await browser.post(`${path}/note`, { notes: 'x'.repeat(4001) })).status).to.equal(400);
    });

    it('is 404 where there is none', async () => {
      for (const id of ['x', '0197c000-0000-7000-8000-000000000000', 'x%2fy'])
        expect((await (await console.loggedIn()).get(`/listings/${id}`)).status).to.equal(404);
    });
  });

  describe('the map', () => {
    it('shows the coast and a dot for each place, and leads closer and to single listings', async () => {
      const browser = await console.loggedIn();
      const { status, text } = await browser.get('/listings/map');
      expect(status).to.equal(200);
      expect(text)
        .to.include('6 listings in this part, in the inbox')
        .and.match(/<path class="land" d="M[^"]{3000}/);
      expect(text).to.match(new RegExp(`href="/listings/${running.idOf('cork')}"[^>]*>[^<]*Cork[^<]*</a></td><td class="number">€`));
      const [, closer = ''] = /<a href="(\/listings\/map\?[^"]*bbox=[^"]*)" aria-label="\d listings near [^"]+, rents from €/.exec(text) ?? [];
      expect((await browser.get(closer.replaceAll('&amp;', '&'))).text).to.match(/[2-5] listings in this part/);
    });

    it('takes filters, and the whole island for a box that is none', async () => {
      const browser = await console.loggedIn();
      expect((await browser.get('/listings/map?maxPrice=1700')).text).to.include('2 listings in this part');
      for (const bbox of ['x', '1,2,3', '10,10,1,1', '-6,53,-6,53', '1e9,0,2e9,1'])
        expect((await browser.get(`/listings/map?bbox=${bbox}`)).text, bbox).to.include('6 listings');
    });

    it('is at most 90 kB with as many dots as there can be', async () => {
      await running.query(`
        insert into properties (id, source_id, source_url, address, price_monthly, currency, beds, baths, property_type, status, received_at, latitude, longitude)
        select gen_random_uuid(), 'many' || n, 'https://www.daft.ie/for-rent/x/1', '12 Longest Street Name, Dublin 15', 1000 + n, 'EUR', 1, 1, 'House', 'inbox', now(), 51.3 + (n / 100) / 24.0, -10.5 + (n % 100) / 20.0
        from generate_series(0, 9999) n`);
      const { text } = await (await console.loggedIn()).get('/listings/map');
      expect(text.length).to.be.within(20_000, 90_000);
      expect(text.match(/<[a-z]/g)?.length).to.be.below(1500);
    });
  });

  it('plots rents and the median of each routing key, with links to the lists', async () => {
    const { text } = await (await console.loggedIn()).get('/listings/rents');
    expect(text).to.include('6 listings, median rent €1,975').and.include('Median rent by routing key').and.include('>A94<');
    expect(text).to.match(/href="\/listings\?preset=none&(amp;)?minPrice=1400&(amp;)?maxPrice=\d+\.99"/);
  });

  describe('presets', () => {
    const entries = {
      name: 'By the canal',
      routingKeys: 'd02, D04',
      maxPrice: '2400',
      minBeds: '1',
      propertyTypes: ['Apartment', 'House'],
      berMin: 'C1',
      isDefault: 'true',
    };

    it('are added, edited and deleted, and each can be taken back', async () => {
      const browser = await console.loggedIn();
      expect((await browser.get('/presets')).text).to.include('No presets yet');
      const added = await browser.post('/presets/add', entries);
      expect([added.status, added.headers.get('location')]).to.deep.equal([303, '/presets']);
      const { text } = await browser.get('/presets');
      expect(text).to.include('“By the canal” is added').and.include('D02, D04 · 1– beds · –2,400 a month · Apartment, House · BER C1');
      const [, id = ''] = /\/presets\/([^/"]{36})\/delete/.exec(text) ?? [];
      expect((await browser.get(`/presets/${id}`)).text)
        .to.include('value="By the canal"')
        .and.match(/value="House" checked/);
      const saved = JSON.parse((await browser.act(`/presets/${id}/save`, { ...entries, name: 'Canal' })).text);
      await browser.act(saved.undo.path, saved.undo.fields);
      const [before] = await running.query('select name, max_price, is_default from presets');
      expect(before).to.deep.equal({ name: 'By the canal', max_price: 2400, is_default: true });
      const deleted = JSON.parse((await browser.act(`/presets/${id}/delete`)).text);
      expect(await running.query('select name from presets')).to.deep.equal([]);
      await browser.act(deleted.undo.path, deleted.undo.fields);
      expect(await running.query('select name from presets')).to.deep.equal([{ name: 'By the canal' }]);
    });

    it('make another one the default, and take it back', async () => {
      const former = await running.preset({ name: 'a', isDefault: true });
      const other = await running.preset({ name: 'b' });
      const browser = await console.loggedIn();
      const { undo } = JSON.parse((await browser.act(`/presets/${other}/default`)).text);
      const defaults = () => running.query('select id from presets where is_default');
      expect(await defaults()).to.deep.equal([{ id: other }]);
      await browser.act(undo.path, undo.fields);
      expect(await defaults()).to.deep.equal([{ id: former }]);
    });

    it('show the form once more with what the service refuses', async () => {
      const browser = await console.loggedIn();
      const { status, text } = await browser.post('/presets/add', {
        ...entries,
        name: ' ',
        routingKeys: 'D02, XX9',
        minBeds: '3',
        maxBeds: '1',
        maxPrice: 'cheap',
      });
      expect(status).to.equal(400);
      expect(text).to.include('must be a routing key such as D02').and.include('value="D02, XX9"').and.include('value="cheap"');
      expect(text)
        .to.match(/id="field-name"[^>]*aria-invalid/)
        .and.match(/id="field-maxPrice"[^>]*aria-invalid/);
      expect(await running.query('select name from presets')).to.deep.equal([]);
    });
  });

  it('is in German as well', async () => {
    const browser = console.browser({ 'Accept-Language': 'de' });
    await browser.logIn();
    expect((await browser.get('/listings?preset=none')).text)
      .to.include('Merken')
      .and.include('1.850\u00a0€');
    expect((await browser.get('/listings/rents')).text).to.include('6 Wohnungen, Median der Miete 1.975\u00a0€');
  });

  it('gives the browser no credential of the service', async () => {
    const browser = await console.loggedIn();
    for (const path of ['/listings', '/listings/map', '/listings/rents', '/presets', `/listings/${running.idOf('canal')}`]) {
      const { text, headers } = await browser.get(path);
      expect(`${JSON.stringify([...headers])}${text}`).not.to.include(running.token);
    }
  });
});
