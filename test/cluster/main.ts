// `npm run test:cluster [-- scenario…]`: drives installations of the chart on the cluster of KUBECONFIG. Its last line counts.
import { inspect, parseArgs } from 'node:util';
import { tools } from '../support/tools.ts';
import { provideImage } from './image.ts';
import { createKubectl } from './kubectl.ts';
import { say, seconds } from './say.ts';
import { createStage, type Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** A tag that the cluster has, and has as `<tag>-next`, too: nothing is built. */
    image: { type: 'string' },
    /** Leaves the namespaces of the scenarios. */
    keep: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

async function main(): Promise<boolean> {
  if (options.list) {
    for (const { name, proves } of scenarios) process.stdout.write(`${name.padEnd(17)} ${proves}\n`);
    return true;
  }
  const { missing } = tools('helm', 'helm3', 'kubectl');
  if (missing !== undefined) throw new Error(missing);
  // Never the current context of a developer's machine.
  if (!process.env['KUBECONFIG']) throw new Error('KUBECONFIG must name the cluster to install on');
  const addresses = await findNodes();
  const chosen = positionals.length === 0 ? scenarios.filter(({ nodes = 1 }) => nodes <= addresses.length) : positionals.map(scenarioCalled);
  const lacking = chosen.find(({ nodes = 1 }) => nodes > addresses.length);
  if (lacking) throw new Error(`scenario ${lacking.name} needs a cluster of ${lacking.nodes} nodes`);
  const ingressAddress = process.env['TEST_INGRESS'] ?? `${addresses[0]}:80`;
  const tags = await provideImage(options.image);
  const failed: string[] = [];
  for (const scenario of chosen) if (!(await passes(scenario, { tags, ingressAddress }))) failed.push(scenario.name);
  if (failed.length > 0) process.stdout.write(`failed: ${failed.join(', ')}\n`);
  process.stdout.write(`${chosen.length - failed.length} passed, ${failed.length} failed\n`);
  return failed.length === 0;
}

function scenarioCalled(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (!found) throw new Error(`there is no scenario '${name}'; there are: ${scenarios.map((scenario) => scenario.name).join(', ')}`);
  return found;
}

async function passes(scenario: Scenario, parts: Pick<Parameters<typeof createStage>[0], 'tags' | 'ingressAddress'>): Promise<boolean> {
  say(`${scenario.name}: ${scenario.proves}`);
  const stage = createStage({ name: scenario.name, keep: options.keep, ...parts });
  const begun = performance.now();
  try {
    await scenario.run(stage);
    say(`${scenario.name} passed in ${seconds(performance.now() - begun)}`);
    return true;
  } catch (error) {
    say(`${scenario.name} FAILED after ${seconds(performance.now() - begun)}: ${inspect(error)}`);
    for (const folder of await stage.keepEvidence()) say(`  logs and events: ${folder}`);
    return false;
  } finally {
    await stage.close();
  }
}

/** The addresses of the cluster's nodes: its ingress listens on port 80 of the first, unless `TEST_INGRESS` (host:port) says otherwise. */
async function findNodes(): Promise<string[]> {
  type Nodes = { items: readonly { status: { addresses: readonly { type: string; address: string }[] } }[] };
  const { items } = await createKubectl('default').get<Nodes>(['nodes']);
  const addresses = items.flatMap(({ status }) => status.addresses.find(({ type }) => type === 'InternalIP')?.address ?? []);
  if (addresses.length === 0) throw new Error('the cluster has no node with an address');
  return addresses;
}

try {
  if (!(await main())) process.exitCode = 1;
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n0 passed, 1 failed\n`);
  process.exitCode = 1;
}
