// The examples of docs/console.md for logins at a provider and by a proxy, and for a map with tiles: the chart takes them, and the console its settings.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readConfig } from '../../services/console/config.ts';
import { describeWith } from '../support/need.ts';
import { merged, type Values } from '../support/values.ts';
import { helm, render } from './chart.ts';
import { containersOf, find, podsOf } from './manifests.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/console.md'), 'utf8');
const all = [...page.matchAll(/```yaml values\n(.*?)```/gs)].map(([, text = '']): Values => parse(text));
const isOfMap = (values: Values) => JSON.stringify(values).includes('Map__');
const examples = all.filter((values) => !isOfMap(values));
const ingress = { ingress: { domain: 'example.org', className: 'nginx' } };

/** The console's environment, with a text for each key of a Secret, and those keys. */
async function consoleIn(values: Values) {
  const manifests = await render(merged(ingress, values));
  const pod = podsOf(manifests).find(({ pod: { metadata } }) => metadata.labels?.['app.kubernetes.io/component'] === 'console')?.pod;
  const env = pod ? containersOf(pod).flatMap(({ env: variables = [] }) => variables) : [];
  const environment = Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, valueFrom ? 'a secret of a test that is long enough' : value]));
  const keys = env.flatMap(({ name, valueFrom }) => (valueFrom?.secretKeyRef ? [`${name}: ${valueFrom.secretKeyRef.name}/${valueFrom.secretKeyRef.key}`] : []));
  delete environment['Console__AdminPasswordHash'];
  delete environment['REDIS_URL'];
  return { manifests, keys, config: readConfig({ ...environment, DATABASE_URL: 'postgres://localhost/x' }) };
}

describeWith(helm, 'examples of docs/console.md', () => {
  it('are of three providers and two proxies', () => {
    const settings = examples.map((values) => JSON.stringify(values));
    expect(settings.map((text) => /keycloak|authentik|dex|oauth2-proxy|traefik/.exec(text)?.[0])).to.deep.equal([
      'keycloak',
      'authentik',
      'dex',
      'oauth2-proxy',
      'traefik',
    ]);
  });

  for (const [index, values] of examples.entries()) {
    it(`give a console that starts: example ${index + 1}`, async () => {
      const { manifests, keys, config } = await consoleIn(values);
      expect(config.groupRoles.length).to.be.at.least(2);
      expect(find(manifests, 'Ingress/signalbox-console').spec).to.have.nested.property('rules[0].host', 'console.example.org');
      if (index < 3) {
        expect(config).to.include({ publicUrl: 'https://console.example.org', localLogin: 'on' });
        expect(config.oidcIssuer).to.match(/^https:/);
        expect(keys).to.include('Console__Oidc__ClientSecret: console-oidc/client-secret');
        expect(JSON.stringify(find(manifests, 'NetworkPolicy/signalbox-console').spec), 'the way to the provider').to.include('"port":443');
      } else {
        expect(config).to.include({ localLogin: 'off', oidcIssuer: undefined });
        expect(config.proxies).to.deep.equal(['10.42.0.0/16']);
        expect(keys).to.include('Console__Oidc__ClientSecret: signalbox-credentials/Console__Oidc__ClientSecret');
      }
    });
  }

  it('give the map its tiles', async () => {
    const { config } = await consoleIn(all.find(isOfMap) ?? {});
    expect(config.tileUrl).to.equal('https://tile.openstreetmap.org/{z}/{x}/{y}.png');
    expect(config.tileAttribution).to.include('OpenStreetMap');
  });

  it('name headers as the proxies send them', async () => {
    const proxies = await Promise.all(examples.slice(3).map(async (values) => (await consoleIn(values)).config));
    expect(proxies.map(({ userHeader, groupsHeader }) => [userHeader, groupsHeader])).to.deep.equal([
      ['x-auth-request-preferred-username', 'x-auth-request-groups'],
      ['remote-user', 'remote-groups'],
    ]);
  });
});
