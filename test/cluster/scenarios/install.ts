// The first installation: how long it takes, and whether what it brings works.
import { expectAllReady } from '../installation.ts';
import type { Kubectl } from '../kubectl.ts';
import { expectExactlyOnce } from '../load.ts';
import { say, seconds } from '../say.ts';
import type { Scenario } from '../scenario.ts';

const readyWithinMs = 180_000;

export const install: Scenario = {
  name: 'install',
  proves:
    'helm install is ready within three minutes in a restricted namespace, and no container fails on the way; a signed delivery, a newsletter and a bookmark come in through the ingress and are read again; helm test passes',
  async run({ prepare }) {
    const { kubectl, install: helmInstall, clients, helm } = await prepare();
    const begun = performance.now();
    await helmInstall();
    await expectAllReady(kubectl);
    await expectNoError(kubectl);
    const took = performance.now() - begun;
    if (took > readyWithinMs) throw new Error(`ready after ${seconds(took)} only`);

    const forge = await clients();
    const { deliveryId, status, body } = await forge.deliver();
    say(`a delivery through the ingress: ${status} ${body}`);
    if (status !== 202) throw new Error(`the relay answers ${status} through the ingress`);
    await expectExactlyOnce(forge, [deliveryId]);
    const application = await forge.createApplication('Install');
    await application.read();
    say('an application reads its secret through the ingress');
    await forge.sendNewsletter('Install');
    await forge.expectNewsletters(['Install']);
    await forge.addBookmark('Install');
    if ((await forge.bookmarks()).join() !== 'Install') throw new Error('the bookmark is not the one that was added');
    say('a newsletter is stored, and a bookmark read, through the ingress');

    say(await helm(['test', 'signalbox', '--logs']));
    expectQuiet(await kubectl.run(['get', 'events', '--output', 'jsonpath={range .items[*]}{.type} {.reason} {.message}{"\\n"}{end}']));
  },
};

/** A pod that the restricted standard refuses is an event of its ReplicaSet or Job. */
function expectQuiet(events: string): void {
  const refused = events.split('\n').filter((line) => /FailedCreate|violates PodSecurity/.test(line));
  if (refused.length > 0) throw new Error(refused.join('\n'));
}

type Ended = { readonly terminated?: { readonly exitCode: number } };
type Started = {
  readonly metadata: { readonly name: string };
  readonly status: { readonly initContainerStatuses?: readonly Container[]; readonly containerStatuses?: readonly Container[] };
};
type Container = { readonly name: string; readonly state: Ended; readonly lastState: Ended };

/** Containers of Jobs are looked at, too. */
async function expectNoError(kubectl: Kubectl): Promise<void> {
  const { items } = await kubectl.get<{ items: readonly Started[] }>(['pods']);
  const failed = items.flatMap(({ metadata, status }) =>
    [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
      .filter(({ state, lastState }) => [state, lastState].some(({ terminated }) => (terminated?.exitCode ?? 0) !== 0))
      .map(({ name }) => `${metadata.name}/${name}`),
  );
  if (failed.length > 0) throw new Error(`ended with a failure: ${failed.join(', ')}`);
}
