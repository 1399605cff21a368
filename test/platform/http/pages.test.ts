// An app that serves pages to people: headers of every answer, no API description, refusals that are pages.
import { expect } from 'chai';
import { z } from 'zod';
import { problemDocuments } from '../../../services/platform/http/refusals.ts';
import { answer, Content, route } from '../../../services/platform/http/route.ts';
import { Common } from '../../../services/platform/problem.ts';
import { startApp, type Started, stopApps } from './app-fixture.ts';

describe('an app of pages', () => {
  after(stopApps);
  let app: Started;
  before(async () => {
    app = await startApp({
      isDescribed: false,
      answerHeaders: { 'X-Of-All': 'usual', 'Cache-Control': 'no-store' },
      refusals: {
        ...problemDocuments,
        write: async ({ status }, { method, url, headers: { accept = '' }, requestId }) => {
          if (accept.includes('text/broken')) throw new Error('the data of the page is away');
          if (!accept.includes('text/html')) return undefined;
          if (status === 403) return { status: 303, headers: { Location: '/login' }, mediaType: 'text/plain', text: '' };
          return { mediaType: 'text/html', text: `<p>${method} ${url} ${requestId}</p>` };
        },
      },
      routes: [
        route({ method: 'get', path: '/page', summary: 's', answers: { 200: z.string() }, handle: ({ url }) => answer(200, new Content('text/plain', url)) }),
        route({ method: 'get', path: '/file', summary: 's', answers: { 200: null }, handle: () => answer(200, null, { 'Cache-Control': 'public' }) }),
        route({ method: 'get', path: '/cookies', summary: 's', answers: { 200: null }, handle: () => answer(200, null, { 'Set-Cookie': ['a=b', 'c=d'] }) }),
        route({
          method: 'get',
          path: '/refused',
          summary: 's',
          answers: { 200: null },
          handle: () => {
            throw Common.forbidden();
          },
        }),
      ],
    });
  });
  const get = (path: string, accept = 'text/html') => fetch(app.url + path, { redirect: 'manual', headers: { Accept: accept, 'X-Request-Id': 'request-1' } });

  it('sends its headers with every answer, unless an answer has its own', async () => {
    for (const path of ['/page', '/file', '/refused', '/none', '/health']) expect((await get(path)).headers.get('x-of-all'), path).to.equal('usual');
    expect((await get('/page')).headers.get('cache-control')).to.equal('no-store');
    expect((await get('/file')).headers.get('cache-control')).to.equal('public');
  });

  it('has no API description', async () => {
    expect((await get('/swagger/v1/swagger.json')).status).to.equal(404);
    expect((await get('/swagger/index.html')).status).to.equal(404);
  });

  it('writes a refusal as the request wants it', async () => {
    const page = await get('/none?a=b');
    expect([page.status, page.headers.get('content-type'), await page.text()]).to.deep.equal([404, 'text/html', '<p>GET /none?a=b request-1</p>']);
    const document = await get('/none', 'application/json');
    expect([document.status, document.headers.get('content-type')]).to.deep.equal([404, 'application/problem+json']);
  });

  it('writes a problem document where its form fails, and logs why', async () => {
    const answered = await get('/none', 'text/broken');
    expect([answered.status, answered.headers.get('content-type')]).to.deep.equal([404, 'application/problem+json']);
    expect(await answered.json()).to.include({ status: 404, title: 'Not Found' });
    expect(app.lines().filter(({ level }) => level === 'error')).to.have.length(1);
  });

  it('sends a header for each value of a list', async () => {
    expect((await get('/cookies')).headers.getSetCookie()).to.deep.equal(['a=b', 'c=d']);
  });

  it('leads elsewhere instead of refusing', async () => {
    const refused = await get('/refused');
    expect([refused.status, refused.headers.get('location')]).to.deep.equal([303, '/login']);
    expect((await get('/refused', 'application/json')).status).to.equal(403);
  });

  it('gives a handler the path and query as they were asked for', async () => {
    expect(await (await get('/page?q=%20x&q=y')).text()).to.equal('/page?q=%20x&q=y');
  });
});
