// The text that Helm prints after an installation: its commands fit the installed objects.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { merged, type Values } from '../support/values.ts';
import { helm, render } from './chart.ts';
import { podsOf, publicAddresses } from './manifests.ts';
import { commandsOf, notes } from './notes.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();

const domain = 'example.test';
const byIngress: Values = { ingress: { enabled: true, domain } };
const consumers = (way: string): Values => ({ services: { secrets: { [way]: { enabled: true } } } });
const byGateway: Values = { gateway: { enabled: true, domain, parentRefs: [{ name: 'traefik' }] } };

describeWith(helm, 'NOTES.txt', () => {
  it('says how to wait, to try it, to reach it and to read a credential', async () => {
    const found = commandsOf(await notes({}));
    expect(found.map((command) => command.split(' ').filter((word) => !word.startsWith('-') && word !== 'signalbox')[1])).to.include.members([
      'wait',
      'test',
      'port-forward',
      'get',
    ]);
    expect(found.filter((command) => command.includes('port-forward'))).to.have.length(7);
    for (const key of [
      'Forge__WebhookSecrets',
      'Intake__AccessTokens',
      'Ingest__Token',
      'Digest__AdminPassword',
      'Management__AdminApiKey',
      'Bookmarks__ApiKeys',
      'Listings__AccessTokens',
      'Console__AdminPassword',
    ]) {
      expect(found.filter((command) => command.includes(`{.data.${key}}`))).to.have.length(1);
    }
  });

  it('waits for no pod that ends by itself', async () => {
    for (const name of ['the defaults', 'everything on', 'workers as CronJobs']) {
      const values = sets.get(name) ?? {};
      const [wait = ''] = commandsOf(await notes(values)).filter((command) => command.includes(' wait '));
      const left = /notin \((.*)\)/.exec(wait)?.[1]?.split(',');
      const ending = podsOf(await render(values)).filter(({ owner }) => !['Deployment', 'StatefulSet'].includes(owner.kind));
      expect(left, name).to.include.members(ending.map(({ pod }) => pod.metadata.labels?.['app.kubernetes.io/component']));
    }
  });

  it('names every public address, and how to reach what is not public', async () => {
    for (const values of [byIngress, byGateway, merged(byIngress, consumers('ingress')), merged(byGateway, consumers('gateway'))]) {
      const text = await notes(values);
      const open = publicAddresses(await render(values, { release: 'mine' }));
      expect([...text.matchAll(/^ {5}https?:\/\/(\S+)/gm)].map(([, address = '']) => address).sort()).to.deep.equal(open);
      const inside = open.some((address) => address.startsWith('secrets.')) ? ['console'] : ['console', 'secrets'];
      expect([...text.matchAll(/port-forward service\/mine-signalbox-(\S+)/g)].map(([, name]) => name)).to.deep.equal(inside);
    }
    expect(await notes({ ingress: { enabled: true, domain, tls: { enabled: true } } })).to.contain('https://relay.example.test');
  });

  it('warns of tokens that cross the network readable', async () => {
    expect(await notes(byIngress)).to.contain('ingress.tls.enabled=true');
    const own = merged(byIngress, { ingress: { tls: { enabled: true } }, services: { bookmarks: { ingress: { tls: { enabled: false } } } } });
    expect(await notes(own)).to.contain('the Ingresses of bookmarks:');
    expect(await notes(byGateway)).to.contain('https needs a listener');
    expect(await notes(merged(byIngress, { ingress: { tls: { enabled: true } } }))).not.to.contain('readable');
  });

  it('warns of clients that share the address of their proxy, by service', async () => {
    const warned = async (values: Values) => /WARNING: TrustedProxies is empty for (.*):/.exec(await notes(values))?.[1];
    const all = ['bookmarks', 'link-digest', 'listings', 'webhook-intake', 'webhook-relay'].join(', ');
    expect(await warned({})).to.equal(undefined);
    expect(await warned(byIngress)).to.equal(all);
    expect(await warned(byGateway)).to.equal(all);
    expect(await warned(merged(byIngress, { defaults: { settings: { TrustedProxies: '10.0.0.0/8' } } }))).to.equal(undefined);
    const own = { services: { bookmarks: { settings: { TrustedProxies: '10.0.0.0/8' } }, listings: { settings: { TrustedProxies: '' } } } };
    expect(await warned(merged(byIngress, own))).to.equal(all.replace('bookmarks, ', ''));
  });

  it('warns of an external Postgres whose connections need no TLS', async () => {
    const external = (values: Values) => notes({ postgres: { enabled: false, external: { host: 'db.example.test', existingSecret: 'db', ...values } } });
    for (const sslmode of [{}, { sslmode: 'disable' }, { sslmode: 'prefer' }])
      expect(await external(sslmode))
        .to.contain('Postgres at db.example.test')
        .and.to.contain('postgres.external.sslmode=verify-full');
    for (const sslmode of ['require', 'verify-ca', 'verify-full']) expect(await external({ sslmode })).not.to.contain('postgres.external.sslmode');
    expect(await notes({})).not.to.contain('postgres.external.sslmode');
  });

  it('warns when the management plane is public', async () => {
    const withPath = (path: string) => notes(merged(byIngress, consumers('ingress'), { services: { secrets: { paths: ['/api/consumer', path] } } }));
    for (const path of ['/', '/api', '/api/management', '/api/management/applications'])
      expect(await withPath(path), path).to.contain(`WARNING: ${path} of secrets`);
    expect(await notes(merged(byIngress, consumers('ingress')))).not.to.contain('of secrets makes');
    expect(await withPath('/api/manage')).not.to.contain('of secrets makes');
  });

  it('speaks of the services that are on only', async () => {
    const text = await notes({ services: { 'webhook-intake': { enabled: false }, secrets: { enabled: false } } });
    expect(text).not.to.match(/Intake__AccessTokens|Management__AdminApiKey|mine-signalbox-secrets|helm test/);
  });

  it('says what to give the forge: the address that leads in, and the secret', async () => {
    const given = async (values: Values) => /Give your forge the address (\S+),/.exec(await notes(values))?.[1];
    expect(await given(merged(byIngress, { ingress: { tls: { enabled: true } } }))).to.equal('https://relay.example.test/Forge');
    expect(await given(byGateway)).to.equal('https://relay.example.test/Forge');
    expect(await given(merged(byIngress, { services: { 'webhook-relay': { hosts: ['hooks.example.com'], paths: ['/Forge'] } } }))).to.equal(
      'http://hooks.example.com/Forge',
    );
    const inside = 'http://mine-signalbox-webhook-relay.signalbox.svc:80/Forge';
    expect(await given({})).to.equal(inside);
    expect(await given(merged(byIngress, { services: { 'webhook-relay': { paths: ['/api'] } } }))).to.equal(inside);
    expect(await given({ services: { 'webhook-relay': { enabled: false } } })).to.equal(undefined);
  });

  it('does not show the master keys', async () => {
    for (const command of commandsOf(await notes({}))) expect(command).not.to.contain('Encryption__MasterKeys');
  });

  it('warns of an image that no registry has, and of a Service that lets everybody in', async () => {
    expect(await notes({})).to.contain('which no registry has');
    expect(await notes({ image: { registry: 'registry.example.test' } })).not.to.contain('which no registry has');
    const text = await notes({ services: { secrets: { service: { type: 'NodePort' } } } });
    expect(text).to.contain('WARNING: secrets has a Service of type NodePort');
    expect(await notes({})).not.to.contain('has a Service of type');
  });

  it('reads from the Secret that was given', async () => {
    expect(await notes({ existingSecret: 'theirs' }))
      .to.contain('get secret theirs')
      .and.not.to.contain('Keep a copy');
  });

  it('copies the Secret that was made, and deletes nothing', async () => {
    expect(await notes({})).to.match(/Keep a copy.*get secret mine-signalbox-credentials --output yaml .*> mine-signalbox-credentials\.yaml/s);
    expect(await notes({})).not.to.match(/kubectl .* delete /);
  });

  it('says where the SQL for the administrator is, when roles are made by hand', async () => {
    expect(await notes(sets.get('postgres.external.createRoles=false') ?? {})).to.match(/logs .*component=migrate/);
  });

  it('warns when nothing limits who reaches the pods', async () => {
    expect(await notes({ networkPolicy: { enabled: false } })).to.contain('networkPolicy.enabled=true');
    expect(await notes({})).not.to.contain('networkPolicy.enabled=true');
  });
});
