// The security and scheduling of every pod, beyond the requirements of the restricted standard.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import type { Values } from '../support/values.ts';
import { helm, render, renderText } from './chart.ts';
import { containersOf, find, keyOf, type Manifest, ofKind, podsOf } from './manifests.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();

/** Pods that run on; the pods of CronJobs and Jobs end by themselves. */
const staying = async (values?: Values) => podsOf(await render(values)).filter(({ owner }) => owner.kind === 'Deployment' || owner.kind === 'StatefulSet');

const relayOf = (manifests: readonly Manifest[], kind: string) => {
  const [relay] = podsOf([find(manifests, `${kind}/signalbox-webhook-relay`)]);
  const [container] = relay?.pod.spec.containers ?? [];
  if (!relay || !container) throw new Error('the relay has no container');
  return { spec: relay.pod.spec, container };
};

describeWith(helm, 'a pod', () => {
  it('that stays is probed', async () => {
    for (const { owner, pod } of await staying({ redis: { enabled: true } })) {
      for (const { startupProbe, readinessProbe, livenessProbe } of pod.spec.containers) {
        expect(startupProbe, keyOf(owner)).to.be.an('object');
        expect(readinessProbe, keyOf(owner)).to.be.an('object');
        expect(livenessProbe, keyOf(owner)).to.be.an('object');
      }
    }
  });

  it('of the secrets service has a token of the API, and rights for reviews, only where it checks tokens of ServiceAccounts', async () => {
    const withTokens = (Secrets__ServiceAccounts: string) => ({ services: { secrets: { settings: { Secrets__ServiceAccounts } } } });
    // In any case and with spaces, as the service reads it.
    for (const [values, hasToken] of [
      [undefined, false],
      [withTokens('off'), false],
      [withTokens('on'), true],
      [withTokens(' On '), true],
    ] as const) {
      const manifests = await render(values);
      const tokens = podsOf(manifests).filter(({ owner, pod }) => owner.kind !== 'Job' && pod.spec.automountServiceAccountToken !== false);
      expect(tokens.map(({ owner }) => keyOf(owner))).to.deep.equal(hasToken ? ['Deployment/signalbox-secrets'] : []);
      const [role, ...others] = ofKind(manifests, 'ClusterRole');
      expect(others).to.deep.equal([]);
      expect(role?.['rules']).to.deep.equal(
        hasToken
          ? [
              { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
              { nonResourceURLs: ['/openid/v1/jwks'], verbs: ['get'] },
            ]
          : undefined,
      );
    }
  });

  it('of Signalbox is probed where design and services say', async () => {
    for (const { owner, pod } of await staying()) {
      if (owner.kind !== 'Deployment') continue;
      const [{ startupProbe, readinessProbe, livenessProbe, args = [] } = { args: [] }] = pod.spec.containers;
      const port = args[0] === 'serve' ? 'http' : 'metrics';
      expect([startupProbe?.httpGet, livenessProbe?.httpGet]).to.deep.equal([
        { path: '/health', port },
        { path: '/health', port },
      ]);
      expect(readinessProbe?.httpGet).to.deep.equal({ path: '/health/ready', port });
    }
  });

  it('of Signalbox has longer to stop than preStop, serving on and the stop deadline together', async () => {
    for (const { owner, pod } of await staying()) {
      if (owner.kind !== 'Deployment') continue;
      const [container] = pod.spec.containers;
      const { seconds } = (container?.lifecycle?.preStop as { sleep: { seconds: number } }).sleep;
      expect(seconds, keyOf(owner)).to.be.at.least(1);
      // The process serves on for 10 s at most, and gives up 20 s after that.
      expect(pod.spec.terminationGracePeriodSeconds, keyOf(owner)).to.be.above(seconds + 10 + 20);
    }
  });

  it('has room for its own volumes and for its container’s log, within its limit of ephemeral storage', async () => {
    const mebibytes = (quantity: string) => Number(/^(\d+)Mi$/.exec(quantity)?.[1] ?? Number(/^(\d+)Gi$/.exec(quantity)?.[1]) * 1024);
    const logs = 50;
    for (const { owner, pod } of podsOf(await render({ redis: { enabled: true }, backup: { enabled: true } }))) {
      const volumes = (pod.spec.volumes ?? []).flatMap(({ emptyDir }) => (emptyDir?.sizeLimit && emptyDir.medium !== 'Memory' ? [emptyDir.sizeLimit] : []));
      const sum = volumes.map(mebibytes).reduce((all, one) => all + one, logs);
      const limit = pod.spec.containers[0]?.resources?.limits?.['ephemeral-storage'] ?? '0Mi';
      expect(mebibytes(limit), keyOf(owner)).to.be.at.least(sum);
    }
  });

  it('of Signalbox trusts the authorities that are given, whatever it is', async () => {
    for (const [given, volume] of [
      [{ configMap: 'company' }, { name: 'trusted-ca', configMap: { name: 'company' } }],
      [
        { secret: 'company', key: 'all.pem' },
        { name: 'trusted-ca', secret: { secretName: 'company' } },
      ],
    ] as const) {
      const ours = podsOf(await render({ trustedCA: given })).filter(({ pod }) => pod.spec.containers[0]?.image.includes('/signalbox:'));
      expect(ours.map(({ owner }) => owner.kind)).to.include.members(['Deployment', 'CronJob', 'Job', 'Pod']);
      for (const { owner, pod } of ours) {
        const [container] = pod.spec.containers;
        expect(pod.spec.volumes, keyOf(owner)).to.deep.include(volume);
        expect(container?.volumeMounts, keyOf(owner)).to.deep.include({ name: 'trusted-ca', mountPath: '/etc/signalbox/trusted-ca', readOnly: true });
        const value = `/etc/signalbox/trusted-ca/${'key' in given ? given.key : 'ca.crt'}`;
        expect(container?.env, keyOf(owner)).to.deep.include({ name: 'NODE_EXTRA_CA_CERTS', value });
      }
    }
  });

  it('is spread over nodes by its own labels, and by those of its ReplicaSet', async () => {
    for (const { owner, pod } of await staying()) {
      if (owner.kind !== 'Deployment') continue;
      const [constraint] = pod.spec.topologySpreadConstraints ?? [];
      expect(pod.metadata.labels, keyOf(owner)).to.include(constraint?.labelSelector?.matchLabels);
      expect(constraint?.matchLabelKeys, keyOf(owner)).to.deep.equal(['pod-template-hash']);
    }
  });

  it('cannot be taken from its selectors by labels of a user', async () => {
    const mine = { 'app.kubernetes.io/component': 'mine', 'app.kubernetes.io/name': 'mine' };
    const manifests = await render({ commonLabels: mine, defaults: { podLabels: mine }, redis: { enabled: true } });
    for (const { owner, pod } of podsOf(manifests)) {
      const selector = owner.spec?.selector;
      if (selector && 'matchLabels' in selector) expect(pod.metadata.labels, keyOf(owner)).to.include(selector.matchLabels);
    }
  });

  it('takes passwords from variables that stand before the URLs made of them', async () => {
    for (const name of ['the defaults', 'everything on', 'servers outside', 'queues in Postgres']) {
      for (const { owner, pod } of podsOf(await render(sets.get(name)))) {
        for (const { env = [] } of containersOf(pod)) {
          for (const [index, { value = '' }] of env.entries()) {
            const before = env.slice(0, index).map((variable) => variable.name);
            for (const [, used = ''] of value.matchAll(/\$\(([^)]+)\)/g)) expect(before, keyOf(owner)).to.include(used);
          }
        }
      }
    }
  });
});

