// The search over all areas, with a real intake and a service that is away.
import { expect } from 'chai';
import { issue } from '../../webhook-intake/dashboard/ground.ts';
import { useConsole } from '../service.ts';
import { startIntake, type TestIntake } from './intake.ts';

describe('console search', () => {
  let intake: TestIntake;
  const console = useConsole(async () => {
    intake = await startIntake();
    return { environment: { ...intake.settings, Console__BookmarksUrl: 'http://127.0.0.1:9', Console__BookmarksKey: 'a key of the tests' } };
  });
  after(() => intake.close());
  before(() => intake.deliver([{ event: 'issues', payload: issue(7, { title: 'Signals stay red' }), deliveryId: 'a' }]));

  it('shows what an area has, and in its own place that the service of another one is away', async () => {
    const { status, text } = await (await console.loggedIn()).get('/search?q=STAY+red');
    expect(status).to.equal(200);
    expect(text).to.include('Signals stay red').and.to.include('href="/events?q=STAY+red"').and.to.include('bookmarks does not answer');
  });

  it('asks only the areas that the person may see', async () => {
    const { text } = await (await console.personWith({ events: 'reader' })).get('/search?q=zebra');
    expect(text).to.include('Nothing holds “zebra”').and.not.to.include('bookmarks does not answer');
    expect((await (await console.personWith({})).get('/search?q=red')).text).not.to.include('Signals stay red');
  });

  it('says that nothing is found for what may be the id of a delivery, with the way of that delivery', async () => {
    const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const { text } = await (await console.personWith({ events: 'reader' })).get(`/search?q=${id}`);
    expect(text).to.include('Nothing found').and.to.include(`href="/trace/${id}"`);
    const withoutEvents = await console.personWith({ bookmarks: 'reader' });
    expect((await withoutEvents.get(`/search?q=${id}`)).text).not.to.include('/trace/');
  });

  it('asks nothing before a text is given, and speaks German', async () => {
    const browser = console.browser({ 'Accept-Language': 'de' });
    await browser.logIn();
    expect((await browser.get('/search?q=++')).text)
      .to.include('Alles durchsuchen')
      .and.not.to.include('role="alert"');
    expect((await browser.get('/events')).text).to.include('Zustellungen je Stunde');
  });
});
