// The life of a release, with each version of Helm: nothing that was kept is lost on the way.
import { type Clients, isKept, type SecretReader } from '../clients.ts';
import type { HelmProgram, Installation } from '../installation.ts';
import { expectAllReady } from '../installation.ts';
import { expectExactlyOnce } from '../load.ts';
import { say, step } from '../say.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { eventually } from '../../support/wait.ts';

const life = (name: string, program: HelmProgram): Scenario => ({
  name,
  proves: `with ${program}: credentials and data are the same after upgrade, rollback, and uninstall followed by reinstall on the kept volumes and Secret`,
  run: (stage) => live(stage, program),
});

export const helm4 = life('helm-4', 'helm');
export const helm3 = life('helm-3', 'helm3');

async function live({ prepare, tags }: Stage, program: HelmProgram): Promise<void> {
  const installation = await prepare(program);
  await installation.install();
  const before = await remember(installation);

  await installation.upgrade({ image: { tag: tags.second } });
  await before.expectAll('after the upgrade');
  await expectTag(installation, tags.second);

  await installation.rollback();
  await before.expectAll('after the rollback');
  await expectTag(installation, tags.first);

  await installation.uninstall();
  await step('what an uninstall leaves', () => expectLeft(installation));
  await installation.install();
  await before.expectAll('after the reinstall');

  await step('helm test', async () => void (await installation.helm(['test', 'signalbox'])));
  await expectAllReady(installation.kubectl);
}

type Memory = { expectAll(when: string): Promise<void> };

/** Credentials, a delivery, a newsletter, a bookmark and an application's secret; each `expectAll` adds a delivery, which the later ones expect, too. */
async function remember({ credentials, clients }: Installation): Promise<Memory> {
  const kept = await credentials();
  say(`${Object.keys(kept).length} credentials: ${Object.keys(kept).join(', ')}`);
  const first = await clients();
  const secret: SecretReader = await first.createApplication('Kept');
  await first.sendNewsletter('Kept');
  await first.addBookmark('Kept');
  const delivered: string[] = [];
  const deliver = async (forge: Clients) => {
    const answer = await forge.deliver();
    // A relay is ready before its broker is; until then it spools.
    if (!isKept(answer)) throw new Error(`the relay answers ${answer.status}: ${answer.body}`);
    delivered.push(answer.deliveryId);
  };
  await deliver(first);
  return {
    expectAll: (when) =>
      step(`${when}: credentials, event log, secrets, newsletters and bookmarks are what they were`, async () => {
        const now = await credentials();
        const changed = Object.keys({ ...kept, ...now }).filter((key) => kept[key] !== now[key]);
        if (changed.length > 0) throw new Error(`${when} other credentials: ${changed.join(', ')}`);
        const forge = await clients();
        await deliver(forge);
        await expectExactlyOnce(forge, delivered);
        await secret.read();
        await forge.expectNewsletters(['Kept']);
        if ((await forge.bookmarks()).join() !== 'Kept') throw new Error(`${when} other bookmarks`);
      }),
  };
}

async function expectTag({ kubectl }: Installation, tag: string): Promise<void> {
  const images = (await kubectl.pods()).flatMap(({ spec }) => spec.containers.map(({ image }) => image)).filter((image) => image.includes('/signalbox:'));
  const others = images.filter((image) => !image.endsWith(`:${tag}`));
  if (images.length === 0 || others.length > 0) throw new Error(`not of ${tag}: ${others.join(', ') || 'no pod at all'}`);
}

async function expectLeft({ kubectl }: Installation): Promise<void> {
  type List = { items: readonly { kind: string; metadata: { name: string } }[] };
  const expected = ['PersistentVolumeClaim/data-signalbox-postgres-0', 'PersistentVolumeClaim/data-signalbox-rabbitmq-0', 'Secret/signalbox-credentials'];
  // Jobs of CronJobs, which Helm does not know, are left to the garbage collector.
  await eventually(
    async () => {
      const { items } = await kubectl.get<List>(['deployments,statefulsets,jobs,services,networkpolicies,ingresses,secrets,persistentvolumeclaims']);
      const left = items.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort();
      if (left.join() !== expected.join()) throw new Error(`an uninstall leaves ${left.join(', ')}, and not ${expected.join(', ')}`);
    },
    { withinMs: 60_000, everyMs: 500 },
  );
  say(`  left: ${expected.join(', ')}`);
}