describeWith(helm, 'a queue worker of the kind InService', () => {
  const kind = 'InService';
  const ofWorkers = (workers: Values): Values => ({ services: { 'webhook-intake': { workers } } });

  it('runs in the pod of its service, and has no objects of its own', async () => {
    const manifests = await render(ofWorkers({ service: { kind }, 'database-service': { kind } }));
    const intake = podsOf([find(manifests, 'Deployment/signalbox-webhook-intake')])[0]?.pod;
    expect(intake?.spec.containers[0]?.args).to.deep.equal(['serve', 'webhook-intake', '--worker', 'database-service', '--worker', 'service']);
    expect(manifests.map(({ metadata }) => metadata.name).filter((name) => /intake-(database-)?service$/.test(name))).to.deep.equal([]);
  });

  it('is refused with values of its own, and for a worker whose pod has what that of the service lacks', async () => {
    const refused = (workers: Values) => render(ofWorkers(workers)).then(() => '', String);
    expect(await refused({ service: { kind, replicas: 2 } })).to.contain('service.replicas: this worker runs in the pod of its service (kind: InService)');
    expect(await refused({ maintenance: { kind } })).to.contain('services.webhook-intake.workers.maintenance.kind must be Deployment or CronJob');
  });
});

describeWith(helm, 'the type of queues', () => {
  const typeOf = async (values: Values, component: string) => {
    const [pod] = podsOf([find(await render(values), `Deployment/signalbox-${component}`)]);
    return pod?.pod.spec.containers[0]?.env?.find(({ name }) => name === 'Broker__QueueType')?.value;
  };

  it('is set for everything that declares queues, and for nothing else', async () => {
    const services = { 'link-digest': { workers: { digest: { enabled: true } } } };
    for (const component of [
      'webhook-relay',
      'webhook-intake-service',
      'webhook-intake-database-service',
      'webhook-intake',
      'link-digest',
      'link-digest-digest',
    ]) {
      expect(await typeOf({ services }, component), component).to.equal('classic');
      expect(await typeOf({ services, rabbitmq: { queueType: 'quorum' } }, component), component).to.equal('quorum');
    }
    expect(await typeOf({ rabbitmq: { queueType: 'quorum' } }, 'secrets')).to.equal(undefined);
  });

  it('is what the settings of a service say, where they do', async () => {
    const values = { services: { 'webhook-relay': { settings: { Broker__QueueType: 'quorum' } } } };
    expect(await typeOf(values, 'webhook-relay')).to.equal('quorum');
  });
});

