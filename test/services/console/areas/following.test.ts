// Lists that follow the event log, on a real intake.
import { expect } from 'chai';
import { eventually } from '../../../support/wait.ts';
import { pullRequest } from '../../webhook-intake/dashboard/ground.ts';
import { type Browser, useConsole } from '../service.ts';
import { opened, rowsIn, startIntake, type TestIntake } from './intake.ts';

describe('GET /events/follow', () => {
  let intake: TestIntake;
  const console = useConsole(async () => {
    intake = await startIntake();
    // No list of these tests ends by a sign of life.
    return { environment: intake.settings, heartbeatMs: 600_000 };
  });
  beforeEach(() => intake.database.empty());
  after(() => intake.close());

  type Stream = { readonly status: number; text: string; readonly isOver: boolean; close(): void };
  const streams: Stream[] = [];
  afterEach(() => streams.splice(0).forEach((stream) => stream.close()));

  async function follow(browser: Browser, query = '', headers: Readonly<Record<string, string>> = {}): Promise<Stream> {
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const end = new AbortController();
    const response = await fetch(`${console.url}/events/follow${query}`, {
      headers: { Accept: 'text/event-stream', Cookie: cookie, ...headers },
      signal: end.signal,
    });
    let isOver = false;
    const stream = {
      status: response.status,
      text: '',
      get isOver() {
        return isOver;
      },
      close: () => end.abort(),
    };
    streams.push(stream);
    const read = async () => {
      for await (const chunk of response.body ?? []) stream.text += Buffer.from(chunk).toString();
    };
    void read()
      .catch(() => undefined)
      .finally(() => (isOver = true));
    return stream;
  }
  const idsOf = ({ text }: Stream) => [...text.matchAll(/^data: .*?"data-row":"([^"]+)"/gm)].map(([, id]) => id);
  const lastIdOf = ({ text }: Stream) => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
  const sinceIn = (text: string) => /data-live="\/events\/follow\?(?:[^"]*&amp;)?since=([^"&]+)/.exec(text)?.[1] ?? '';

  it('brings what is stored after the page was made, and goes on behind the last event that a browser has', async () => {
    const browser = await console.loggedIn();
    const since = sinceIn((await browser.get('/events')).text);
    await intake.deliver([opened(1)]);
    const stream = await follow(browser, `?since=${since}`);
    await eventually(async () => expect(idsOf(stream)).to.deep.equal([await intake.idOf('delivery-1')]));
    await intake.deliver([opened(2)]);
    await eventually(async () => expect(idsOf(stream)).to.deep.equal([await intake.idOf('delivery-1'), await intake.idOf('delivery-2')]));
    stream.close();
    await intake.deliver([opened(3)]);
    const again = await follow(browser, `?since=${since}`, { 'Last-Event-ID': lastIdOf(stream) });
    await eventually(async () => expect(idsOf(again)).to.deep.equal([await intake.idOf('delivery-3')]));
    const byScript = await follow(browser, `?since=${since}&lastEventId=${lastIdOf(stream)}`);
    await eventually(async () => expect(idsOf(byScript)).to.deep.equal([await intake.idOf('delivery-3')]));
  });

  it('brings only what passes the filters', async () => {
    const browser = await console.loggedIn();
    const stream = await follow(browser, `?event=pull_request&q=CHÁNGE`);
    await intake.deliver([opened(1), { event: 'pull_request', payload: pullRequest(2), deliveryId: 'pull' }]);
    await eventually(async () => expect(idsOf(stream)).to.deep.equal([await intake.idOf('pull')]));
  });

  it('finds words as the list does, whatever their marks and forms', async () => {
    const browser = await console.loggedIn();
    const query = `?q=${encodeURIComponent("don't find")}`;
    const stream = await follow(browser, query);
    await intake.deliver([opened(1, 'Signals don’t ﬁnd Łódź'), opened(2)]);
    await eventually(async () => expect(idsOf(stream)).to.deep.equal([await intake.idOf('delivery-1')]));
    expect(rowsIn((await browser.get(`/events${query}`)).text)).to.deep.equal([await intake.idOf('delivery-1')]);
  });

  it('asks the intake once, however many lists follow, and not while none does', async () => {
    const browser = await console.loggedIn();
    const polls = () => intake.polls();
    expect(polls()).to.equal(0);
    const five = await Promise.all(Array.from({ length: 5 }, () => follow(browser)));
    await eventually(() => expect(polls()).to.equal(1));
    await intake.deliver([opened(1)]);
    for (const stream of five) await eventually(async () => expect(idsOf(stream)).to.deep.equal([await intake.idOf('delivery-1')]));
    await eventually(() => expect(polls()).to.equal(1));
    five.forEach((stream) => stream.close());
    await eventually(() => expect(polls()).to.equal(0));
  });

  for (const [how, end] of [
    ['logs out', async (browser: Browser) => browser.post('/logout')],
    ['ends the session elsewhere', async () => (await console.loggedIn()).post('/me/sessions/end-others')],
    ['is disabled', async (browser: Browser) => browser.post(`/admin/users/${await personId()}/disable`)],
  ] as const) {
    it(`ends at once when the person ${how}`, async () => {
      const browser = await console.loggedIn();
      await console.query(
        `insert into people select gen_random_uuid(), 'local', 'otto', 'Otto', null, 'x', roles, language, zone, theme, density, has_keys, created_at from people`,
      );
      const stream = await follow(browser);
      await eventually(() => expect(stream.text).to.include('retry'));
      await end(browser);
      // The next sign of life would come after ten minutes.
      await eventually(() => expect(stream.isOver).to.equal(true));
      expect(stream.text).to.include('event: ended');
    });
  }
  const personId = async () => ((await console.query(`select id from people where name = 'admin'`)) as { id: string }[])[0]?.id ?? '';

  it('leaves places to others: one person has fifty, over all sessions', async () => {
    const [browser, other] = [await console.loggedIn(), await console.loggedIn()];
    const followed = await Promise.all(Array.from({ length: 50 }, (_, index) => follow(index % 2 === 0 ? browser : other)));
    expect(followed.map(({ status }) => status)).to.deep.equal(Array.from({ length: 50 }, () => 200));
    expect((await follow(browser)).status).to.equal(503);
    const [anna, password] = [console.browser(), 'a password of Anna'];
    await browser.post('/admin/users/add', { name: 'Anna', password, 'role-events': 'reader' });
    await anna.logIn('anna', password);
    expect((await follow(anna)).status).to.equal(200);
    followed[0]?.close();
    await eventually(async () => expect((await follow(other)).status).to.equal(200));
  });

  it('is refused without a session or a role', async () => {
    expect((await follow(console.browser())).status).to.equal(401);
    expect((await follow(await console.personWith({ bookmarks: 'admin' }))).status).to.equal(403);
  });
});
