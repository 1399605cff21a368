// Every rendering before a real API server: schemas, validation and the restricted Pod Security Standard, strictly and without a warning.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { apiServer, createTestNamespace, isKnown, type TestNamespace } from './api-server.ts';
import { render } from './chart.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();

describeWith(apiServer, 'a strict dry run on the API server', () => {
  let namespace: TestNamespace;
  /** As text: most objects are the same with many value sets, and the server would only say the same. */
  const taken = new Set<string>();
  before(async () => {
    namespace = await createTestNamespace();
  });

  for (const [name, values] of sets) {
    it(`takes ${name} without a warning`, async () => {
      const manifests = (await render(values)).filter((manifest) => isKnown(manifest) && !taken.has(JSON.stringify(manifest)));
      if (manifests.length === 0) return;
      const { code, stdout, stderr } = await namespace.dryRun(manifests);
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
      expect(stdout.split('\n')).to.have.length(manifests.length + 1);
      for (const manifest of manifests) taken.add(JSON.stringify(manifest));
    });
  }

  it('takes a release with the longest name that Helm allows', async () => {
    const { stderr } = await namespace.dryRun(await render(sets.get('everything on'), { release: 'r'.repeat(53) }));
    expect(stderr).to.equal('');
  });

  it('refuses an unknown member, and warns of a pod below the standard', async () => {
    const deployment = (spec: object) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'canary' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'main', image: 'busybox:1' }] } },
        ...spec,
      },
    });
    const { stderr: said } = await namespace.dryRun([deployment({ replica: 2 })]);
    expect(said, said).to.contain('.spec.replica: field not declared in schema');
    expect((await namespace.dryRun([deployment({})])).stderr).to.match(/^Warning: would violate PodSecurity "restricted:latest"/);
  });
});