describeWith(helm, 'the rules file of notifications', () => {
  const notificationRules = 'rules:\n  - name: releases\n';
  const values = { services: { 'webhook-intake': { notificationRules, workers: { maintenance: { kind: 'Deployment' } } } } };

  it('is a ConfigMap that the intake and its workers mount as a directory, so that a change reaches them', async () => {
    const manifests = await render(values);
    expect(find(manifests, 'ConfigMap/signalbox-webhook-intake-rules')).to.deep.include({ data: { 'rules.yaml': notificationRules } });
    for (const component of ['webhook-intake', 'webhook-intake-service', 'webhook-intake-maintenance']) {
      const pod = podsOf([find(manifests, `Deployment/signalbox-${component}`)])[0]?.pod;
      expect(pod?.spec.volumes).to.deep.include({ name: 'rules', configMap: { name: 'signalbox-webhook-intake-rules' } });
      expect(pod?.spec.containers[0]?.env).to.deep.include({ name: 'Notifications__RulesFile', value: '/etc/signalbox/rules/rules.yaml' });
      expect(pod?.spec.containers[0]?.volumeMounts).to.deep.include({ name: 'rules', mountPath: '/etc/signalbox/rules', readOnly: true });
    }
  });

  it('is nowhere unless it is given', async () => {
    expect(await renderText()).not.to.match(/rules\.yaml/);
  });
});

describeWith(helm, 'the relay', () => {
  it('keeps its spool over a restart of its container, and over its pod with a claim', async () => {
    const { spec, container } = relayOf(await render(), 'Deployment');
    expect(container.env).to.deep.include({ name: 'FailedPayloads__Directory', value: '/var/lib/signalbox/spool' });
    expect(container.volumeMounts).to.deep.include({ name: 'spool', mountPath: '/var/lib/signalbox/spool' });
    expect(spec.volumes).to.deep.include({ name: 'spool', emptyDir: { sizeLimit: '1Gi' } });
    // Kubernetes evicts a pod above that limit, and deletes its spool.
    const maxBytes = async (sizeLimit: string) => {
      const { container } = relayOf(await render({ services: { 'webhook-relay': { spool: { sizeLimit } } } }), 'Deployment');
      return (container.env ?? []).find(({ name }) => name === 'FailedPayloads__MaxBytes')?.value;
    };
    expect([await maxBytes('1Gi'), await maxBytes('1.2G'), await maxBytes('100000000')]).to.deep.equal(['966367641', '1080000000', '90000000']);

    const manifests = await render(sets.get('a relay with claims'));
    expect(relayOf(manifests, 'StatefulSet').container.env?.map(({ name }) => name)).not.to.include('FailedPayloads__MaxBytes');
    expect(relayOf(manifests, 'StatefulSet').container.volumeMounts).to.deep.include({ name: 'spool', mountPath: '/var/lib/signalbox/spool' });
    const claims = find(manifests, 'StatefulSet/signalbox-webhook-relay').spec?.volumeClaimTemplates ?? [];
    expect(JSON.stringify(claims)).to.contain('"name":"spool"').and.to.contain('"storageClassName":"fast"');
    expect(ofKind(manifests, 'Deployment').map(keyOf)).not.to.include('Deployment/signalbox-webhook-relay');
  });

  it('mounts its connection file as a directory, so that a change arrives', async () => {
    const { spec, container } = relayOf(await render(sets.get('a connection file of another name')), 'Deployment');
    expect(spec.volumes).to.deep.include({ name: 'brokers', secret: { secretName: 'brokers', optional: true } });
    expect(container.volumeMounts).to.deep.include({ name: 'brokers', mountPath: '/etc/signalbox/brokers', readOnly: true });
    expect(container.env).to.deep.include({ name: 'Broker__EnvironmentFile', value: '/etc/signalbox/brokers/mine.env' });
  });

  it('says by a label, for the operator, whether it follows a connection file', async () => {
    for (const set of ['a connection file of another name', 'everything on']) {
      const pods = podsOf(await render(sets.get(set)));
      const following = pods.filter(({ pod }) => pod.spec.volumes?.some(({ name }) => name === 'brokers'));
      const labelled = pods.filter(({ pod }) => pod.metadata?.labels?.['signalbox.dev/brokers'] === 'followed');
      expect(labelled.map(({ owner }) => keyOf(owner))).to.deep.equal(following.map(({ owner }) => keyOf(owner)));
    }
    expect(JSON.stringify(await render(sets.get('a connection file of another name')))).to.contain('signalbox.dev/brokers');
  });
});

