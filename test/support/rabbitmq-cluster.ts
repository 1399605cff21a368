// Three RabbitMQ nodes, joined to a cluster, behind an address that leads to nodes that take connections, as the Service of Kubernetes does.
import { type RabbitmqServer, startRabbitmq } from './rabbitmq-server.ts';
import { startSwitch } from './switch.ts';
import { eventually } from './wait.ts';

/**
 * `killed`: the process ends, and the kernel closes its connections. `parted`: it lives and loses its connections to the others;
 * as the smaller side it stops to serve. `hung`: it answers nothing, and its connections stay open, as those of a machine without power.
 */
export type NodeLoss = 'killed' | 'parted' | 'hung';

export type RabbitmqCluster = {
  /** The virtual host `/` as administrator, on any node. */
  readonly url: string;
  readonly nodes: readonly RabbitmqServer[];
  /** The node with the queue's leader; all nodes must work. */
  leaderOf(queue: string): Promise<RabbitmqServer>;
  /** From now on the address leads new connections to the others; open ones are the node's matter. */
  lose(node: RabbitmqServer, loss: NodeLoss): Promise<void>;
  /**
   * The node works again, every quorum queue has its three members, and the address leads to it as well.
   * @returns whether it had to be restarted: before 4.3 a node that hung stays apart, though its queues come back (rabbitmq-server#17319, and the runbook
   * SignalboxBrokerNotConfirming)
   */
  bringBack(node: RabbitmqServer, loss: NodeLoss): Promise<boolean>;
  close(): Promise<void>;
};

/** RabbitMQ has needed it until 4.3. */
const config = 'cluster_partition_handling = pause_minority';
/** Seconds, give or take a quarter, until a node that answers nothing counts as down. */
const advancedConfig = '[{kernel, [{net_ticktime, 8}]}].';

export async function startRabbitmqCluster(): Promise<RabbitmqCluster> {
  const first = await startRabbitmq({ config, advancedConfig });
  const nodes = [first, ...(await Promise.all([1, 2].map(() => startRabbitmq({ config, advancedConfig, joins: first.member }))))];
  const address = await startSwitch(...nodes.map(({ member }) => member.amqpPort));
  const othersOf = (node: RabbitmqServer) => nodes.filter((other) => other !== node);
  const url = new URL(first.url);
  url.port = String(address.port);

  /** With another cookie for them it neither reaches the others nor is reached; commands still reach it. */
  const part = (node: RabbitmqServer) =>
    node.control('eval', `[{erlang:set_cookie(Node, parted), erlang:disconnect_node(Node)} || Node <- [${namesOf(othersOf(node))}]].`);
  const heal = (node: RabbitmqServer) => node.control('eval', `[erlang:set_cookie(Node, erlang:get_cookie()) || Node <- [${namesOf(othersOf(node))}]].`);

  return {
    url: url.href,
    nodes,
    async leaderOf(queue) {
      const name = await first.control(
        'eval',
        `{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"${queue}">>)), element(2, amqqueue:get_pid(Q)).`,
      );
      const leader = nodes.find(({ member }) => name.includes(member.name));
      if (!leader) throw new Error(`no node leads ${queue}: ${name}`);
      return leader;
    },
    async lose(node, loss) {
      if (loss === 'killed') await node.kill();
      else if (loss === 'hung') node.hang();
      else await part(node);
      address.leadNewTo(...othersOf(node).map(({ member }) => member.amqpPort));
    },
    async bringBack(node, loss) {
      if (loss === 'killed') await node.start();
      else if (loss === 'hung') node.resume();
      else await heal(node);
      const isRestarted = loss === 'hung' && !(await becomesWhole(nodes));
      if (isRestarted) {
        await node.control('stop_app');
        await node.control('start_app');
      }
      // A node that hung believes for a while that it never left.
      for (const asked of [...othersOf(node), node]) await eventually(() => isComplete(asked, nodes.length), { withinMs: 120_000, everyMs: 200 });
      address.leadTo(...nodes.map(({ member }) => member.amqpPort));
      return isRestarted;
    },
    async close() {
      address.close();
      await Promise.all(othersOf(first).map((node) => node.close()));
      await first.close();
    },
  };
}

const namesOf = (nodes: readonly RabbitmqServer[]) => nodes.map(({ member }) => `'${member.name}'`).join(', ');

/** Whether each node works with all others within a while; one that waits for them answers nothing. */
const becomesWhole = (nodes: readonly RabbitmqServer[]): Promise<boolean> =>
  eventually(
    async () => {
      const known = await Promise.all(nodes.map((node) => node.control('eval', '{length(rabbit_nodes:all_running()), rabbit_node_monitor:partitions()}.')));
      return known.every((text) => text.trim() === `{${nodes.length},[]}`);
    },
    { withinMs: 10_000, everyMs: 200 },
  ).then(
    () => true,
    () => false,
  );

/** Asks the node whether each quorum queue has so many members that work, as far as it knows. */
async function isComplete(node: RabbitmqServer, members: number): Promise<boolean> {
  const queues = await node.control('list_queues', '--no-table-headers', 'online');
  return queues
    .trim()
    .split('\n')
    .every((online) => online.split('@').length - 1 === members);
}
