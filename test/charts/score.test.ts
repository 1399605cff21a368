// kube-score on every rendering: each finding is mended, or explained here.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { runTool, tools } from '../support/tools.ts';
import type { Values } from '../support/values.ts';
import { helm, renderText } from './chart.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();
const { missing } = tools('kube-score');
const need = { name: 'kube-score', missing: helm.missing ?? missing };

/** Check → why it is not for this chart. */
const explained: Readonly<Record<string, string>> = {
  'container-image-pull-policy': 'A released tag or digest never changes: pulling it at each start makes starts depend on the registry.',
  'container-security-context-user-group-id': 'It wants ids above 10000; these are those that the images have, and their volumes belong to.',
  'container-resources': 'No CPU limits: they slow a pod down beside an idle core. Memory and storage are limited.',
  'deployment-strategy': 'Redis counts in memory: two at once, as a rolling update has them, would count apart.',
  'deployment-replicas': 'One of each by default: small clusters run it too; `replicas` says otherwise.',
  'deployment-has-host-podantiaffinity': 'Spread over nodes is by topologySpreadConstraints.',
  'statefulset-has-host-podantiaffinity': 'Spread over nodes is by topologySpreadConstraints.',
};

type Scored = {
  readonly object_name: string;
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
    readonly comments: readonly Comment[] | null;
  }[];
};
type Comment = { readonly path: string; readonly summary: string; readonly description: string };

const allOk = 10;

async function findings(values: Values | undefined): Promise<{ readonly id: string; readonly text: string }[]> {
  const args = ['score', '--output-format', 'json', '--disable-ignore-checks-annotations', '--kubernetes-version', 'v1.34', '-'];
  const { stdout, stderr } = await runTool('kube-score', args, { input: await renderText(values) });
  expect(stdout, stderr).to.match(/^\[/);
  const scored: Scored[] = JSON.parse(stdout);
  return scored.flatMap(({ object_name: object, checks }) =>
    checks
      .filter(({ grade, skipped }) => !skipped && grade < allOk)
      .map(({ check: { id }, comments }) => ({
        id,
        text: `${object}: ${id}: ${(comments ?? []).map(({ path, summary }) => `${path} ${summary}`).join('; ')}`,
      })),
  );
}

describeWith(need, 'kube-score', () => {
  const met = new Set<string>();

  for (const name of ['the defaults', 'everything on', 'servers outside', 'workers as CronJobs', 'a relay with claims', 'queues in Postgres']) {
    it(`finds nothing in ${name} that is not explained`, async () => {
      const found = await findings(sets.get(name));
      for (const { id } of found) met.add(id);
      expect(found.filter(({ id }) => !(id in explained)).map(({ text }) => text)).to.deep.equal([]);
    });
  }

  it('is explained nothing that it does not find', () => {
    expect([...met].sort()).to.deep.equal(Object.keys(explained).sort());
  });
});
