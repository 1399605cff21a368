// The API description of the secrets service, beyond the rules for every description.
import { expect } from 'chai';
import { call, useService } from './service.ts';

type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
};

describe('the API description of the secrets service', () => {
  const running = useService();
  let operations: [string, Operation][];
  before(async () => {
    const { text } = await call(running.url, { path: '/swagger/v1/swagger.json' });
    const { paths }: { paths: Record<string, Record<string, Operation>> } = JSON.parse(text);
    operations = Object.entries(paths)
      .filter(([path]) => path.startsWith('/api/'))
      .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method.toUpperCase()} ${path}`, operation]));
  });

  it('has every route of the document, the change feed, and the added ones', () => {
    const added = [
      ...['changeSecretVersion', 'restoreSecretVersion', 'updateEnvironment', 'listApplicationKeys', 'createApplicationKey', 'deleteApplicationKey'],
      ...['readSecrets', 'copySecretVersion', 'importEnvironment', 'listCoverage', 'listExpiring', 'listAudit', 'listApplicationSummaries', 'countReads'],
      ...['listServiceAccounts', 'bindServiceAccount', 'unbindServiceAccount'],
    ];
    expect(operations).to.have.length(19 + 3 + 1 + added.length);
    expect(operations.map(([route]) => route)).to.include('GET /api/management/changes');
  });

  it('says of every route that it may answer 401 and 503', () => {
    for (const [route, { responses }] of operations) expect(responses, route).to.include.keys('401', '503');
  });

  it('says of every write that its application may be held, or the master keys not usable', () => {
    for (const [route, { responses }] of operations.filter(([route]) => !route.startsWith('GET')))
      expect(responses['503']?.description, route).to.contain('Another write').and.to.contain('The master keys').and.to.contain('Service Unavailable');
  });

  it('says that the environment of a read is required', () => {
    const reads = operations.filter(([route]) => route.includes('/api/consumer/'));
    expect(reads).to.have.length(4);
    for (const [route, { parameters = [] }] of reads)
      expect(
        parameters.find(({ name }) => name === 'environment'),
        route,
      ).to.include({ in: 'query', required: true });
  });
});
