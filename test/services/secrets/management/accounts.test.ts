// ServiceAccounts that are bound to applications: routes and rules. Reads with their tokens: consumer/account-tokens.slow.test.ts.
import { expect } from 'chai';
import { auditOf } from '../consumer/audited.ts';
import { adminToken, call, manage, member, newApplication, useService } from '../service.ts';

describe('ServiceAccounts of an application', () => {
  const running = useService();
  let slug: string;
  let namespace: string;
  let count = 0;
  beforeEach(async () => {
    ({ slug } = await newApplication(running.url));
    namespace = `namespace-${++count}`;
  });
  const bind = (account: string, to = slug) => manage(running.url, 'PUT', `/${to}/service-accounts/${account}`);
  const unbind = (account: string) => manage(running.url, 'DELETE', `/${slug}/service-accounts/${account}`);
  const list = (query = '') => manage(running.url, 'GET', `/${slug}/service-accounts${query}`);
  const names = async (query = '') => [member(await list(query), 'items')].flat().map((one) => Reflect.get(Object(one), 'name') as unknown);

  describe('PUT /api/management/applications/{slug}/service-accounts/{namespace}/{account}', () => {
    it('binds an account, once however often it is asked', async () => {
      const bound = await bind(`${namespace}/web`);
      expect(bound.status).to.equal(200);
      expect(bound.body).to.include({ namespace, name: 'web', lastUsedAt: null });
      expect((await bind(`${namespace}/web`)).body).to.deep.equal(bound.body);
      expect(member(await list(), 'items')).to.deep.equal([bound.body]);
    });

    it('answers 409 where another application has the account, also when both come at once', async () => {
      const other = await newApplication(running.url);
      const answers = await Promise.all([bind(`${namespace}/web`), bind(`${namespace}/web`, other.slug)]);
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([200, 409]);
    });

    it('binds an account anew once its application is deleted', async () => {
      const other = await newApplication(running.url);
      await bind(`${namespace}/web`, other.slug);
      await manage(running.url, 'DELETE', `/${other.slug}`);
      expect((await bind(`${namespace}/web`)).status).to.equal(200);
    });

    it('answers 400 to a name that Kubernetes does not have, 404 to an unknown application', async () => {
      for (const account of ['Shop/web', 'shop/We', `${'n'.repeat(64)}/web`, `shop/${'a'.repeat(254)}`, 'shop/-web', 'sh.op/web', 'shop/a%2Fb', 'shop/%00'])
        expect((await bind(account)).status, account).to.equal(400);
      expect((await bind(`${namespace}/web`, 'none')).status).to.equal(404);
    });

    it('answers 409 above 100 accounts, also when many come at once', async () => {
      const bindFrom = (from: number, count: number) =>
        Promise.all(Array.from({ length: count }, async (_, index) => (await bind(`${namespace}/account-${from + index}`)).status));
      // A busy service answers 503 to some of very many at once.
      for (let from = 0; from < 95; from += 5) expect(new Set(await bindFrom(from, 5))).to.deep.equal(new Set([200]));
      expect((await bindFrom(95, 8)).toSorted()).to.deep.equal([200, 200, 200, 200, 200, 409, 409, 409]);
    });
  });

  describe('GET /api/management/applications/{slug}/service-accounts', () => {
    it('lists the accounts by namespace and name, in pages', async () => {
      for (const account of ['c', 'a', 'b.d', 'b']) await bind(`${namespace}/${account}`);
      expect(await names()).to.deep.equal(['a', 'b', 'b.d', 'c']);
      const first = await list('?limit=3');
      expect(await names('?limit=3')).to.deep.equal(['a', 'b', 'b.d']);
      expect(await names(`?limit=3&after=${String(member(first, 'next'))}`)).to.deep.equal(['c']);
      expect(member(await list(`?after=${String(member(first, 'next'))}`), 'next')).to.equal(null);
    });

    it('lists no key, and the keys hold no account', async () => {
      await bind(`${namespace}/web`);
      expect(await names()).to.deep.equal(['web']);
      expect([member(await manage(running.url, 'GET', `/${slug}/keys`), 'items')].flat()).to.have.length(1);
    });

    it('answers 400 to a query that it does not know, 404 to an unknown application', async () => {
      for (const query of ['?limit=0', '?limit=201', '?after=x', '?namespace=shop']) expect((await list(query)).status, query).to.equal(400);
      expect((await manage(running.url, 'GET', '/none/service-accounts')).status).to.equal(404);
    });
  });

  describe('DELETE /api/management/applications/{slug}/service-accounts/{namespace}/{account}', () => {
    it('unbinds an account; another application can have it then', async () => {
      await bind(`${namespace}/web`);
      expect((await unbind(`${namespace}/web`)).status).to.equal(204);
      expect(await names()).to.deep.equal([]);
      const other = await newApplication(running.url);
      expect((await bind(`${namespace}/web`, other.slug)).status).to.equal(200);
    });

    it('answers 404 to an account that is not bound to the application', async () => {
      const other = await newApplication(running.url);
      await bind(`${namespace}/web`, other.slug);
      for (const account of [`${namespace}/web`, `${namespace}/none`, 'x%00/y', 'Shop/We']) expect((await unbind(account)).status, account).to.equal(404);
    });
  });

  it('stay when all keys are rotated, and no key id deletes them', async () => {
    const id = String(member(await bind(`${namespace}/web`), 'id'));
    await manage(running.url, 'POST', `/${slug}/rotate-key`);
    expect((await manage(running.url, 'DELETE', `/${slug}/keys/${id}`)).status).to.equal(404);
    expect(await names()).to.deep.equal(['web']);
  });

  it('are in the audit and in the change feed by namespace and name', async () => {
    const cursor = String(member(await changes(), 'cursor'));
    await bind(`${namespace}/web`);
    await unbind(`${namespace}/web`);
    const entries = await auditOf(running.service, slug, { plane: 'management', count: 3 });
    expect(entries.slice(0, 2).map(({ action, subject, outcome }) => [action, subject, outcome])).to.deep.equal([
      ['application.unbind-account', `${namespace}/web`, 'done'],
      ['application.bind-account', `${namespace}/web`, 'done'],
    ]);
    const said = [member(await changes(`?after=${cursor}`), 'changes')].flat();
    expect(said.map((one) => Reflect.get(Object(one), 'action') as unknown)).to.deep.equal(['application.bind-account', 'application.unbind-account']);
  });

  const changes = (query = '') => call(running.url, { path: `/api/management/changes${query}`, headers: { Authorization: `Bearer ${adminToken}` } });
});
