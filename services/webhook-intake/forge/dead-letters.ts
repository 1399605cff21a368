// `signalbox webhook-intake dead-letters`: what is in forge.dead on every connection and why, and back to where it came from.
import { connectBroker } from '../../platform/broker/connect.ts';
import { createDeadLettersCommand } from '../../platform/broker/dead-letters.ts';
import { readWithBrokers } from '../../platform/broker/environment.ts';
import { readSettings } from '../../platform/config/config.ts';
import { silentLog } from '../../platform/log.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { forgeTopology } from '../../webhook-relay/contract.ts';
import type { brokerSettings } from '../config.ts';

export const createDeadLetters = (settings: typeof brokerSettings): Subcommand =>
  createDeadLettersCommand({
    queues: forgeTopology.queues,
    summary: 'list the dead letters of the forge queues with their reasons, or return them; reads BROKER_URL_n as the workers do',
    settings,
    async read(environment) {
      const { config, connections } = await readWithBrokers(environment, () => readSettings(environment, settings));
      const options = { log: silentLog, name: 'signalbox dead-letters', queueType: config.queueType };
      return connections.map(({ name, url }) => ({ name, open: () => connectBroker(url, forgeTopology, options) }));
    },
  });
