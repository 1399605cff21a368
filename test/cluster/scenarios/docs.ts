// The pages as an operator follows them: what they mark `sh cluster` runs as it stands, in namespaces and releases of the pages' own names.
import { symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { blocksOf, root } from '../../../scripts/site/pages.ts';
import { temporaryDirectory } from '../../support/guard.ts';
import { runTool, toolPath } from '../../support/tools.ts';
import { merged, type Values } from '../../support/values.ts';
import { strictCurl } from '../../system/pages.ts';
import { standIns } from '../installation.ts';
import { createKubectl } from '../kubectl.ts';
import { deleteDefinitions, deleteNamespace } from '../operator.ts';
import { step } from '../say.ts';
import type { Scenario } from '../scenario.ts';

type Walk = {
  readonly page: string;
  /** All unless given. */
  readonly section?: string;
  /** The output that it must print, beside not failing. */
  readonly shown?: RegExp;
};

/** In one folder, with one file of values. The first page ends with an uninstall. */
const walks: readonly Walk[] = [
  { page: 'docs/install.md', shown: /Phase: +Succeeded.*Rollback was a success.*release "signalbox" uninstalled/s },
  { page: 'docs/install.md', section: '3. Install' },
  { page: 'docs/on-call.md', shown: /^intake, event log /m },
  { page: 'docs/sources.md', shown: /deployment.apps\/signalbox-webhook-intake restarted/ },
  { page: 'docs/operator.md', section: 'Install' },
  { page: 'docs/applications.md', shown: /^open sesame$.*^open sesame\+ .*^open sesame$/ms },
  { page: 'docs/operator.md', shown: /"signalbox-operator" uninstalled.*customresourcedefinition.* deleted/s },
  { page: 'docs/upgrade.md', shown: /Phase: +Succeeded/ },
  { page: 'docs/credentials.md', shown: /no version is left on another master key/ },
  { page: 'docs/backup.md', shown: /dumped to .*restored \/backups.*restored \/var\/lib/s },
  { page: 'docs/operations.md', shown: /release "signalbox" uninstalled/ },
];

const namespaces = ['signalbox', 'shop', 'signalbox-operator'].map(createKubectl);

export const docs: Scenario = {
  name: 'docs',
  proves:
    'each block that install, on-call, sources, operator, applications, upgrade, credentials, backup and operations mark `sh cluster` runs as it stands, page by page',
  async run({ tags, afterwards }) {
    await expectNothing();
    afterwards(() => removeAll());
    const folder = temporaryDirectory('pages');
    for (const name of ['charts', 'k8s']) symlinkSync(join(root, name), join(folder, name));
    let values: Values = {};
    for (const { page, section, shown = /^/ } of walks) {
      const chosen = blocksOf(page).filter((block) => section === undefined || block.section === section);
      const lines = chosen.flatMap(({ mark, text, file }) => {
        const here = withImage(text, tags.first);
        if (file === 'values.yaml') values = merged(parse(here) as Values, standIns);
        if (here.startsWith('# into values.yaml')) values = merged(values, parse(here) as Values);
        if (/^# (into )?values.yaml/.test(here)) return [fileOf('values.yaml', JSON.stringify(values))];
        if (file !== undefined) return [fileOf(file, here)];
        return mark === 'sh cluster' ? [here] : [];
      });
      const printed = await step(section === undefined ? page : `${page}, ${section}`, () => run(folder, lines.join('\n')));
      if (!shown.test(printed)) throw new Error(`${page} does not show ${String(shown)}:\n${printed.slice(-8000)}`);
    }
  },
};

/** The pages' names are those of anybody's installation: nothing of it is touched. */
async function expectNothing(): Promise<void> {
  for (const { namespace, tryRun } of namespaces)
    if ((await tryRun(['get', 'namespace', namespace])).code === 0) throw new Error(`the cluster has a namespace ${namespace} already`);
  const definitions = await createKubectl('default').run(['get', 'crd', '--selector', 'app.kubernetes.io/name=signalbox-operator', '--output', 'name']);
  if (definitions !== '') throw new Error(`the cluster has definitions of an operator already: ${definitions}`);
}

/** The one thing that is another on a test's cluster. */
const withImage = (text: string, tag: string) => text.replaceAll('registry.example.test', 'docker.io/library').replaceAll('0.1.0', tag);

const fileOf = (name: string, text: string) => `cat > ${name} <<'END OF FILE'\n${text}\nEND OF FILE`;

/** In one shell, so that what a block sets is there in the next one. @returns what it printed */
async function run(folder: string, script: string): Promise<string> {
  const whole = `cd '${folder}'; ${strictCurl}; trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\nexec 2>&1\nset -x\n${script}`;
  const path = ['helm', 'kubectl'].map((name) => dirname(toolPath(name))).join(delimiter);
  const env = { PATH: `${path}${delimiter}${process.env['PATH'] ?? ''}` };
  const { code, stdout } = await runTool('bash', ['-euo', 'pipefail', '-c', whole], { env, withinMs: 1_800_000 });
  if (code !== 0) throw new Error(`exit code ${code}:\n${stdout.slice(-8000)}`);
  return stdout;
}

async function removeAll(): Promise<void> {
  const [signalbox] = namespaces;
  for (const kubectl of namespaces.toReversed()) if ((await kubectl.tryRun(['get', 'namespace', kubectl.namespace])).code === 0) await deleteNamespace(kubectl);
  if (signalbox) {
    await deleteDefinitions(signalbox);
    await signalbox.run(['delete', 'clusterrole,clusterrolebinding', '--selector', 'app.kubernetes.io/name=signalbox-operator']);
  }
}
