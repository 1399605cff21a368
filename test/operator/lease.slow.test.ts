// Replicas of the operator as real processes: one leads, and another one follows when it is stopped, killed or cut off.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import type { Resource } from '../../services/operator/cluster/cluster.ts';
import { type Call, createFaultProxy } from '../support/fault-proxy.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { kubernetes, sharedApiServer } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually, freePort } from '../support/wait.ts';
import { createTestCluster, type TestCluster } from './operator.ts';

const leaseResource: Resource = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' };
const LeaseSpec = z.object({ holderIdentity: z.string(), leaseTransitions: z.int(), renewTime: z.string() });

/** The promise after a kill; a released Lease is taken long before its 12 s are over. */
const handOverMs = 20_000;
const givenBackMs = 8000;

type Replica = { readonly process: RunningProcess; readonly port: number };

describeWith(kubernetes, 'replicas of the operator', function () {
  this.timeout(180_000);
  let cluster: TestCluster;
  let running: Replica[];

  beforeEach(async () => {
    cluster = await createTestCluster();
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map(({ process }) => process.kill()));
    await cluster.close();
  });

  async function start(kubeconfig = cluster.kubeconfig): Promise<Replica> {
    const port = await freePort();
    const env = { KUBECONFIG: kubeconfig, METRICS_PORT: String(port), Operator__Namespace: cluster.namespace, Operator__LeaseNamespace: cluster.namespace };
    const replica = { process: startProcess(['operator'], { env }), port };
    running.push(replica);
    await replica.process.waitForLine(/"msg":"ready"/);
    return replica;
  }

  const isLeading = async ({ port }: Replica) => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
    return /^signalbox_operator_leader 1$/m.test((await answer?.text()) ?? '');
  };

  async function leadersAmong(replicas: readonly Replica[]): Promise<Replica[]> {
    const leading = await Promise.all(replicas.map(isLeading));
    return replicas.filter((_, index) => leading[index]);
  }

  /** Looks at all of them until then: no two lead. */
  async function lookUntil(condition: (leaders: readonly Replica[]) => boolean | Promise<boolean>, withinMs: number): Promise<void> {
    let most = 0;
    await eventually(
      async () => {
        const leaders = await leadersAmong(running);
        // Asked once more, since the one may have stopped before the other was asked.
        if (leaders.length > 1) most = Math.max(most, (await leadersAmong(leaders)).length);
        return condition(leaders);
      },
      { withinMs },
    );
    expect(most, 'leaders at once').to.be.at.most(1);
  }
  const untilLed = (by: readonly Replica[], withinMs = 60_000) => lookUntil((leaders) => leaders.some((leader) => by.includes(leader)), withinMs);

  const lease = async () => LeaseSpec.parse((await cluster.find(leaseResource, 'signalbox-operator'))?.['spec']);

  it('are led by one, are ready whether they lead or not, and are led by the next at once when that stops', async () => {
    const first = await start();
    await untilLed([first]);
    const second = await start();
    await untilLed([first]);
    for (const { port } of running) expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).to.equal(200);
    first.process.signal('SIGTERM');
    expect(await first.process.exited).to.deep.equal({ code: 0, signal: null });
    await untilLed([second], givenBackMs);
  });

  it('are led by another process within 20 s of a kill, though the killed one is started again at once', async () => {
    const first = await start();
    await untilLed([first]);
    const second = await start();
    const before = await lease();
    await first.process.kill();
    const killedAt = performance.now();
    const again = await start();
    await untilLed([second, again], handOverMs - (performance.now() - killedAt));
    const after = await lease();
    expect(after.leaseTransitions).to.equal(before.leaseTransitions + 1);
    expect(after.holderIdentity).not.to.equal(before.holderIdentity);
  });

  it('keep their leader when the Lease is deleted by hand', async () => {
    const first = await start();
    await untilLed([first]);
    await start();
    const { renewTime, holderIdentity } = await lease();
    // Just renewed: it is the other one that finds it missing first.
    await eventually(async () => expect((await lease()).renewTime).not.to.equal(renewTime), { everyMs: 5 });
    await cluster.remove(leaseResource, 'signalbox-operator');
    await lookUntil(async () => (await lease()).holderIdentity === holderIdentity, givenBackMs);
    await untilLed([first]);
  });

  it('are led by another one within 20 s when the leader is cut off, which leads no more by then', async () => {
    const proxy = await createFaultProxy((await sharedApiServer()).config);
    try {
      const kubeconfig = join(temporaryDirectory('cut-off'), 'kubeconfig');
      await writeFile(kubeconfig, proxy.config.exportConfig());
      const first = await start(kubeconfig);
      await untilLed([first]);
      const second = await start();
      proxy.set('hang');
      await untilLed([second], handOverMs);
      proxy.set('none');
      // It asks for the Lease again, and waits.
      proxy.takeCalls();
      const calls: Call[] = [];
      // A call gets its status when it is answered, which may be after it was taken.
      await eventually(() => {
        calls.push(...proxy.takeCalls());
        return calls.some(({ url, status }) => url.includes('/leases/') && status === 200);
      });
      await untilLed([second]);
      expect(await isLeading(first)).to.equal(false);
    } finally {
      await proxy.close();
    }
  });
});
