// Reads by the key of one application: however many ask at once for however much, the service goes on for all others.
import { expect } from 'chai';
import { createConsumerClient, createManagementClient } from '../../services/secrets/client.ts';
import { eventually } from '../support/wait.ts';
import { type House, startHouse } from './house.ts';
import { head, sendUnread } from './raw.ts';

const readers = 500;
/** As much as ConfigMaps of one SecretApplication can hold. */
const values = 64;

describe('reads of everything that an application has', function () {
  this.timeout(400_000);
  let house: House;
  let apiKey: string;
  let otherKey: string;
  const secrets = () => house.service('secrets');
  const baseUrl = () => `http://127.0.0.1:${secrets().port}`;

  before(async () => {
    house = await startHouse({ services: ['secrets'] });
    const credential = house.settings['Management__AdminApiKey'] ?? '';
    const management = createManagementClient({ baseUrl: baseUrl(), credential });
    ({ plainApiKey: apiKey } = await management.createApplication({ name: 'large', description: null }));
    ({ plainApiKey: otherKey } = await management.createApplication({ name: 'other', description: null }));
    for (let number = 0; number < values; number++) {
      const name = `value-${number}`;
      const value = 'v'.repeat(65_536);
      await management.createSecret('large', { name });
      await management.setValues('large', name, [{ environmentSlug: 'local', value }]);
      await management.createConfiguration('large', { environmentSlug: 'local', key: name, value, description: '' });
    }
  });
  after(() => house.close());

  /** Requests to the route that have an answer, whether anybody takes it or not. */
  async function answered(route: string): Promise<number> {
    const text = await (await fetch(`${secrets().metricsUrl}/metrics`)).text();
    const counts = text.matchAll(/^signalbox_http_request_duration_seconds_count\{([^}]*)\} (\d+)$/gm);
    return [...counts].reduce((sum, [, labels = '', count]) => sum + (labels.includes(`route="${route}"`) ? Number(count) : 0), 0);
  }

  for (const [route, query] of [
    ['/api/consumer/secrets', '?environment=local&values=true'],
    ['/api/consumer/configurations', '?environment=local'],
  ] as const)
    it(`of ${route} do not end the service, though no answer is read, and hold up no other application`, async () => {
      const bytes = head(`GET ${route}${query} HTTP/1.1`, 'Host: x', `X-Api-Key: ${apiKey}`);
      const sockets = await Promise.all(Array.from({ length: readers }, () => sendUnread(secrets().port, bytes)));
      expect((await createConsumerClient({ baseUrl: baseUrl(), credential: otherKey }).configurations('local')).length).to.equal(0);
      await eventually(async () => expect(await answered(route)).to.be.at.least(readers), { withinMs: 120_000 });
      expect((await createConsumerClient({ baseUrl: baseUrl(), credential: otherKey }).configurations('local')).length).to.equal(0);
      sockets.forEach((socket) => socket.destroy());
    });
});
