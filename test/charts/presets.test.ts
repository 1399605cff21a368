// The presets of the chart: the command in their first lines works, and docs/install.md says what their pods ask for.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { textOf } from '../../scripts/site/pages.ts';
import { describeWith } from '../support/need.ts';
import { runTool } from '../support/tools.ts';
import { merged, type Values } from '../support/values.ts';
import { chart, helm, render } from './chart.ts';
import { podsOf } from './manifests.ts';

const presets = { 'values-small.yaml': {}, 'values-ha.yaml': { postgres: { external: { host: 'postgres.example.test' } } } };

const textOfPreset = (name: string) => readFileSync(join(chart, name), 'utf8');

/** The commands of the comment that the file begins with, one a line. */
const commandsOf = (text: string) =>
  [...text.matchAll(/^# {3}(.*)$/gm)]
    .map(([, line = '']) => line)
    .join('\n')
    .replaceAll(/ \\\n +/g, ' ')
    .split('\n');

const mebibytes = (quantity = '0') => Number.parseFloat(quantity) * (quantity.endsWith('Gi') ? 1024 : 1);

/** As the page writes them: cores, MiB, and GiB of limits of all pods that run on. */
async function demandOf(values: Values): Promise<string> {
  let [cpu, memory, limit] = [0, 0, 0];
  for (const { owner, pod } of podsOf(await render(values))) {
    if (owner.kind !== 'Deployment' && owner.kind !== 'StatefulSet') continue;
    const replicas = owner.spec?.replicas ?? 1;
    for (const { resources: { requests = {}, limits = {} } = {} } of pod.spec.containers) {
      cpu += replicas * Number.parseFloat(requests['cpu'] ?? '0');
      memory += replicas * mebibytes(requests['memory']);
      limit += replicas * mebibytes(limits['memory']);
    }
  }
  return `${cpu / 1000} ${cpu === 1000 ? 'core' : 'cores'} | ${memory} MiB | ${(limit / 1024).toFixed(1)} GiB`;
}

describeWith(helm, 'a preset', () => {
  for (const [name, beside] of Object.entries(presets)) {
    it(`${name} is installed by the command of its first lines`, async () => {
      const commands = commandsOf(textOfPreset(name));
      const install = commands.find((command) => command.startsWith('helm install signalbox charts/signalbox ')) ?? '';
      expect(commands.some((command) => command === 'kubectl create namespace signalbox') || install.includes(' --create-namespace ')).to.equal(true);
      const options = install.replace(/^helm install signalbox charts\/signalbox /, '').replaceAll(/ ?--(create-namespace|wait)\b/g, '');
      const given = options
        .replaceAll('charts/signalbox', chart)
        .split(/ +/)
        .filter((word) => word !== '');
      const { code, stderr } = await runTool('helm', ['template', 'signalbox', chart, ...given]);
      expect(code, stderr).to.equal(0);
    });

    it(`${name} asks for the CPU and memory that docs/install.md says`, async () => {
      const demand = await demandOf(merged(parse(textOfPreset(name)) as Values, beside));
      expect(textOf('docs/install.md')).to.match(new RegExp(`^\\| \`${name}\`[^|]* \\| ${demand.replaceAll(/[.|]/g, '\\$&')} \\|`, 'm'));
    });
  }

  it('is not needed: docs/install.md says what the defaults ask for', async () => {
    expect(textOf('docs/install.md')).to.contain(`| the defaults | ${await demandOf({})} |`);
  });
});
