// Replicas of the operator as real processes: one leads, and another one follows when it is stopped or killed.
import { expect } from 'chai';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { kubernetes, sharedApiServer } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { eventually, freePort } from '../support/wait.ts';
import { createTestCluster, type TestCluster } from './operator.ts';

describeWith(kubernetes, 'replicas of the operator', function () {
  this.timeout(180_000);
  let cluster: TestCluster;
  const running: { readonly process: RunningProcess; readonly port: number }[] = [];

  before(async () => (cluster = await createTestCluster()));
  after(async () => {
    await Promise.all(running.map(({ process }) => process.kill()));
    await cluster.close();
  });

  async function start() {
    const { kubeconfig } = await sharedApiServer();
    const port = await freePort();
    const env = { KUBECONFIG: kubeconfig, METRICS_PORT: String(port), Operator__Namespace: cluster.namespace, Operator__LeaseNamespace: cluster.namespace };
    const process = startProcess(['operator'], { env });
    await process.waitForLine(/"msg":"ready"/);
    const replica = { process, port };
    running.push(replica);
    return replica;
  }

  const isLeading = async ({ port }: { readonly port: number }) => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
    return /^signalbox_operator_leader 1$/m.test((await answer?.text()) ?? '');
  };
  const leaders = async () => (await Promise.all(running.map(isLeading))).filter(Boolean).length;

  /** Looks all the while. */
  async function untilLed(by: { readonly port: number }): Promise<void> {
    await eventually(
      async () => {
        expect(await leaders()).to.be.at.most(1);
        return isLeading(by);
      },
      { withinMs: 60_000 },
    );
  }

  it('are led by one, by the next at once when that stops, and in its time when that is killed', async () => {
    const first = await start();
    await untilLed(first);
    const second = await start();
    expect([await isLeading(first), await isLeading(second)]).to.deep.equal([true, false]);
    first.process.signal('SIGTERM');
    expect(await first.process.exited).to.deep.equal({ code: 0, signal: null });
    await untilLed(second);
    const third = await start();
    await second.process.kill();
    await untilLed(third);
    expect(await leaders()).to.equal(1);
  });

  it('are ready, whether they lead or not', async () => {
    const other = await start();
    const [leading] = running.slice(-2);
    for (const replica of [leading, other]) expect((await fetch(`http://127.0.0.1:${replica?.port ?? 0}/health/ready`)).status).to.equal(200);
  });
});
