// The program of the page on events that consumes a queue of its own, as it stands.
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { blocksOf, root } from '../../../scripts/site/pages.ts';
import type { Message } from '../../../services/platform/broker/broker.ts';
import { forgeTopology } from '../../../services/webhook-relay/contract.ts';
import { useBroker } from '../../support/broker.ts';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../../support/guard.ts';
import { describeWith } from '../../support/need.ts';
import { rabbitmq, sharedRabbitmq } from '../../support/rabbitmq.ts';
import { eventually } from '../../support/wait.ts';

describeWith(rabbitmq, 'a queue of one’s own', function () {
  this.timeout(120_000);
  const place = useBroker(async () => (await sharedRabbitmq()).createVhost(), forgeTopology);
  const message = (id: string): Message => ({
    id,
    type: 'push',
    body: Buffer.from(JSON.stringify({ repository: { full_name: 'me/mine' } })),
    contentType: 'application/json',
    priority: 5,
    timestamp: new Date(),
    headers: { 'x-delivery-id': id, 'x-event': 'push' },
  });
  const publish = async (one: Message) => expect((await place.broker.publish(one, 10_000)).outcome).to.equal('confirmed');

  it('gets each delivery, packed or not, and those that came while its program was away', async () => {
    const folder = temporaryDirectory('consume');
    const program = blocksOf('docs/follow-events.md').find((one) => one.file === 'consume.mjs') ?? expect.fail('the page has no consume.mjs');
    writeFileSync(join(folder, 'consume.mjs'), program.text);
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    expect(existsSync(join(folder, 'node_modules/amqplib'))).to.equal(true);
    const start = () => {
      let printed = '';
      const env = { ...process.env, BROKER_URL_1: place.url };
      const child = spawnGuarded(process.execPath, ['consume.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
      child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      const ended = new Promise((resolve) => child.once('close', resolve));
      return { printed: () => printed, kill: async () => (signalGroup(child.pid ?? 0, 'SIGKILL'), await ended) };
    };
    const first = start();
    await eventually(
      async () => {
        await publish(message('a'));
        expect(first.printed()).to.include('a push me/mine\n');
      },
      { withinMs: 60_000 },
    );
    await first.kill();
    const packed = message('b');
    await publish({ ...packed, body: gzipSync(packed.body), contentEncoding: 'gzip' });
    const second = start();
    await eventually(() => expect(second.printed()).to.include('b push me/mine\n'), { withinMs: 60_000 });
    await second.kill();
  });
});
