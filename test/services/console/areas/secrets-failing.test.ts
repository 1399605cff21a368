// The area of secrets while its service is slow, fails in between, or has another editor; with many environments.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { secretValue } from '../../secrets/service.ts';
import { placeOf, useSecrets } from './secrets-fixture.ts';

describe('console secrets, while the service is not well', function () {
  this.timeout(60_000);
  const running = useSecrets();
  const { console, put, at, versions } = running;

  it('shows its pages without the statistics that do not come in time', async () => {
    await put('db');
    const browser = await console.loggedIn();
    running.meet(({ path }) => (/\/(reads|expiring)\b/.test(path) ? 'hang' : undefined));
    const pages = await Promise.all(['/secrets?q=', at(), at('/db')].map((path) => browser.get(path)));
    for (const { status, text } of pages) {
      expect(status).to.equal(200);
      expect(text).to.include('does not answer in time');
    }
    expect(pages.map(({ text }) => text.includes('>db<'))).to.deep.equal([false, true, true]);
  });

  describe('POST /secrets/{app}/add', () => {
    const add = async () => (await console.loggedIn()).post(at('/add'), { name: 'fresh', environment: 'local', value: secretValue('fresh') });
    const isValueCall = ({ method, path }: { readonly method: string; readonly path: string }) => method === 'POST' && path.endsWith('/values');

    it('keeps the version that another person added meanwhile, and leads to the secret', async () => {
      let isFirst = true;
      running.meet(async (call) => {
        if (isFirst && isValueCall(call)) await put('fresh');
        isFirst &&= !isValueCall(call);
        return undefined;
      });
      expect(placeOf(await add())).to.deep.equal([303, at('/fresh')]);
      expect(await versions('fresh')).to.have.length(1);
    });

    it('keeps the value whose answer was lost, and says that something failed', async () => {
      running.meet((call) => (isValueCall(call) ? 'lost' : undefined));
      const browser = await console.loggedIn();
      const answered = await browser.post(at('/add'), { name: 'fresh', environment: 'local', value: secretValue('fresh') });
      expect(placeOf(answered)).to.deep.equal([303, at('/fresh')]);
      expect(await versions('fresh')).to.have.length(1);
      expect((await browser.get(at('/fresh'))).text).to.include('adding its value failed');
    });
  });

  it('asks for eight environments at a time', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `Place ${index}`);
    for (const name of names) await running.manage('POST', '/environments', { name });
    await put('db');
    let [now, most] = [0, 0];
    running.meet(async ({ path }) => {
      if (!path.includes('/versions/')) return undefined;
      most = Math.max(most, (now += 1));
      await sleep(50);
      now -= 1;
      return undefined;
    });
    const browser = await console.loggedIn();
    const { status, text } = await browser.get(at('/db'));
    expect(status).to.equal(200);
    expect(text).to.include('place-0').and.include('place-11');
    const environment = names.map((name) => name.toLowerCase().replace(' ', '-'));
    expect((await browser.act(at('/db/values'), { environment, value: secretValue('many') })).status).to.equal(200);
    expect(most).to.be.within(2, 8);
  });
});
