// Without Helm in the cluster: what is rendered is applied, twice.
import { chart, expectAllReady, release } from '../installation.ts';
import type { Kubectl } from '../kubectl.ts';
import { expectExactlyOnce } from '../load.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';
import { eventually } from '../../support/wait.ts';

export const apply: Scenario = {
  name: 'apply',
  proves: 'helm template | kubectl apply --server-side installs it, and a second time changes nothing',
  async run({ prepare }) {
    const { kubectl, helm, valuesOf, clients } = await prepare();
    const rendered = await helm(['template', release, chart, '--skip-tests'], valuesOf());
    const applyAll = () => kubectl.run(['apply', '--server-side', '--filename', '-'], { input: rendered });
    await step('helm template | kubectl apply --server-side', applyAll);
    await step('waiting until it is ready', () => eventually(() => expectAllReady(kubectl), { withinMs: 180_000, everyMs: 1000 }));
    const forge = await clients();
    const first = await forge.deliver();
    await expectExactlyOnce(forge, [first.deliveryId]);

    const before = await versions(kubectl);
    await step('the same again', applyAll);
    const after = await versions(kubectl);
    const changed = Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name]);
    if (changed.length > 0) throw new Error(`changed by applying again: ${changed.join(', ')}`);
    say(`  none of ${Object.keys(after).length} objects changed`);
    const second = await forge.deliver();
    await expectExactlyOnce(forge, [first.deliveryId, second.deliveryId]);
  },
};

const kinds =
  'deployments,statefulsets,jobs,pods,services,serviceaccounts,configmaps,roles,rolebindings,networkpolicies,poddisruptionbudgets,ingresses,persistentvolumeclaims,secrets';

type List = { items: readonly { kind: string; metadata: { name: string; uid: string; generation?: number; resourceVersion: string } }[] };

/** Object → what changes with it: not its status, where it has a generation to tell. */
async function versions(kubectl: Kubectl): Promise<Record<string, string>> {
  const { items } = await kubectl.get<List>([kinds]);
  return Object.fromEntries(
    items.map(({ kind, metadata: { name, uid, generation, resourceVersion } }) => [
      `${kind}/${name}`,
      kind === 'Pod' ? uid : `${uid} ${generation === undefined ? resourceVersion : `generation ${generation}`}`,
    ]),
  );
}
