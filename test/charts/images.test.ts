// Which image each container runs.
import { expect } from 'chai';
import { deployables } from '../../services/command/deployables.ts';
import { describeWith } from '../support/need.ts';
import { merged, type Values } from '../support/values.ts';
import { chart, helm, operatorChart, readValues, render, template } from './chart.ts';
import { containersOf, ofKind, podsOf } from './manifests.ts';

const digest = `sha256:${'ab'.repeat(32)}`;
const otherDigest = `sha256:${'cd'.repeat(32)}`;

/** Container → image. */
async function images(values: Values): Promise<Record<string, string>> {
  const containers = podsOf(await render(values)).flatMap(({ pod }) => containersOf(pod).map(({ name, image }): [string, string] => [name, image]));
  return Object.fromEntries(containers);
}

const serverTags = async () => {
  const values = (await readValues()) as Record<string, { image: { tag: string } }>;
  return ['postgres', 'rabbitmq', 'redis'].map((server) => ({ server, tag: values[server]?.image.tag ?? '' }));
};

const upstream = /\/(postgres|rabbitmq|redis|busybox)[:@]/;

describeWith(helm, 'images', () => {
  it('must be named, since none is published: by a sentence that says where it comes from', async () => {
    for (const folder of [chart, operatorChart]) {
      const { code, stderr } = await template({ image: { repository: '' } }, { folder });
      expect(code).to.equal(1);
      expect(stderr).to.contain('image.repository must be given').and.contain('scripts/image.sh');
    }
  });

  it('of a service that has its own make its credentials and migrate its schema, in Jobs of their own', async () => {
    const manifests = await render({ services: { 'webhook-intake': { image: { tag: '8' } } } });
    const own = ofKind(manifests, 'Job').filter(({ metadata }) => /-(credentials|migrate)-/.test(metadata.name));
    const jobs = podsOf(own).map(({ pod: { spec, metadata } }) => {
      const { image, args = [], env = [] } = spec.containers[0] ?? { image: '' };
      const passwords = env.map(({ name }) => /^POSTGRES_(.*)_PASSWORD$/.exec(name)?.[1] ?? '').filter((name) => name !== '' && name !== 'ADMIN');
      return { component: metadata.labels?.['app.kubernetes.io/component'], image, services: args.filter((arg) => deployables.names.includes(arg)), passwords };
    });
    const others = deployables.names.filter((name) => name !== 'webhook-intake').sort();
    const [first, second] = ['docker.io/library/signalbox:0.1.0', 'docker.io/library/signalbox:8'];
    expect(jobs.map(({ passwords, ...job }) => ({ ...job, passwords: job.component === 'migrate' ? passwords.length : 0 }))).to.have.deep.members([
      { component: 'credentials', image: first, services: others, passwords: 0 },
      { component: 'credentials', image: second, services: ['webhook-intake'], passwords: 0 },
      { component: 'migrate', image: first, services: others, passwords: others.length },
      { component: 'migrate', image: second, services: ['webhook-intake'], passwords: 1 },
    ]);
  });

  it('are the chart’s appVersion, and the official ones of the servers', async () => {
    const all = await images({ redis: { enabled: true } });
    expect(new Set(Object.values(all))).to.deep.equal(
      new Set(['docker.io/library/signalbox:0.1.0', ...(await serverTags()).map(({ server, tag }) => `docker.io/library/${server}:${tag}`)]),
    );
  });

  it('of the servers have tags that name one version', async () => {
    for (const { server, tag } of await serverTags()) expect(tag, server).to.match(server === 'postgres' ? /^\d+\.\d+$/ : /^\d+\.\d+\.\d+(-management)?$/);
  });

  it('have the registry, repository and tag given for all', async () => {
    const all = await images({ image: { registry: 'ghcr.example.test', repository: 'team/signalbox', tag: '7' } });
    const own = Object.values(all).filter((image) => !upstream.test(image));
    expect(new Set(own)).to.deep.equal(new Set(['ghcr.example.test/team/signalbox:7']));
  });

  it('have a digest instead of a tag', async () => {
    const servers = ['postgres', 'rabbitmq', 'redis'];
    const pinned = Object.fromEntries(servers.map((server) => [server, { image: { digest } }]));
    const all = await images(merged({ image: { tag: '7', digest }, redis: { enabled: true } }, pinned));
    expect(new Set(Object.values(all))).to.deep.equal(new Set(['signalbox', ...servers].map((name) => `docker.io/library/${name}@${digest}`)));
  });

  it('have the tag of one service or worker in place of a digest of all', async () => {
    const workers = { service: { image: { digest: otherDigest } }, cleanup: { image: { tag: '9' } } };
    const all = await images({ image: { digest }, services: { secrets: { image: { tag: '8' } }, 'webhook-intake': { image: { tag: '8' }, workers } } });
    expect(all['secrets']).to.equal('docker.io/library/signalbox:8');
    expect(all['webhook-intake-service']).to.equal(`docker.io/library/signalbox@${otherDigest}`);
    expect(all['webhook-intake-cleanup']).to.equal('docker.io/library/signalbox:9');
    expect(all['bookmarks']).to.equal(`docker.io/library/signalbox@${digest}`);
    const ofDefaults = await images({ defaults: { image: { digest } }, services: { secrets: { image: { tag: '8' } } } });
    expect(ofDefaults['secrets']).to.equal('docker.io/library/signalbox:8');
  });

  it('may differ for one service and its workers', async () => {
    const all = await images({ services: { 'webhook-intake': { image: { tag: '8', registry: 'other.example.test' } } } });
    const intake = Object.entries(all).filter(([name, image]) => name.startsWith('webhook-intake') && image === 'other.example.test/library/signalbox:8');
    expect(intake).to.have.length(5);
    expect(all['webhook-relay']).to.equal('docker.io/library/signalbox:0.1.0');
  });

  it('come from one registry by global.imageRegistry, whatever is named below', async () => {
    const all = await images({
      global: { imageRegistry: 'mirror.example.test:5000' },
      image: { registry: 'ghcr.example.test' },
      services: { secrets: { image: { registry: 'other.example.test' } } },
      redis: { enabled: true },
    });
    for (const [container, image] of Object.entries(all)) expect(image, container).to.match(/^mirror\.example\.test:5000\/library\//);
  });

  it('are pulled by policy and secrets of all', async () => {
    const pods = podsOf(await render({ image: { pullPolicy: 'Always', pullSecrets: ['mine'] }, redis: { enabled: true } }));
    for (const { pod } of pods) {
      expect(pod.spec.imagePullSecrets).to.deep.equal([{ name: 'mine' }]);
      for (const { imagePullPolicy } of containersOf(pod)) expect(imagePullPolicy).to.equal('Always');
    }
  });

  it('are pulled with the Secrets of an umbrella, the usual ones and those of the image, each once', async () => {
    const secrets = {
      global: { imagePullSecrets: [{ name: 'umbrella' }, 'plain'] },
      imagePullSecrets: [{ name: 'mine' }],
      image: { pullSecrets: ['mine', 'other'] },
    };
    for (const { pod } of podsOf(await render(merged(secrets, { redis: { enabled: true } }))))
      expect(pod.spec.imagePullSecrets).to.deep.equal([{ name: 'umbrella' }, { name: 'plain' }, { name: 'mine' }, { name: 'other' }]);
  });
});
