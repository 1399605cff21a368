// Filters and members of a list that came later: times, a box, prices that fell, and lists without a total.
import { expect } from 'chai';
import { faults, fill, listing, sourceIds, useService } from './service.ts';

describe('GET /api/properties, its later parameters', () => {
  const running = useService();
  const list = async (query: string) => (await get(query)).body as { items: Record<string, unknown>[]; total?: number };
  const get = (query: string) => running.ask('GET', `/api/properties?${query}`);
  const found = async (query: string) => sourceIds(await get(`status=inbox&${query}`)).sort();

  before(async () => {
    await fill(running, [
      listing('a', { priceMonthly: 2000, receivedAt: '2026-03-01T12:00:00.000Z', latitude: 53.35, longitude: -6.26 }),
      listing('b', { priceMonthly: 1500, receivedAt: '2026-03-02T12:00:00.000Z', latitude: 51.9, longitude: -8.47 }),
      listing('c', { priceMonthly: 1800, receivedAt: '2026-03-03T12:00:00.000Z', latitude: -17, longitude: 179.5 }),
      listing('d', { priceMonthly: 900, receivedAt: '2026-03-04T12:00:00.000Z' }),
    ]);
    const again = [
      listing('a', { priceMonthly: 1850, receivedAt: '2026-03-05T12:00:00.000Z', latitude: 53.35, longitude: -6.26 }),
      listing('b', { priceMonthly: 1600, receivedAt: '2026-03-06T12:00:00.000Z', latitude: 51.9, longitude: -8.47 }),
      listing('d', { priceMonthly: 900, receivedAt: '2026-03-07T12:00:00.000Z' }),
    ];
    await running.ask('POST', '/api/ingest/properties', again);
  });

  for (const [query, expected] of [
    ['receivedFrom=2026-03-06T12:00:00Z', 'bd'],
    ['receivedTo=2026-03-05T12:00:00Z', 'ac'],
    ['receivedFrom=2026-03-05T13:00:00%2B01:00&receivedTo=2026-03-06T12:00:00Z', 'ab'],
    ['bbox=-6.4,53.2,-6.1,53.4', 'a'],
    ['bbox=-11,51,-5,56', 'ab'],
    ['bbox=-6.26,53.35,-6.26,53.35', 'a'],
    ['bbox=179,-20,-179,0', 'c'],
    ['bbox=-180,-90,180,90', 'abc'],
    ['priceDropped=true', 'a'],
    ['priceDropped=false', 'bcd'],
  ] as const)
    it(`with ${query} finds ${expected}`, async () => expect((await found(query)).join('')).to.equal(expected));

  for (const [query, name] of [
    ['receivedFrom=yesterday', 'receivedFrom'],
    ['receivedFrom=2026-03-06T12:00:00Z&receivedTo=2026-03-05T12:00:00Z', 'receivedFrom'],
    ['bbox=1,2,3', 'bbox'],
    ['bbox=1,2,3,4,5', 'bbox'],
    ['bbox=0,10,1,5', 'bbox'],
    ['bbox=-181,0,0,1', 'bbox'],
    ['bbox=a,b,c,d', 'bbox'],
    ['priceDropped=1', 'priceDropped'],
    ['include=everything', 'include[0]'],
    ['total=no', 'total'],
  ] as const)
    it(`answers 400 to ${query}`, async () => expect(faults(await get(`status=inbox&${query}`))).to.deep.equal([name]));

  it('include=price adds the price before the last change and its time, and nothing else does', async () => {
    const body = await list('status=inbox&include=price&sortBy=price&sortDir=asc');
    expect(body.items.map(({ sourceId, previousPrice, priceChangedAt }) => [sourceId, previousPrice, priceChangedAt])).to.deep.equal([
      ['d', null, null],
      ['b', 1500, '2026-03-06T12:00:00.000Z'],
      ['c', null, null],
      ['a', 2000, '2026-03-05T12:00:00.000Z'],
    ]);
    const [plain] = (await list('status=inbox')).items;
    expect(plain).to.not.have.any.keys('previousPrice', 'priceChangedAt');
  });

  it('total=false counts nothing', async () => {
    const body = await list('status=inbox&total=false&pageSize=2');
    expect(Object.keys(body)).to.have.members(['items', 'page', 'pageSize']);
    expect(body.items).to.have.length(2);
    expect((await list('status=inbox&total=true&pageSize=2')).total).to.equal(4);
  });

  it('sortBy=approvedAt orders by the time of the decision', async () => {
    const { items } = await list('status=inbox&sortBy=price&sortDir=asc');
    const ids = Object.fromEntries(items.map(({ sourceId, id }) => [String(sourceId), String(id)]));
    for (const sourceId of ['b', 'a']) await running.ask('PATCH', `/api/properties/${ids[sourceId]}`, { status: 'approved' });
    expect(sourceIds(await get('status=approved&sortBy=approvedAt&sortDir=asc')).join('')).to.equal('ba');
    expect(sourceIds(await get('status=approved&sortBy=approvedAt')).join('')).to.equal('ab');
    for (const sourceId of ['b', 'a']) await running.ask('PATCH', `/api/properties/${ids[sourceId]}`, { status: 'inbox' });
  });
});
