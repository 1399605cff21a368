// Queues that RabbitMQ replicates.
import { eventually } from '../../support/wait.ts';
import { podsOf } from '../installation.ts';
import { expectExactlyOnce } from '../load.ts';
import { say } from '../say.ts';
import type { Scenario } from '../scenario.ts';

const count = 20;

export const quorum: Scenario = {
  name: 'quorum',
  proves: 'with rabbitmq.queueType=quorum every queue is one, and deliveries and newsletters arrive, over a restart of RabbitMQ, too',
  async run({ prepare }) {
    const { kubectl, install, clients } = await prepare();
    await install({ rabbitmq: { queueType: 'quorum' } });
    const forge = await clients();
    const accepted: string[] = [];
    const deliver = async () => {
      for (let left = count; left > 0; left--) {
        const { deliveryId, status, body } = await forge.deliver();
        if (status !== 202) throw new Error(`the relay answers ${status}: ${body}`);
        accepted.push(deliveryId);
      }
    };
    await deliver();
    await forge.sendNewsletter('before');
    await expectExactlyOnce(forge, accepted);
    await forge.expectNewsletters(['before']);

    const listed = await kubectl.run(['exec', 'signalbox-rabbitmq-0', '--', 'rabbitmqctl', '--quiet', 'list_queues', 'name', 'type', '--no-table-headers']);
    const queues = listed.trim().split('\n');
    say(`  queues: ${queues.join(', ').replaceAll('\t', ' ')}`);
    const others = queues.filter((queue) => !queue.endsWith('\tquorum'));
    if (queues.length < 2 || others.length > 0) throw new Error(`no quorum queues: ${others.join(', ') || 'there are no queues'}`);

    await kubectl.run(['delete', 'pod', 'signalbox-rabbitmq-0', '--timeout', '120s']);
    await podsOf(kubectl, 'rabbitmq', 1);
    // The relay connects again by itself; what it is given before, it spools.
    await eventually(deliver, { withinMs: 60_000, everyMs: 1000 });
    await expectExactlyOnce(forge, accepted);
    // A refused newsletter is sent again.
    await eventually(() => forge.sendNewsletter('after'), { withinMs: 60_000, everyMs: 1000 });
    await forge.expectNewsletters(['before', 'after']);
  },
};
