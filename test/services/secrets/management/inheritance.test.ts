// Environments that inherit: where the values of a read come from, and what is refused.
import { expect } from 'chai';
import { consume, manage, member, newApplication, putSecret, secretValue, useService } from '../service.ts';

describe('an environment that inherits from another', () => {
  const running = useService();
  let slug: string;
  let key: string;
  beforeEach(async () => {
    ({ slug, key } = await newApplication(running.url));
    for (const name of ['Production', 'Staging']) await manage(running.url, 'POST', `/${slug}/environments`, { name });
  });
  const inherit = (environment: string, inherits: unknown) => manage(running.url, 'PUT', `/${slug}/environments/${environment}`, { inherits });
  const put = (environmentSlug: string, value: string, more = {}) => putSecret(running.url, slug, 'password', { environmentSlug, value, ...more });
  const read = (environment: string) => consume(running.url, key, `/secrets/password?environment=${environment}`);
  const enter = (environmentSlug: string, entry: string, value: string) =>
    manage(running.url, 'POST', `/${slug}/configurations`, { environmentSlug, key: entry, value });

  it('is shown with the slug of the other one, and without once it inherits from none', async () => {
    const set = await inherit('staging', 'production');
    expect(set.status).to.equal(200);
    expect(set.body).to.include({ slug: 'staging', inherits: 'production' });
    const listed = async () => [(await manage(running.url, 'GET', `/${slug}/environments`)).body].flat().map((one) => Reflect.get(Object(one), 'inherits'));
    expect(await listed()).to.deep.equal([undefined, undefined, 'production']);
    expect((await inherit('staging', null)).body).not.to.have.property('inherits');
    expect(await listed()).to.deep.equal([undefined, undefined, undefined]);
  });

  it('is served the secret of the other one where it has no version, and the answer names it', async () => {
    const value = secretValue('of production');
    await put('production', value);
    expect((await read('staging')).status).to.equal(404);
    await inherit('staging', 'production');
    const { body } = await read('staging');
    expect(body).to.include({ value });
    expect(body).to.have.nested.property('properties.inheritedFrom', 'production');
    expect((await read('production')).body).not.to.have.nested.property('properties.inheritedFrom');
  });

  it('is served its own version where it has one, and nothing where that is disabled', async () => {
    await put('production', secretValue('of production'));
    await inherit('staging', 'production');
    const own = secretValue('of staging');
    await put('staging', own);
    expect(member(await read('staging'), 'value')).to.equal(own);
    await manage(running.url, 'PATCH', `/${slug}/secrets/password/versions/staging/1`, { isEnabled: false });
    expect((await read('staging')).status).to.equal(404);
  });

  it('is served the entries of the other one that it has not itself', async () => {
    await enter('production', 'a', 'of production');
    await enter('production', 'b', 'of production');
    await enter('staging', 'b', 'of staging');
    await inherit('staging', 'production');
    const { body } = await consume(running.url, key, '/configurations?environment=staging');
    expect(body).to.deep.equal({
      items: [
        { key: 'a', value: 'of production', label: 'staging', inheritedFrom: 'production' },
        { key: 'b', value: 'of staging', label: 'staging' },
      ],
    });
    expect((await consume(running.url, key, '/configurations/a?environment=staging')).body).to.include({ inheritedFrom: 'production' });
    expect((await consume(running.url, key, '/configurations/b?environment=staging')).body).not.to.have.property('inheritedFrom');
    expect((await consume(running.url, key, '/configurations?environment=production')).body).to.have.nested.property('items.length', 2);
  });

  it('makes no chain and no cycle: 409', async () => {
    await inherit('staging', 'production');
    for (const [environment, inherits] of [
      ['local', 'staging'],
      ['production', 'local'],
      ['production', 'staging'],
      ['local', 'local'],
    ] as const)
      expect((await inherit(environment, inherits)).status, `${environment} ${inherits}`).to.equal(409);
    expect((await inherit('local', 'production')).status).to.equal(200);
  });

  it('is refused with 404 where one of the two does not exist, and with 400 without a slug or null', async () => {
    expect((await inherit('staging', 'nowhere')).status).to.equal(404);
    expect((await inherit('nowhere', 'staging')).status).to.equal(404);
    for (const wrong of ['', 5, undefined]) expect((await inherit('staging', wrong)).status, String(wrong)).to.equal(400);
  });

  it('keeps the other one from being deleted: 409', async () => {
    await inherit('staging', 'production');
    expect((await manage(running.url, 'DELETE', `/${slug}/environments/production`)).status).to.equal(409);
    expect((await manage(running.url, 'DELETE', `/${slug}/environments/staging`)).status).to.equal(204);
    expect((await manage(running.url, 'DELETE', `/${slug}/environments/production`)).status).to.equal(204);
  });

  it('is in the change feed with each change of the other one', async () => {
    await inherit('staging', 'production');
    await put('production', secretValue('followed'));
    const { rows } = await running.service.database.driver.query(
      "select environment from changes where application = $1 and action = 'secret.add-version' order by number",
      [slug],
    );
    expect(rows.map(({ environment }) => environment)).to.deep.equal(['production', 'staging']);
  });

  it('does not read the other one of another application', async () => {
    await put('production', secretValue('mine'));
    await inherit('staging', 'production');
    const other = await newApplication(running.url);
    expect((await consume(running.url, other.key, '/secrets/password?environment=staging')).status).to.equal(404);
  });
});
