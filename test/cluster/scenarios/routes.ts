// The ways in: Ingress, then the Gateway API instead of it.
import { eventually } from '../../support/wait.ts';
import { expectExactlyOnce } from '../load.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';

/** Where the cluster's Gateway is: `TEST_GATEWAY` as namespace/name. */
const [namespace = 'traefik', name = 'traefik'] = (process.env['TEST_GATEWAY'] ?? 'traefik/traefik').split('/');

export const routes: Scenario = {
  name: 'routes',
  proves: 'a signed delivery arrives by HTTPRoutes alone, as by Ingresses',
  async run({ prepare }) {
    const { kubectl, install, upgrade, clients, domain } = await prepare();
    await install();
    const forge = await clients();
    const byIngress = await forge.deliver();
    if (byIngress.status !== 202) throw new Error(`by Ingress the relay answers ${byIngress.status}: ${byIngress.body}`);

    await upgrade({
      ingress: { enabled: false },
      gateway: { enabled: true, domain, parentRefs: [{ namespace, name }] },
      services: { secrets: { ingress: { enabled: false }, gateway: { enabled: true } } },
    });
    await step('waiting for the routes to be accepted', () =>
      kubectl.run(['wait', 'httproute', '--all', '--for', 'jsonpath={.status.parents[0].conditions[?(@.type=="Accepted")].status}=True', '--timeout', '60s']),
    );
    const byRoute = await eventually(async () => {
      const delivered = await forge.deliver();
      if (delivered.status === 202) return delivered;
      throw new Error(`by HTTPRoute the relay answers ${delivered.status}: ${delivered.body}`);
    });
    say(`by HTTPRoute: ${byRoute.status} ${byRoute.body}`);
    await expectExactlyOnce(forge, [byIngress.deliveryId, byRoute.deliveryId]);
    await (await forge.createApplication('Route')).read();
  },
};
