import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import request from 'supertest';
import { delivery } from '../deliveries.ts';
import { at, createDashboard, type Dashboard, issue, pullRequest, type Row, tokens } from './ground.ts';

describe('the event log', () => {
  let dashboard: Dashboard;
  const get: Dashboard['get'] = (...of) => dashboard.get(...of);

  before(async () => {
    dashboard = await createDashboard();
  });
  after(() => dashboard.close());
  afterEach(() => dashboard.database.empty());

  const deliveries = (rows: readonly Row[]) => rows.map((row) => row['deliveryId']);
  const byDelivery = (ids: string, seconds = 0) =>
    [...ids].map((deliveryId, index) => ({ event: 'issues', payload: issue(index + 1), deliveryId, receivedAt: at(seconds + index) }));

  describe('GET /api/v1/events', () => {
    it('answers every documented member of an event', async () => {
      await dashboard.deliver([{ event: 'issues', payload: issue(5), deliveryId: 'd-1', hookId: 'h-1', priority: 8, receivedAt: at(1.5) }]);
      const { body } = await get('/events');
      const { id, relayId, storedAt, ...event } = body.items[0] ?? {};
      expect(relayId).to.match(/^[0-9a-f-]{36}$/);
      expect(id).to.match(/^[0-9a-f-]{36}$/);
      expect(storedAt).to.match(/^20\d\d-\d\d-\d\dT.*Z$/);
      expect(event).to.deep.equal({
        source: 'forge',
        forge: 'github',
        event: 'issues',
        originalEvent: 'issues',
        action: 'opened',
        originalAction: 'opened',
        title: '[railway/signals] issues opened #5: Issue 5',
        repository: 'railway/signals',
        sender: 'stationmaster',
        senderClass: 'person',
        deliveryId: 'd-1',
        hookId: 'h-1',
        targetId: '2',
        score: 8,
        isCoreFunction: true,
        bytes: JSON.stringify(issue(5)).length,
        receivedAt: '2026-01-05T00:00:01.500Z',
      });
    });

    it('says null for what an event has not', async () => {
      await dashboard.deliver([{ event: 'ping', payload: { zen: 'Keep it' } }]);
      const { body } = await get('/events');
      expect(body.items[0]).to.include({ action: null, repository: null, sender: null, senderClass: null });
    });

    it('answers an empty list when there is nothing', async () => {
      expect((await get('/events')).body).to.deep.include({ items: [], next: null });
    });

    it('lists the newest by reception first', async () => {
      await dashboard.deliver([...byDelivery('ab', 10), ...byDelivery('c', 0)]);
      expect(deliveries((await get('/events')).body.items)).to.deep.equal(['b', 'a', 'c']);
    });

    describe('filters', () => {
      beforeEach(() =>
        dashboard.deliver([
          { event: 'issues', payload: issue(1), deliveryId: 'a', receivedAt: at(0) },
          { event: 'pull_request', payload: pullRequest(2), deliveryId: 'b', receivedAt: at(1) },
          { event: 'issues', payload: issue(3, {}, { sender: { id: 8, login: 'porter' } }), deliveryId: 'c', receivedAt: at(2) },
          { event: 'issues', payload: issue(4, {}, { repository: { id: 5, full_name: 'railway/points' } }), deliveryId: 'd', receivedAt: at(3) },
        ]),
      );
      const found = async (query: Readonly<Record<string, string>>) => deliveries((await get('/events', { query })).body.items).join('');

      it('by event', async () => expect(await found({ event: 'issues' })).to.equal('dca'));
      it('by event, whatever its source', async () => {
        await dashboard.database.rows(`update events set source = 'sentry' where delivery_id in ('a', 'b')`);
        expect(await found({ event: 'issues' })).to.equal('dca');
        expect(await found({ event: 'issues', source: 'sentry' })).to.equal('a');
      });
      it('by source', async () => {
        expect(await found({ source: 'forge' })).to.equal('dcba');
        expect(await found({ source: 'sentry' })).to.equal('');
      });
      it('by repository', async () => expect(await found({ repository: 'railway/points' })).to.equal('d'));
      it('by sender', async () => expect(await found({ sender: 'porter' })).to.equal('c'));
      it('by delivery, and finds it however many hooks brought it', async () => {
        await dashboard.deliver([{ event: 'issues', payload: issue(1), deliveryId: 'a', hookId: 'another', receivedAt: at(9) }]);
        expect(await found({ deliveryId: 'a' })).to.equal('aa');
        expect(await found({ deliveryId: 'a', event: 'push' })).to.equal('');
        expect(await found({ deliveryId: 'A' })).to.equal('');
      });
      it('by action', async () => {
        await dashboard.deliver([{ event: 'issues', payload: issue(1, {}, { action: 'closed' }), deliveryId: 'e', receivedAt: at(4) }]);
        expect(await found({ action: 'closed' })).to.equal('e');
        expect(await found({ action: 'opened', event: 'issues' })).to.equal('dca');
      });
      it('by the class of the sender, in any case', async () => {
        await dashboard.database.rows(`update events set sender_class = 'own-bot' where delivery_id = 'b'`);
        expect(await found({ senderClass: 'Own-Bot' })).to.equal('b');
        expect(await found({ senderClass: 'person' })).to.equal('dca');
        expect((await get('/events', { query: { senderClass: 'robot' } })).status).to.equal(400);
      });
      it('by the lowest score, alone and with others', async () => {
        await dashboard.database.rows(`update events set score = case delivery_id when 'a' then 9 when 'b' then 7 when 'c' then 10 else 3 end`);
        expect(await found({ minScore: '7' })).to.equal('cba');
        expect(await found({ minScore: '10' })).to.equal('c');
        expect(await found({ minScore: '1', limit: '2' })).to.equal('dc');
        expect(await found({ minScore: '7', event: 'issues' })).to.equal('ca');
        expect(await found({ minScore: '7', from: at(1).toISOString() })).to.equal('cb');
        for (const minScore of ['0', '11', 'x']) expect((await get('/events', { query: { minScore } })).status, minScore).to.equal(400);
      });
      describe('by text', () => {
        beforeEach(() =>
          dashboard.deliver([
            { event: 'issues', payload: issue(7, { title: 'Ünïcode & 100 % of \\_' }), deliveryId: 'e', receivedAt: at(5) },
            {
              event: 'push',
              payload: { ref: 'refs/heads/main', head_commit: { message: 'Straße to Éamon' }, sender: { id: 8, login: 'porter' } },
              deliveryId: 'f',
              receivedAt: at(6),
            },
          ]),
        );
        it('of the title, without regard to case and accents', async () => {
          for (const q of ['unicode', 'ÜNÏCODE', 'u\u0308nicode']) expect(await found({ q }), q).to.equal('e');
          for (const q of ['STRASSE', 'eamon']) expect(await found({ q }), q).to.equal('f');
        });
        it('of repository, sender, source, event and action', async () => {
          expect(await found({ q: 'way/POINT' })).to.equal('d');
          expect(await found({ q: 'porter' })).to.equal('fc');
          expect(await found({ q: 'forge' })).to.equal('fedcba');
          expect(await found({ q: 'pull_req' })).to.equal('b');
          expect(await found({ q: 'opened' })).to.equal('edcba');
        });
        it('literally', async () => {
          expect(await found({ q: '100 %' })).to.equal('e');
          expect(await found({ q: '\\_' })).to.equal('e');
          for (const q of ['1_0', 'un%', '\\']) expect(await found({ q }), q).to.equal(q === '\\' ? 'e' : '');
        });
        it('together with other filters', async () => expect(await found({ q: 'porter', event: 'issues' })).to.equal('c'));
        it('of at most 200 characters', async () => {
          expect((await get('/events', { query: { q: 'x'.repeat(201) } })).status).to.equal(400);
          expect(await found({ q: 'x'.repeat(200) })).to.equal('');
        });
      });
      it('from a time, which is included', async () => expect(await found({ from: at(2).toISOString() })).to.equal('dc'));
      it('to a time, which is not included', async () => expect(await found({ to: at(2).toISOString() })).to.equal('ba'));
      it('by a time with an offset', async () => expect(await found({ from: '2026-01-05T01:00:02+01:00' })).to.equal('dc'));
      it('by all of them together', async () => {
        const all = {
          source: 'forge',
          event: 'issues',
          repository: 'railway/signals',
          sender: 'stationmaster',
          from: at(0).toISOString(),
          to: at(9).toISOString(),
        };
        expect(await found(all)).to.equal('a');
        expect(await found({ ...all, sender: 'porter', event: 'pull_request' })).to.equal('');
      });
      it('by nothing where a filter is blank', async () => expect(await found({ event: '', sender: ' ' })).to.equal('dcba'));
      it('literally', async () => expect(await found({ sender: 'port%' })).to.equal(''));
      it('by a text that no database holds, and finds nothing', async () => expect(await found({ sender: '\0', repository: 'a\0b' })).to.equal(''));
    });

    describe('pages', () => {
      it('are of 50 unless told otherwise', async () => {
        await dashboard.deliver(Array.from({ length: 51 }, (_, index) => ({ event: 'issues', payload: issue(index + 1) })));
        const { body } = await get('/events');
        expect(body.items).to.have.length(50);
        expect(body.next).to.be.a('string');
      });

      it('hold what they are asked to, from 1 to 200', async () => {
        await dashboard.deliver(Array.from({ length: 201 }, (_, index) => ({ event: 'issues', payload: issue(index + 1) })));
        expect((await get('/events', { query: { limit: 1 } })).body.items).to.have.length(1);
        expect((await get('/events', { query: { limit: 200 } })).body.items).to.have.length(200);
      });

      it('end with next null, also when the last one is full', async () => {
        await dashboard.deliver(byDelivery('abcd'));
        expect((await dashboard.pages('/events', { limit: 2 })).map(deliveries)).to.deep.equal([
          ['d', 'c'],
          ['b', 'a'],
        ]);
      });

      it('keep events of the same millisecond apart', async () => {
        await dashboard.deliver(Array.from({ length: 25 }, (_, index) => ({ event: 'issues', payload: issue(index + 1), receivedAt: at(0) })));
        const ids = (await dashboard.pages('/events', { limit: 3 })).flat().map((row) => row['id']);
        expect(ids).to.have.length(25);
        expect(new Set(ids)).to.have.property('size', 25);
      });

      it('neither repeat nor miss an event while newer and older ones come in', async () => {
        await dashboard.deliver(byDelivery('abcdef', 100));
        const first = (await get('/events', { query: { limit: 3 } })).body;
        await dashboard.deliver([...byDelivery('xyz', 200), { event: 'issues', payload: issue(9), deliveryId: 'o', receivedAt: at(50) }]);
        const second = (await get('/events', { query: { limit: 3, after: first.next ?? '' } })).body;
        const third = (await get('/events', { query: { limit: 3, after: second.next ?? '' } })).body;
        expect([first, second, third].map(({ items }) => deliveries(items).join(''))).to.deep.equal(['fed', 'cba', 'o']);
        expect(third.next).to.equal(null);
      });

      it('keep to the filters', async () => {
        await dashboard.deliver([...byDelivery('abc'), { event: 'push', payload: {}, deliveryId: 'p', receivedAt: at(1) }]);
        const pages = await dashboard.pages('/events', { limit: 1, event: 'issues' });
        expect(pages.map(deliveries)).to.deep.equal([['c'], ['b'], ['a']]);
      });
    });

    describe('refusals', () => {
      for (const limit of ['0', '201', '-1', '1.5', 'ten', '1e3', '99999999999999999999'])
        it(`answers 400 for limit=${limit}`, async () => {
          const { status, body } = await get('/events', { query: { limit } });
          expect(status).to.equal(400);
          expect(body.errors).to.have.all.keys('limit');
        });
      const cursors = [
        'x',
        '%%%',
        'bnVsbA',
        Buffer.from('["events",1,"x"]').toString('base64url'),
        Buffer.from('["events","1","0198d3a5-0000-7000-8000-000000000000"]').toString('base64url'),
      ];
      const far = Buffer.from('["events",9e15,"0198d3a5-0000-7000-8000-000000000000"]').toString('base64url');
      for (const after of [...cursors, far])
        it(`answers 400 for the cursor "${after}"`, async () => {
          const { status, body } = await get('/events', { query: { after } });
          expect(status).to.equal(400);
          expect(body.errors).to.have.all.keys('after');
        });
      for (const time of ['yesterday', '2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T25:00:00Z', '2026-01-01T00:00:00'])
        it(`answers 400 for the time "${time}"`, async () => {
          const { status, body } = await get('/events', { query: { from: time, to: time } });
          expect(status).to.equal(400);
          expect(body.errors).to.have.all.keys('from', 'to');
        });
      it('takes empty parameters as absent', async () => {
        const { status, body } = await get('/events', { query: { limit: '', after: '', from: '', to: '' } });
        expect(status).to.equal(200);
        expect(body.items).to.deep.equal((await get('/events')).body.items);
      });
      it('tells all faults at once', async () => {
        const { body } = await get('/events', { query: { limit: 'x', after: 'y', from: 'z' } });
        expect(body.errors).to.have.all.keys('limit', 'after', 'from');
      });
    });
  });

  describe('GET /api/v1/events/{id}', () => {
    const detail = async () => {
      const { body } = await get('/events');
      return get('/events/{id}', { path: { id: String(body.items[0]?.['id']) } });
    };

    it('answers the item with headers and payload', async () => {
      await dashboard.deliver([{ event: 'issues', payload: issue(5), headers: { 'x-score-description': 'issues.opened: base 6' } }]);
      const { body: list } = await get('/events');
      const { body, headers } = await detail();
      expect(body).to.deep.include({ ...list.items[0], payload: issue(5) });
      expect(body['headers']).to.include({ 'x-event': 'issues', 'x-score-description': 'issues.opened: base 6' });
      expect(headers['content-type']).to.equal('application/json; charset=utf-8');
    });

    const raw = (json: string | Buffer) => ({ ...delivery({ event: 'push', payload: {} }), body: Buffer.from(json) });
    it('answers the payload as it was received, byte for byte', async () => {
      const json = '{ "n": 1.0, "big": 12345678901234567890, "nul": "a\\u0000b", "half": "\\ud800", "twice": 1, "twice": 2 }';
      await dashboard.deliver([raw(json)]);
      expect((await detail()).text).to.include(`"payload":${json}}`);
    });

    it('answers a payload that was packed', async () => {
      await dashboard.deliver([{ ...delivery({ event: 'push', payload: {} }), body: gzipSync('{"packed":"\\u0000"}'), contentEncoding: 'gzip' }]);
      expect((await detail()).body['payload']).to.deep.equal({ packed: '\0' });
    });

    it('answers valid UTF-8 where the payload was not', async () => {
      await dashboard.deliver([raw(Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')]))]);
      const { body } = await detail();
      expect(body['payload']).to.deep.equal({ a: '\uFFFD' });
      const response = await fetch(`${dashboard.url}/api/v1/events/${String(body['id'])}`, { headers: { Authorization: `token ${tokens[0]}` } });
      expect(isUtf8(await response.bytes())).to.equal(true);
    });

    it('answers a payload of 25 MiB', async () => {
      const json = JSON.stringify({
        data: randomBytes(19 * 1024 * 1024)
          .toString('base64')
          .slice(0, 25 * 1024 * 1024 - 11),
      });
      await dashboard.deliver([{ ...delivery({ event: 'push', payload: {} }), body: gzipSync(json, { level: 1 }), contentEncoding: 'gzip' }]);
      const { body: list } = await get('/events');
      expect(list.items[0]?.['bytes']).to.equal(25 * 1024 * 1024);
      const { text } = await request(dashboard.url)
        .get(`/api/v1/events/${String(list.items[0]?.['id'])}`)
        .set('Authorization', `token ${tokens[0]}`);
      expect(text.endsWith(`"payload":${json}}`)).to.equal(true);
    });

    it('answers null for a payload whose retention is over', async () => {
      await dashboard.deliver(byDelivery('a'));
      await dashboard.database.rows('truncate event_payloads');
      const { status, body } = await detail();
      expect(status).to.equal(200);
      expect(body['payload']).to.equal(null);
    });

    for (const id of ['0198d3a5-0000-7000-8000-000000000000', 'x', '1', '%00', '../events', '0198D3A5'])
      it(`answers 404 for ${id}`, async () => {
        const { status, headers } = await get('/events/{id}', { path: { id } });
        expect(status).to.equal(404);
        expect(headers['content-type']).to.include('application/problem+json');
      });
  });
});
