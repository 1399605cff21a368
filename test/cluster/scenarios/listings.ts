// The listing triage on two replicas: one limit for both, and a CronJob that asks a geocoder.
import { eventually } from '../../support/wait.ts';
import type { Clients } from '../clients.ts';
import type { Kubectl } from '../kubectl.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';

const requestsPerMinute = 300;
const here = { latitude: 53.34, longitude: -6.26 };

export const listings: Scenario = {
  name: 'listings',
  proves: 'two replicas of listings refuse the 301st request of a minute, and the CronJob `listings-geocoding` finds the coordinates of a listing',
  async run({ prepare, tags }) {
    const { kubectl, install, clients } = await prepare();
    await startGeocoder(kubectl, tags.first);
    const toGeocoder = [{ to: [{ podSelector: { matchLabels: { app: 'geocoder' } } }], ports: [{ port: 8080, protocol: 'TCP' }] }];
    await install({
      services: {
        listings: {
          replicas: 2,
          settings: { Geocoding__Provider: 'nominatim', Geocoding__BaseUrl: 'http://geocoder:8080' },
          workers: { geocoding: { networkPolicy: { egress: toGeocoder } } },
        },
      },
    });
    const { askListings } = await clients();
    const listing = { sourceId: 'one', sourceUrl: 'https://example.test/one', address: '1 Main Street, Dublin 2', priceMonthly: 1850 };
    await step('a listing comes in', () =>
      eventually(async () => {
        const { status, body } = await askListings('/api/ingest/properties', [listing]);
        if (status !== 200) throw new Error(`listings answers ${status}: ${body}`);
      }),
    );
    await step('waiting for a run that finds where it is', () => eventually(() => expectFound(askListings), { withinMs: 150_000, everyMs: 2000 }));
    await step('waiting for the minute to end', () =>
      eventually(async () => (await remaining(askListings)) > requestsPerMinute - 5, { withinMs: 90_000, everyMs: 5000 }),
    );
    await expectOneLimit(askListings);
  },
};

/** Answers as nominatim does, within the namespace. */
async function startGeocoder(kubectl: Kubectl, image: string): Promise<void> {
  const places = JSON.stringify(JSON.stringify([{ lat: String(here.latitude), lon: String(here.longitude) }]));
  const program = `require('node:http').createServer((request, response) => response.setHeader('Content-Type', 'application/json').end(${places})).listen(8080)`;
  const metadata = { name: 'geocoder', labels: { app: 'geocoder' } };
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const containers = [{ name: 'geocoder', image: `signalbox:${image}`, command: ['node', '-e', program], securityContext }];
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers, securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } } },
  };
  const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: metadata.labels, ports: [{ port: 8080 }] } };
  await kubectl.run(['apply', '--filename', '-'], { input: [pod, service].map((manifest) => JSON.stringify(manifest)).join('\n---\n') });
}

async function expectFound(ask: Clients['askListings']): Promise<void> {
  const { body } = await ask('/api/properties?status=inbox');
  const { items } = JSON.parse(body) as { items?: readonly { latitude: number | null; longitude: number | null }[] };
  const [found] = items ?? [];
  if (found?.latitude !== here.latitude || found.longitude !== here.longitude) throw new Error(`the listings are ${body}`);
}

/** @returns the remaining requests of the window, from an answer's headers */
async function remaining(ask: Clients['askListings']): Promise<number> {
  const { headers } = await ask('/api/stats');
  return Number(/;r=(\d+)/.exec(String(headers['ratelimit']))?.[1]);
}

async function expectOneLimit(ask: Clients['askListings']): Promise<void> {
  const left = await remaining(ask);
  const replies = await Promise.all(Array.from({ length: left + 50 }, () => ask('/api/stats')));
  const counts = [200, 429].map((status) => replies.filter((reply) => reply.status === status).length);
  say(`  with ${left} left in the window, ${replies.length} requests: ${counts[0]} answered, ${counts[1]} refused`);
  if (counts[0] !== left || counts[1] !== 50) throw new Error(`expected ${left} answers and 50 refusals`);
}
