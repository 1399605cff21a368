// The chart's rights for the check of tokens, on a real API server: those that are needed, and no others.
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { createTransport, type Transport } from '../../../../services/platform/api-server.ts';
import { countReviews, createAccountTokens } from '../../../../services/secrets/consumer/account-tokens.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { helm, render } from '../../../charts/chart.ts';
import { type Manifest, ofKind } from '../../../charts/manifests.ts';
import { kubernetes, sharedApiServer } from '../../../support/kubernetes.ts';
import { describeWith } from '../../../support/need.ts';
import { audience, type ClusterAccounts, createClusterAccounts } from './cluster-accounts.ts';

const rights = '/apis/rbac.authorization.k8s.io/v1';

describeWith(helm, "the chart's rights for tokens of ServiceAccounts", () => {
  describeWith(kubernetes, 'on a real API server', () => {
    let cluster: ClusterAccounts;
    let made: readonly string[] = [];
    let asService: Transport;
    const closing = new AbortController();

    before(async () => {
      cluster = await createClusterAccounts();
      const values = { services: { secrets: { settings: { Secrets__ServiceAccounts: 'on' } } } };
      const manifests = await render(values, { namespace: cluster.namespace });
      const create = async (plural: string, body: Manifest) => {
        await cluster.transport.json({ method: 'POST', path: `${rights}/${plural}`, body, contentType: 'application/json' });
        return `${rights}/${plural}/${body.metadata.name}`;
      };
      made = [
        ...(await Promise.all(ofKind(manifests, 'ClusterRole').map((role) => create('clusterroles', role)))),
        ...(await Promise.all(ofKind(manifests, 'ClusterRoleBinding').map((binding) => create('clusterrolebindings', binding)))),
      ];
      const { config: administrator } = await sharedApiServer();
      const [server, user] = [administrator.getCurrentCluster(), administrator.getCurrentUser()];
      if (!server || !user) throw new Error('the kubeconfig has no user or no cluster');
      const config = new KubeConfig();
      config.loadFromClusterAndUser(server, { ...user, impersonateUser: `system:serviceaccount:${cluster.namespace}:signalbox-secrets` });
      asService = createTransport(config, closing.signal);
    });
    after(async () => {
      closing.abort();
      for (const path of made) await cluster.transport.json({ method: 'DELETE', path });
      await cluster?.close();
    });

    it('suffice to check a token', async () => {
      expect(made).to.have.length(2);
      const tokens = createAccountTokens({ apiServer: asService, audience, log: silentLog, reviews: countReviews(createMetrics()), clock: () => new Date() });
      expect(await tokens.accountOf(await cluster.tokenOf())).to.equal(`${cluster.namespace}/web`);
    });

    it('read no Secret, and make no token', async () => {
      const paths = [`/api/v1/namespaces/${cluster.namespace}/secrets`, '/api/v1/namespaces', `/api/v1/namespaces/${cluster.namespace}/serviceaccounts`];
      for (const path of paths) {
        const status = await asService.json({ method: 'GET', path }).then(
          () => 200,
          (error: unknown) => Reflect.get(Object(error), 'status') as unknown,
        );
        expect(status, path).to.equal(403);
      }
    });
  });
});
