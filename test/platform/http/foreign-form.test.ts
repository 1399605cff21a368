// Routes in the wire form of another product: names with slashes in the path, and refusals that read as that product's.
import { expect } from 'chai';
import { z } from 'zod';
import type { RefusalForm } from '../../../services/platform/http/refusals.ts';
import { route } from '../../../services/platform/http/route.ts';
import { Common } from '../../../services/platform/problem.ts';
import { startApp, type Started, stopApps } from './app-fixture.ts';

const refusals: RefusalForm = {
  description: 'A list of errors.',
  mediaType: 'application/json',
  toBody: ({ status }) => ({ errors: [status] }),
  schemaOf: () => z.object({ errors: z.array(z.int()) }),
};

describe('a route in the form of another product', () => {
  after(stopApps);
  let app: Started;
  before(async () => {
    const params = z.object({ mount: z.string(), name: z.string() });
    const read = route({
      method: 'get',
      path: '/v1/{mount}/data/{+name}',
      summary: 's',
      refusals,
      params,
      answers: { 200: params },
      problems: [Common.notFound],
      handle: ({ params: { mount, name } }) => {
        if (name === 'none') throw Common.notFound();
        return { mount, name };
      },
    });
    app = await startApp({ routes: [read] });
  });
  const get = async (path: string) => {
    const answered = await fetch(app.url + path);
    return { status: answered.status, type: answered.headers.get('content-type'), body: await answered.json() };
  };

  it('takes the rest of a path as one parameter, decoded', async () => {
    expect((await get('/v1/prod/data/team/db')).body).to.deep.equal({ mount: 'prod', name: 'team/db' });
    expect((await get('/v1/prod/data/team%2Fdb%20one')).body).to.deep.equal({ mount: 'prod', name: 'team/db one' });
  });

  it('refuses in the form of the route, and elsewhere in that of the app', async () => {
    expect(await get('/v1/prod/data/none')).to.deep.include({ status: 404, type: 'application/json', body: { errors: [404] } });
    expect(await get('/v1/prod/data/%zz')).to.deep.include({ status: 400, body: { errors: [400] } });
    expect(await get('/v1/prod')).to.deep.include({ status: 404, type: 'application/problem+json' });
  });

  it('is described with its parameter and its form', () => {
    const described = JSON.parse(JSON.stringify(app.app.openapi())) as { paths: Record<string, { get: { responses: Record<string, { content: object }> } }> };
    expect(described.paths['/v1/{mount}/data/{name}']?.get.responses['404']?.content).to.have.property('application/json');
  });
});
