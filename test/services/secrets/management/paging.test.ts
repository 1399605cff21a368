// Pages of the lists whose body is an array: the next page is in Link, and without a limit all of the list is answered.
import { expect } from 'chai';
import { type Answer, manage, newApplication, putSecret, secretValue, useService } from '../service.ts';

describe('pages of the lists of the management plane', () => {
  const running = useService();
  let slug: string;
  before(async () => {
    for (const name of ['Zebra', 'alpha', 'Beta', 'beta 2', 'gamma']) await newApplication(running.url, name);
    ({ slug } = await newApplication(running.url, 'Paged'));
    for (const name of ['Staging', 'production', 'a-last']) await manage(running.url, 'POST', `/${slug}/environments`, { name });
    for (const name of ['b', 'a/b', 'A', 'é', 'z'])
      for (const value of ['one', 'two', 'three', 'four', 'five']) await putSecret(running.url, slug, name, { value: secretValue(value) });
    for (const environmentSlug of ['staging', 'local'])
      for (const key of ['b', 'B', 'a:b', 'é']) await manage(running.url, 'POST', `/${slug}/configurations`, { environmentSlug, key, value: 'on' });
  });

  const items = ({ status, body }: Answer): unknown[] => {
    expect(status).to.equal(200);
    return [body].flat();
  };
  const nextOf = ({ headers }: Answer) => /^<(\?[^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  /** All pages, from one to the next by its link. */
  const walk = async (path: string, limit: number) => {
    const pages: unknown[][] = [];
    for (let query: string | undefined = `?limit=${limit}`; query !== undefined;) {
      const answer = await manage(running.url, 'GET', path + query);
      pages.push(items(answer));
      query = nextOf(answer);
    }
    return pages;
  };

  for (const [list, path] of [
    ['applications', () => ''],
    ['environments', () => `/${slug}/environments`],
    ['secrets', () => `/${slug}/secrets`],
    ['versions', () => `/${slug}/secrets/A/versions/local`],
    ['configuration entries', () => `/${slug}/configurations`],
  ] as const)
    it(`give each of the ${list} once, in the order of the whole list`, async () => {
      const whole = await manage(running.url, 'GET', path());
      expect(whole.headers.get('link')).to.equal(null);
      expect(items(whole)).to.have.length.of.at.least(4);
      for (const limit of [1, 3, 200]) {
        const pages = await walk(path(), limit);
        expect(pages.flat()).to.deep.equal(items(whole));
        expect(pages).to.have.length(Math.ceil(items(whole).length / limit));
      }
    });

  it('go on behind a row that was deleted meanwhile', async () => {
    const { slug: other } = await newApplication(running.url);
    for (const name of ['a', 'b', 'c', 'd']) await manage(running.url, 'POST', `/${other}/secrets`, { name });
    const first = await manage(running.url, 'GET', `/${other}/secrets?limit=2`);
    await manage(running.url, 'DELETE', `/${other}/secrets/b`);
    const second = await manage(running.url, 'GET', `/${other}/secrets${nextOf(first)}`);
    expect(items(second).map((one) => Reflect.get(Object(one), 'name') as unknown)).to.deep.equal(['c', 'd']);
  });

  it('take a position without a limit: the rest of the list', async () => {
    const next = nextOf(await manage(running.url, 'GET', `/${slug}/secrets?limit=2`)) ?? '';
    const rest = await manage(running.url, 'GET', `/${slug}/secrets${next.replace('limit=2&', '')}`);
    expect(items(rest)).to.deep.equal(items(await manage(running.url, 'GET', `/${slug}/secrets`)).slice(2));
  });

  it('answer 400 to a limit or position that is none, also to that of another list', async () => {
    const foreign = nextOf(await manage(running.url, 'GET', '?limit=1')) ?? '';
    for (const path of ['', `/${slug}/environments`, `/${slug}/secrets`, `/${slug}/secrets/A/versions/local`, `/${slug}/configurations`])
      for (const query of ['?limit=0', '?limit=201', '?limit=x', '?after=x', `?after=${'x'.repeat(5000)}`, ...(path === '' ? [] : [foreign])])
        expect((await manage(running.url, 'GET', path + query)).status, path + query).to.equal(400);
  });
});
