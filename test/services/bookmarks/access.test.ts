// Who may do what: reading is open, writing needs one of the keys.
import { expect } from 'chai';
import { apiKey, call, startService, unknownId, useService } from './service.ts';

const body = { title: 't', url: 'https://example.org/' };

describe('access to bookmarks', () => {
  const catalogue = useService();
  const writes: readonly (readonly [method: string, path: string])[] = [
    ['POST', '/api/bookmarks'],
    ['PUT', `/api/bookmarks/${unknownId}`],
    ['DELETE', `/api/bookmarks/${unknownId}`],
    ['POST', '/api/folders'],
    ['PUT', `/api/folders/${unknownId}`],
    ['DELETE', `/api/folders/${unknownId}`],
    ['POST', '/api/import'],
    ['PATCH', `/api/bookmarks/${unknownId}`],
    ['PATCH', `/api/folders/${unknownId}`],
    ['POST', '/api/bookmarks/bulk'],
    ['PUT', '/api/tags/none'],
    ['DELETE', '/api/tags/none'],
  ];

  for (const [method, path] of writes)
    it(`answers ${method} ${path} 401 without a right key, before it looks at body or id`, async () => {
      const refusals = [];
      for (const headers of [{}, { 'X-Api-Key': 'wrong' }, { 'X-Api-Key': '' }, { Authorization: `Bearer ${apiKey}` }])
        for (const given of [body, '{', undefined]) refusals.push(await call(catalogue.url, method, path, { body: given, headers }));
      for (const { status, headers, text } of refusals) {
        expect([status, headers.get('www-authenticate')]).to.deep.equal([401, 'X-Api-Key']);
        expect(text).to.equal(refusals[0]?.text);
      }
    });

  it('answers 401 to unknown paths below /api, which reveals none, and then 404', async () => {
    expect((await call(catalogue.url, 'POST', '/api/nothing')).status).to.equal(401);
    expect((await catalogue.post('/api/nothing')).status).to.equal(404);
  });

  it('answers every GET without a key, and ignores the one that is given', async () => {
    const { id } = await catalogue.bookmark();
    const folder = await catalogue.folder();
    for (const path of [
      '/api/bookmarks',
      '/api/bookmarks/counts',
      `/api/bookmarks/${id}`,
      '/api/folders',
      `/api/folders/${folder.id}`,
      '/api/tags',
      '/api/export',
    ])
      for (const headers of [{}, { 'X-Api-Key': 'wrong' }, { 'X-Api-Key': apiKey }]) expect((await catalogue.get(path, headers)).status, path).to.equal(200);
  });

  it('answers health and the API description without a key', async () => {
    for (const path of ['/health', '/health/ready', '/swagger/v1/swagger.json', '/swagger/index.html'])
      expect((await catalogue.get(path)).status).to.equal(200);
  });

  it('takes each of several keys', async () => {
    const service = await startService({ databaseUrl: catalogue.databaseUrl, apiKeys: 'the key of before, the key from now on' });
    try {
      for (const [key, status] of [
        ['the key of before', 201],
        ['the key from now on', 201],
        [apiKey, 401],
      ] as const)
        expect((await call(service.url, 'POST', '/api/bookmarks', { body, headers: { 'X-Api-Key': key } })).status).to.equal(status);
    } finally {
      await service.close();
    }
  });

  it('refuses to start without a key, and names the setting', async () => {
    const started = startService({ databaseUrl: catalogue.databaseUrl, apiKeys: '' });
    await started.then(
      () => expect.fail('it started'),
      (error: unknown) => expect(String(error)).to.contain('Bookmarks__ApiKeys'),
    );
  });
});
