// Deciding on listings: PATCH, bulk, and the statistics.
import { expect } from 'chai';
import { faults, fill, listing, member, useService } from './service.ts';

describe('decisions', () => {
  const clock = { now: new Date() };
  const running = useService({ clock: () => clock.now });
  let ids: Record<string, string>;
  beforeEach(async () => {
    clock.now = new Date('2026-03-15T12:00:00Z');
    ids = await fill(
      running,
      ['a', 'b', 'c'].map((name) => listing(name, { notes: 'mine' })),
    );
    later();
  });
  const later = () => (clock.now = new Date(clock.now.getTime() + 60_000)).toISOString();
  const of = (name: string) => ids[name] ?? '';
  const patch = (body: unknown, id = of('a')) => running.ask('PATCH', `/api/properties/${id}`, body);
  const one = async (name = 'a') => (await running.ask('GET', `/api/properties/${of(name)}`)).body;
  const state = (status: string, approvedAt: string | null, recycledAt: string | null) => ({ status, approvedAt, recycledAt });

  describe('PATCH /api/properties/{id}', () => {
    it('answers 200 with the listing as it is now', async () => {
      const { status, body } = await patch({ status: 'approved' });
      expect(status).to.equal(200);
      expect(body).to.deep.equal(await one());
    });

    it('sets the time of approved and of recycled, and leaves the other', async () => {
      const approvedAt = later();
      expect((await patch({ status: 'approved' })).body).to.include(state('approved', approvedAt, null));
      const recycledAt = later();
      expect((await patch({ status: 'recycled' })).body).to.include(state('recycled', approvedAt, recycledAt));
      const again = later();
      expect((await patch({ status: 'approved' })).body).to.include(state('approved', again, recycledAt));
    });

    it('clears both times with inbox', async () => {
      for (const status of ['approved', 'recycled']) await patch({ status });
      expect((await patch({ status: 'inbox' })).body).to.include(state('inbox', null, null));
    });

    it('changes nothing by the same status again', async () => {
      const before = (await patch({ status: 'approved' })).body;
      later();
      expect((await patch({ status: 'approved' })).body).to.deep.equal(before);
    });

    it('leaves notes that are omitted or null, and stores an empty text', async () => {
      for (const body of [{}, { notes: null }, { status: 'approved' }]) expect((await patch(body)).body).to.include({ notes: 'mine' });
      expect((await patch({ notes: '' })).body).to.include({ notes: '' });
      expect((await patch({ notes: 'n'.repeat(4000) })).body).to.include({ notes: 'n'.repeat(4000) });
    });

    it('ignores other members', async () => {
      const before = await one();
      expect((await patch({ priceMonthly: 1, id: 'x', receivedAt: null })).body).to.deep.equal(before);
    });

    for (const [what, body, name] of [
      ['an unknown status', { status: 'deleted' }, 'status'],
      ['a status in another case', { status: 'Inbox' }, 'status'],
      ['a status of null', { status: null }, 'status'],
      ['notes that are too long', { notes: 'n'.repeat(4001) }, 'notes'],
      ['notes that are no text', { notes: 5 }, 'notes'],
      ['no object', [], 'body'],
    ] as const)
      it(`answers 400 to ${what}, before it looks for the listing, and changes nothing`, async () => {
        const before = await one();
        const refused = await patch(body);
        expect(refused.status).to.equal(400);
        expect(refused.headers.get('content-type')).to.equal('application/problem+json');
        expect(faults(refused)).to.deep.equal([name]);
        expect((await patch(body, 'nope')).status).to.equal(400);
        expect(await one()).to.deep.equal(before);
      });

    it('tells all faults at once', async () => {
      expect(faults(await patch({ status: 'x', notes: 5 }))).to.have.members(['status', 'notes']);
    });

    it('answers 404 to an unknown id', async () => {
      for (const id of ['nope', '01a204b2-7d3a-73cb-8cd8-692ae8fae83d']) expect((await patch({}, id)).status).to.equal(404);
    });
  });

  describe('POST /api/properties/bulk', () => {
    const bulk = (action: unknown, names: unknown) => running.ask('POST', '/api/properties/bulk', { ids: names, action });

    it('approves from every state, with one time, and leaves the other time', async () => {
      const recycledAt = later();
      await patch({ status: 'recycled' });
      const approvedAt = later();
      expect((await bulk('approve', [of('a'), of('b')])).body).to.deep.equal({ updated: 2 });
      expect(await one('a')).to.include(state('approved', approvedAt, recycledAt));
      expect(await one('b')).to.include(state('approved', approvedAt, null));
      expect(await one('c')).to.include(state('inbox', null, null));
    });

    it('recycles from every state, and leaves the other time', async () => {
      const approvedAt = later();
      await patch({ status: 'approved' });
      const recycledAt = later();
      expect((await bulk('recycle', [of('a'), of('b')])).body).to.deep.equal({ updated: 2 });
      expect(await one('a')).to.include(state('recycled', approvedAt, recycledAt));
    });

    it('restores to the inbox, and clears both times', async () => {
      for (const status of ['approved', 'recycled']) await patch({ status });
      expect((await bulk('restore', [of('a'), of('b')])).body).to.deep.equal({ updated: 1 });
      expect(await one('a')).to.include(state('inbox', null, null));
    });

    it('does not count what is in the state already, which keeps its time', async () => {
      const approvedAt = later();
      await patch({ status: 'approved' });
      later();
      expect((await bulk('approve', [of('a'), of('b')])).body).to.deep.equal({ updated: 1 });
      expect(await one('a')).to.include({ approvedAt });
    });

    it('ignores unknown ids and repeats, and takes ids in any case', async () => {
      const { body } = await bulk('approve', ['01a204b2-7d3a-73cb-8cd8-692ae8fae83d', of('a'), of('a').toUpperCase(), of('a')]);
      expect(body).to.deep.equal({ updated: 1 });
    });

    it('takes 500 ids', async () => {
      expect(
        (
          await bulk(
            'approve',
            Array.from({ length: 500 }, () => of('a')),
          )
        ).body,
      ).to.deep.equal({ updated: 1 });
    });

    it('answers 400 to no ids, to 501, to what is no GUID and to another action, and changes nothing', async () => {
      for (const [wrong, name] of [
        [bulk('approve', []), 'ids'],
        [
          bulk(
            'approve',
            Array.from({ length: 501 }, () => of('a')),
          ),
          'ids',
        ],
        [bulk('approve', undefined), 'ids'],
        [bulk('approve', [of('a'), 'nope']), 'ids[1]'],
        [bulk('delete', [of('a')]), 'action'],
        [bulk(undefined, [of('a')]), 'action'],
      ] as const) {
        const refused = await wrong;
        expect(refused.status).to.equal(400);
        expect(faults(refused)).to.deep.equal([name]);
      }
      expect(await one()).to.include({ status: 'inbox' });
    });

    it('counts each listing once, however many decide at once', async () => {
      const all = ['a', 'b', 'c'].map(of);
      const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => bulk('approve', index % 2 ? all : all.toReversed())));
      expect(answers.reduce((sum, answer) => sum + Number(member(answer, 'updated')), 0)).to.equal(3);
    });
  });

  describe('GET /api/stats', () => {
    const stats = async () => (await running.ask('GET', '/api/stats')).body;
    async function approve(...prices: readonly number[]): Promise<void> {
      const filled = await fill(
        running,
        prices.map((priceMonthly, index) => listing(`p${index}`, { priceMonthly })),
      );
      if (prices.length > 0) await running.ask('POST', '/api/properties/bulk', { ids: Object.values(filled), action: 'approve' });
    }

    it('counts the listings of each status', async () => {
      await patch({ status: 'approved' });
      await patch({ status: 'recycled' }, of('b'));
      expect(await stats()).to.deep.equal({ inboxCount: 1, approvedCount: 1, recycledCount: 1, avgApprovedPrice: 1850, medianApprovedPrice: 1850 });
    });

    it('is 0 all over without listings, and has no prices while none is approved', async () => {
      expect(await stats()).to.deep.equal({ inboxCount: 3, approvedCount: 0, recycledCount: 0, avgApprovedPrice: 0, medianApprovedPrice: 0 });
      await running.service.database.driver.query('truncate properties cascade');
      expect(await stats()).to.deep.equal({ inboxCount: 0, approvedCount: 0, recycledCount: 0, avgApprovedPrice: 0, medianApprovedPrice: 0 });
    });

    for (const [prices, average, median] of [
      [[1000, 2000, 6000], 3000, 2000],
      [[1000, 2000, 3000, 9000], 3750, 2500],
      [[0.01, 0.02], 0.02, 0.02],
      [[1000.01, 1000.02], 1000.02, 1000.02],
      [[1000, 1000, 1001], 1000.33, 1000],
      [[99_999_999.99], 99_999_999.99, 99_999_999.99],
    ] as const)
      it(`has the average ${average} and the median ${median} of ${prices.join(', ')}`, async () => {
        await approve(...prices);
        expect(await stats()).to.include({ approvedCount: prices.length, avgApprovedPrice: average, medianApprovedPrice: median });
      });

    it('computes prices of approved listings only', async () => {
      await approve(1000);
      await running.ask('POST', '/api/ingest/properties', [listing('other', { priceMonthly: 9000 })]);
      expect(await stats()).to.include({ inboxCount: 1, avgApprovedPrice: 1000, medianApprovedPrice: 1000 });
    });
  });
});
