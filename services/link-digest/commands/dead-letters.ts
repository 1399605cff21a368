// `signalbox digest dead-letters`: lists dead letters of mails with their reasons, and returns them to the queue.
import { connectBroker } from '../../platform/broker/connect.ts';
import { createDeadLettersCommand } from '../../platform/broker/dead-letters-command.ts';
import { readSettings } from '../../platform/config/config.ts';
import { silentLog } from '../../platform/log.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import type { queueSettings } from '../config.ts';
import { ingestTopology } from '../ingest/queue.ts';

export const createDeadLetters = (settings: typeof queueSettings): Subcommand =>
  createDeadLettersCommand({
    queues: ingestTopology(0).queues,
    summary: 'list, show, send back or drop the dead letters of the queue of mails',
    settings,
    read(environment) {
      const { brokerUrl, maxRetries, queueType } = readSettings(environment, settings);
      const open = () => connectBroker(brokerUrl.reveal(), ingestTopology(maxRetries), { log: silentLog, name: 'signalbox dead-letters', queueType });
      return Promise.resolve([{ name: 'Ingest__BrokerUrl', open }]);
    },
  });
