// The area of events, on a real intake.
import { expect } from 'chai';
import { traceView } from '../../../../services/console/areas/events/trace.ts';
import { toMarkup } from '../../../../services/console/view/elements.ts';
import { createLocale } from '../../../../services/console/view/locale.ts';
import { eventually } from '../../../support/wait.ts';
import { issue, pullRequest } from '../../webhook-intake/dashboard/ground.ts';
import { examples } from '../../webhook-intake/deliveries.ts';
import { useConsole } from '../service.ts';
import { opened, rowsIn, startIntake, type TestIntake } from './intake.ts';

const hostile = '<script>alert(1)<b>"><img src=x onerror=alert(2)>\'';
const example = (event: string, action?: string) => {
  const found = examples.find((one) => one.event === event && (action === undefined || one.payload['action'] === action));
  if (!found) throw new Error(`no example of ${event}`);
  return found;
};

describe('console events', () => {
  let intake: TestIntake;
  const console = useConsole(async () => {
    intake = await startIntake();
    // No list of these tests ends by a sign of life.
    return { environment: intake.settings, heartbeatMs: 600_000 };
  });
  beforeEach(() => intake.database.empty());
  after(() => intake.close());

  describe('GET /events', () => {
    it('says how to fill an empty log, and offers to clear filters that match nothing', async () => {
      const browser = await console.loggedIn();
      expect((await browser.get('/events')).text).to.include('signalbox demo');
      expect((await browser.get('/events?q=nothing')).text).to.include('Clear filters');
    });

    it('shows what came from where, by whom, how large and how urgent', async () => {
      await intake.deliver([{ ...opened(7, 'Signals stay red'), priority: 9 }]);
      const { text } = await (await console.loggedIn()).get('/events');
      for (const shown of ['issues · opened', 'Signals stay red', 'railway/signals', 'stationmaster', '>9<']) expect(text, shown).to.include(shown);
    });

    it('narrows by each filter of the address, and each facet leads there and back', async () => {
      await intake.deliver([opened(7), { event: 'pull_request', payload: pullRequest(8), deliveryId: 'pull' }]);
      const browser = await console.loggedIn();
      const { text } = await browser.get('/events');
      expect(text).to.include('href="/events?event=pull_request"');
      expect(text).to.match(/<td[^>]*><a class="plain-link" href="\/events\?repository=Railway%2FSignals">/i);
      for (const query of [
        'event=pull_request',
        'q=CHANGE+8',
        'deliveryId=pull',
        'event=pull_request&action=opened&repository=Railway%2FSignals&sender=stationmaster',
      ])
        expect(rowsIn((await browser.get(`/events?${query}`)).text), query).to.deep.equal([await intake.idOf('pull')]);
      expect((await browser.get('/events?event=pull_request')).text)
        .to.include('aria-current="true"')
        .and.to.include('href="/events"');
      // The facet shows what is chosen: the form stays folded, so that the list is in sight on a phone.
      expect((await browser.get('/events?event=pull_request')).text).not.to.match(/class="more-filters" open/);
      expect((await browser.get('/events?sender=stationmaster')).text).to.match(/class="more-filters" open/);
      expect((await browser.get('/events?minScore=11')).status).to.equal(400);
      expect((await browser.get('/events?from=yesterday')).status).to.equal(400);
    });

    it('takes days in the zone of the person', async () => {
      await intake.deliver([{ ...opened(7), receivedAt: new Date('2026-03-14T23:30:00Z') }]);
      const browser = await console.loggedIn();
      const on = async (day: string) => rowsIn((await browser.get(`/events?from=${day}&to=${day}`)).text).length;
      expect([await on('2026-03-14'), await on('2026-03-15')]).to.deep.equal([1, 0]);
      await console.query(`update people set zone = 'Europe/Berlin'`);
      expect([await on('2026-03-14'), await on('2026-03-15')]).to.deep.equal([0, 1]);
    });

    it('shows the list where its facets and its plot cannot be had', async () => {
      await intake.deliver([opened(1)]);
      const browser = await console.loggedIn();
      intake.fail(/facets|statistics/);
      try {
        const { status, text } = await browser.get('/events');
        expect([status, rowsIn(text).length]).to.deep.equal([200, 1]);
        expect(text).to.include('Try again');
      } finally {
        intake.fail(/^$/);
      }
    });

    it('pages by a cursor', async () => {
      await intake.deliver(Array.from({ length: 51 }, (_, number) => ({ ...opened(number + 1), receivedAt: new Date(Date.now() - number * 1000) })));
      const browser = await console.loggedIn();
      const { text } = await browser.get('/events?event=issues');
      expect(rowsIn(text)).to.have.length(50);
      const [, next = ''] = /href="([^"]+)"[^>]* rel="next"/.exec(text) ?? [];
      expect(rowsIn((await browser.get(next.replaceAll('&amp;', '&'))).text)).to.deep.equal([await intake.idOf('delivery-51')]);
    });

    it('plots deliveries of a day or of thirty', async () => {
      await intake.deliver([opened(7), opened(8)]);
      const browser = await console.loggedIn();
      expect((await browser.get('/events')).text)
        .to.include('Deliveries per hour')
        .and.to.include('2 deliveries in all');
      expect((await browser.get('/events?plot=days')).text)
        .to.include('Deliveries per day')
        .and.to.include('2 deliveries in all');
      expect((await browser.get('/events?sender=stationmaster')).text, 'counted by source and event only').not.to.include('deliveries in all');
    });

    it('shows as text whatever payloads hold', async () => {
      const about = { repository: { id: 5, name: hostile, full_name: `me/${hostile}`, owner: { login: hostile } }, sender: { id: 1, login: hostile } };
      await intake.deliver([opened(7, hostile, about)]);
      const browser = await console.loggedIn();
      const id = await intake.idOf('delivery-7');
      for (const path of [
        '/events',
        `/events?q=${encodeURIComponent(hostile)}`,
        `/events/${id}`,
        `/events/${id}?find=${encodeURIComponent('<script')}`,
        '/trace/delivery-7',
        '/events/issues',
        '/events/users',
        '/events/repositories',
        `/search?q=${encodeURIComponent(hostile)}`,
      ]) {
        const { status, text } = await browser.get(path);
        expect(status, path).to.equal(200);
        expect(text, path).not.to.include('<script>alert').and.not.to.include('<img src=x');
        expect(text, path).to.include('&lt;script>alert(1)');
      }
    });
  });

  describe('GET /events/{id}', () => {
    it('shows summary, payload, headers, curl, and the pages of the forge', async () => {
      await intake.deliver([opened(7, "It's red")]);
      const { text } = await (await console.loggedIn()).get(`/events/${await intake.idOf('delivery-7')}`);
      expect(text).to.include('href="https://github.com/railway/signals/issues/7"').and.to.include('X-GitHub-Event: issues').and.to.include('x-delivery-id');
      expect(text, 'quoted for a shell').to.include(String.raw`It'\''s red`);
    });

    it('makes no link of an address that is no page', async () => {
      await intake.deliver([{ event: 'issues', payload: issue(7, { html_url: 'javascript:alert(1)' }), deliveryId: 'x' }]);
      expect((await (await console.loggedIn()).get(`/events/${await intake.idOf('x')}`)).text).not.to.include('href="javascript:');
    });

    it('finds members of the payload by name and by value', async () => {
      await intake.deliver([opened(7, 'Signals stay red')]);
      const browser = await console.loggedIn();
      const { text } = await browser.get(`/events/${await intake.idOf('delivery-7')}?find=stay`);
      expect(text).to.include('1 member found').and.to.include('issue.title');
      expect((await browser.get(`/events/${await intake.idOf('delivery-7')}?find=zebra`)).text).to.include('Nothing in the payload holds');
    });

    it('hands out the payload as the bytes that were received', async () => {
      await intake.deliver([opened(7)]);
      const { status, headers, text } = await (await console.loggedIn()).get(`/events/${await intake.idOf('delivery-7')}/payload`);
      expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json; charset=utf-8']);
      expect(headers.get('content-security-policy')).to.include("default-src 'none'");
      expect(JSON.parse(text)).to.deep.equal(opened(7).payload);
    });

    it('shows a page where the payload is too large, or gone', async () => {
      await intake.deliver([opened(7, 'x'.repeat(600_000)), opened(8)]);
      const browser = await console.loggedIn();
      const large = await browser.get(`/events/${await intake.idOf('delivery-7')}`);
      expect(large.text).to.include('too much for a page');
      expect(large.text.length).to.be.below(200_000);
      await intake.database.rows('truncate event_payloads');
      expect((await browser.get(`/events/${await intake.idOf('delivery-8')}`)).text).to.include('was deleted when its retention was over');
    });

    it('answers 404 for what is not there', async () => {
      const browser = await console.loggedIn();
      for (const id of ['0197c000-0000-7000-8000-000000000000', 'x', '..%2f..']) expect((await browser.get(`/events/${id}`)).status, id).to.equal(404);
    });
  });

  describe('POST /events/{id}/replay and /redeliver', () => {
    it('replays, says so, and records it', async () => {
      await intake.deliver([opened(7)]);
      const id = await intake.idOf('delivery-7');
      const browser = await console.loggedIn();
      const { status, text } = await browser.act(`/events/${id}/replay`, { notify: 'false' });
      expect(status, text).to.equal(200);
      const { message, link } = JSON.parse(text);
      expect(message).to.include('without notifications');
      expect((await browser.get(link.href)).text).to.include('>replay</th>');
      expect(await console.query(`select area, action, target, outcome from actions where area = 'events'`)).to.deep.equal([
        { area: 'events', action: '/events/{id}/replay', target: id, outcome: 'done' },
      ]);
      await eventually(async () => {
        const [run] = await intake.database.rows<{ status: string }>('select status from worker_runs');
        return run?.status === 'succeeded';
      });
    });

    it('leads to the runs those alone who may see them', async () => {
      await intake.deliver([opened(7)]);
      const browser = await console.personWith({ events: 'editor' });
      const { text } = await browser.act(`/events/${await intake.idOf('delivery-7')}/replay`);
      expect(JSON.parse(text).link).to.equal(null);
    });

    it('says why the forge cannot be asked to deliver again', async () => {
      await intake.deliver([opened(7)]);
      const browser = await console.loggedIn();
      const path = `/events/${await intake.idOf('delivery-7')}`;
      expect((await browser.get(path)).text)
        .to.include('/replay"')
        .and.not.include('/redeliver"');
      const { status, text } = await browser.act(`${path}/redeliver`);
      expect([status, JSON.parse(text).detail]).to.deep.equal([409, 'Forge__ApiToken is not set.']);
    });

    it('shows a reader no button, and takes no change from one', async () => {
      await intake.deliver([opened(7)]);
      const id = await intake.idOf('delivery-7');
      const browser = await console.personWith({ events: 'reader' });
      expect((await browser.get(`/events/${id}`)).text).not.to.include('/replay');
      expect((await browser.post(`/events/${id}/replay`)).status).to.equal(403);
    });
  });

  describe('GET /trace/{deliveryId}', () => {
    it('shows the way of a delivery, and what is unknown of one', async () => {
      await intake.deliver([opened(7)]);
      const browser = await console.loggedIn();
      const { text } = await browser.get('/trace/delivery-7');
      for (const step of ['Received', 'Stored', 'In the lists', `/events/${await intake.idOf('delivery-7')}`]) expect(text, step).to.include(step);
      expect((await browser.get('/trace/unheard%2Fof')).text).to.include('it never arrived');
    });

    it('has its steps in the order of time, those without a time last', () => {
      const at = (minute: number) => `2026-03-15T12:0${minute}:00Z`;
      const dead = { connection: 'BROKER_URL_1', messageId: 'one', queue: 'forge', event: 'issues', deliveryId: 'delivery', cause: 'failed', reason: 'Late' };
      const trace = {
        events: [],
        deletedAt: [at(1)],
        duplicates: [{ source: 'forge', deliveryId: 'again', relayId: null, receivedAt: at(4) }],
        trackedAt: [at(2)],
        rows: [],
        isRedeliverable: false,
        notifications: [],
        deadLetters: [
          { ...dead, diedAt: null, returns: 0 },
          { ...dead, reason: 'Early', diedAt: at(0), returns: 0 },
        ],
        connections: [],
      };
      const refused = {
        id: 'two',
        receivedAt: at(3),
        status: 401,
        reason: 'Unsigned',
        event: 'issues',
        deliveryId: '',
        hookId: '0',
        targetId: '0',
        payloadBytes: 0,
      };
      const text = toMarkup(traceView(createLocale({ language: 'en', zone: 'Europe/Dublin', now: new Date() }), trace, { rejected: [refused] }));
      expect(text.match(/Early|Stored|In the lists|Unsigned|Repeated|Late/g)).to.deep.equal([
        'Early',
        'Stored',
        'In the lists',
        'Unsigned',
        'Repeated',
        'Late',
      ]);
    });
  });

  describe('the typed lists', () => {
    const lists = ['issues', 'pull-requests', 'releases', 'runs', 'pushes', 'branches', 'comments', 'repositories', 'users', 'installations'];

    it('show the rows of every table of the intake, each column filled by some', async () => {
      const { payload: release } = example('release', 'published');
      const early = { ...release, release: { ...Object(release['release']), id: 7, prerelease: true } };
      await intake.deliver([...examples, { event: 'release', payload: early }]);
      const browser = await console.loggedIn();
      for (const list of lists) {
        const { status, text } = await browser.get(`/events/${list}`);
        expect(status, list).to.equal(200);
        expect(rowsIn(text).length, list).to.be.above(0);
        const labels = [...text.matchAll(/<th role="columnheader" scope="col"[^>]*>([^<]*)</g)].map(([, label]) => label ?? '');
        for (const label of labels.slice(1)) {
          const cells = [...text.matchAll(new RegExp(`data-label="${label}"[^>]*>(.*?)</td>`, 'g'))].map(([, cell]) => cell);
          // No example of the forge has these two.
          if (!['Suspended', 'App'].includes(label)) expect(cells.some(Boolean), `${list}: ${label}`).to.equal(true);
        }
      }
    });

    it('say that they are empty, and narrow by their filters', async () => {
      const browser = await console.loggedIn();
      for (const list of lists) expect((await browser.get(`/events/${list}`)).text, list).to.include('none yet');
      await intake.deliver([opened(7), { ...opened(8), payload: issue(8, { state: 'closed' }) }]);
      expect(rowsIn((await browser.get('/events/issues?state=closed')).text)).to.have.length(1);
      expect((await browser.get('/events/issues?sender=nobody')).text).to.include('Clear filters');
      expect((await browser.get('/events/issues?state=ajar')).status).to.equal(400);
    });

    it('plot runs by how they ended', async () => {
      const { payload } = example('workflow_run', 'completed');
      await intake.deliver([
        { event: 'workflow_run', payload: { ...payload, workflow_run: { ...Object(payload['workflow_run']), updated_at: new Date().toISOString() } } },
      ]);
      expect((await (await console.loggedIn()).get('/events/runs')).text)
        .to.include('Runs by conclusion')
        .and.to.include('>failure<');
    });

    it('are shown without a plot that cannot be had', async () => {
      await intake.deliver([example('workflow_run', 'completed')]);
      const browser = await console.loggedIn();
      intake.fail(/series/);
      try {
        const { status, text } = await browser.get('/events/runs');
        expect([status, rowsIn(text).length]).to.deep.equal([200, 1]);
        expect(text).to.include('Try again');
      } finally {
        intake.fail(/^$/);
      }
    });
  });
});