describeWith(helm, 'the number of pods', () => {
  const replicasOf = (manifests: readonly Manifest[], component: string) => find(manifests, `Deployment/signalbox-${component}`).spec?.replicas;

  it('is left to the autoscaler that is on, of a worker too', async () => {
    const manifests = await render(sets.get('autoscalers'));
    const autoscalers = ofKind(manifests, 'HorizontalPodAutoscaler');
    expect(autoscalers.map(({ metadata }) => metadata.name)).to.have.members(['signalbox-secrets', 'signalbox-webhook-intake-service']);
    for (const { spec } of autoscalers) {
      const target = spec?.scaleTargetRef;
      expect(find(manifests, `${target?.kind}/${target?.name}`).spec).not.to.have.property('replicas');
    }
    expect(find(manifests, 'HorizontalPodAutoscaler/signalbox-secrets').spec).to.deep.include({
      minReplicas: 2,
      maxReplicas: 5,
      metrics: [
        { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 70 } } },
        { type: 'External', external: { metric: { name: 'requests' }, target: { type: 'AverageValue', averageValue: '100' } } },
      ],
      behavior: { scaleDown: { stabilizationWindowSeconds: 600 } },
    });
    expect(replicasOf(manifests, 'webhook-intake')).to.equal(1);
  });

  it('is left to an autoscaler elsewhere, which is named by nothing of the chart', async () => {
    const manifests = await render({ services: { 'webhook-intake': { workers: { 'database-service': { autoscaling: { external: true } } } } } });
    expect(ofKind(manifests, 'HorizontalPodAutoscaler')).to.deep.equal([]);
    expect(replicasOf(manifests, 'webhook-intake-database-service')).to.equal(undefined);
    expect(replicasOf(manifests, 'webhook-intake-service')).to.equal(1);
  });

  it('is no service’s worker’s because it is the service’s', async () => {
    const manifests = await render({ defaults: { autoscaling: { external: true } } });
    expect(replicasOf(manifests, 'webhook-intake')).to.equal(undefined);
    expect(replicasOf(manifests, 'webhook-intake-service')).to.equal(1);
  });

  it('that a drain leaves is said for services and servers', async () => {
    const budgets = async (values: Values) =>
      Object.fromEntries(ofKind(await render(values), 'PodDisruptionBudget').map(({ metadata, spec }) => [metadata.name.replace('signalbox-', ''), spec]));
    const given = await budgets({
      services: { secrets: { podDisruptionBudget: { minAvailable: '50%' } }, bookmarks: { podDisruptionBudget: { enabled: false } } },
      postgres: { podDisruptionBudget: { maxUnavailable: 0 } },
      rabbitmq: { podDisruptionBudget: { enabled: false } },
    });
    expect(given['secrets']).to.include({ minAvailable: '50%' }).and.not.have.property('maxUnavailable');
    expect(given['webhook-relay']).to.include({ maxUnavailable: 1 });
    expect(given['postgres']).to.include({ maxUnavailable: 0 });
    expect(given).to.not.have.any.keys('bookmarks', 'rabbitmq');
  });
});
