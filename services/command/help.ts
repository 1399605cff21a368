// The part of `--help` below the options: the settings that a command reads, from their declarations, and examples of it.
import type { Command } from 'commander';
import { migrateSettings, roleFamilies } from '../install/settings.ts';
import { settings as operatorSettings } from '../operator/config.ts';
import { brokerUrlFamily } from '../platform/broker/environment.ts';
import { commonSettings, optional, processSettings } from '../platform/config/settings.ts';
import { settings as intakeSettings } from '../webhook-intake/config.ts';
import { settings as relaySettings } from '../webhook-relay/config.ts';
import { deployables } from './deployables.ts';
import { serverSettings } from './doctor/servers.ts';
import { installationSettings, intakeCommandSettings, relayCommandSettings } from './installation.ts';
import { mostRows } from './sql.ts';
import { helpText } from './subcommands.ts';

const { metricsPort, logLevel, appEnv, otlpEndpoint } = processSettings;
const workerSettings = { logLevel, metricsPort, otlpEndpoint };
const serviceHeading = 'Environment (each also as NAME_FILE): the settings of the services, docs/settings.md, and';
const { webhookSecrets, spoolDirectory } = relaySettings;
const { accessTokens, environmentFile } = intakeSettings;

const inPod =
  'A pod of the console knows the address of each service that its pages show (secrets only where they show it);\n' +
  'a pod of a service, such as service/signalbox-secrets, asks that service only, by its own credential.';

const workerHelp = (name: string) =>
  helpText({
    settings: workerSettings,
    heading: "Environment (each also as NAME_FILE): the settings of the worker's service, docs/settings.md, and",
    examples: [`signalbox worker ${name}`, `signalbox worker ${name} --loop`],
  });

const helps: Readonly<Record<string, string>> = {
  serve: helpText({
    settings: { port: commonSettings.port, ...workerSettings, appEnv },
    heading: serviceHeading,
    examples: [
      'DATABASE_URL=postgres://me@localhost/signalbox Management__AdminApiKey=… signalbox serve secrets',
      'signalbox serve webhook-relay webhook-intake',
    ],
  }),
  worker: workerHelp('cleanup'),
  operator: helpText({
    settings: { ...operatorSettings, ...workerSettings },
    notes: ['Outside of a cluster KUBECONFIG names the cluster.'],
    examples: ['signalbox operator', 'LOG_LEVEL=debug KUBECONFIG=~/.kube/config signalbox operator'],
  }),
  up: helpText({
    settings: { databaseUrl: optional(commonSettings.databaseUrl), ...workerSettings },
    heading: 'Environment (each also as NAME_FILE): any setting of docs/settings.md is used instead of the generated one, among them',
    notes: [
      'Without DATABASE_URL a Postgres of its own keeps everything in the data folder.',
      'A line of credentials.env in that folder keeps a setting for later starts.',
    ],
    examples: ['signalbox up', 'signalbox up --data ~/signalbox --port-base 18080'],
  }),
  demo: helpText({
    settings: { webhookSecrets: optional(webhookSecrets), accessTokens: optional(accessTokens) },
    heading: "Environment (each also as NAME_FILE): the credentials that 'signalbox up' was given, among them",
    examples: ['signalbox demo', 'signalbox demo --data ~/signalbox --port-base 18080'],
  }),
  trace: helpText({
    settings: { databaseUrl: optional(commonSettings.databaseUrl), environmentFile, spoolDirectory },
    families: [brokerUrlFamily],
    notes: ['With a Postgres role that may read one schema, only that schema is searched.'],
    examples: [
      'signalbox trace 72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'kubectl -n signalbox exec service/signalbox-webhook-relay -- signalbox trace 72d3162e-cc78-11e3-81ab-4c9367dc0958',
    ],
  }),
  queues: helpText({
    settings: relayCommandSettings,
    notes: [
      'Asks the webhook relay, which asks its brokers now. `?`: the broker does not answer; `-`: it does not tell.\nRabbitMQ tells neither the messages in work nor their age.',
      inPod,
    ],
    examples: ['signalbox queues', 'kubectl -n signalbox exec service/signalbox-webhook-relay -- signalbox queues'],
  }),
  brokers: helpText({
    settings: relayCommandSettings,
    notes: ['FULL is the day on which the limit is reached: the traffic of the last seven days goes to the active connection, then to the next ones.', inPod],
    examples: [
      'signalbox brokers',
      'signalbox brokers switch BROKER_URL_2',
      'kubectl -n signalbox exec service/signalbox-webhook-relay -- signalbox brokers reset BROKER_URL_1',
    ],
  }),
  spool: helpText({
    settings: relayCommandSettings,
    notes: ['Each relay answers for the files on its own disk, and for the rows of the database that any relay replays.', inPod],
    examples: ['signalbox spool', 'signalbox spool retry --given-up', 'signalbox spool drop 019b76da-a800-7000-8000-5f3c1e2d4a6b'],
  }),
  replay: helpText({
    settings: intakeCommandSettings,
    notes: [
      'Rows of the typed tables that are newer stay. One replay runs at a time, of at most Replay__MaxEvents events; the console shows its progress.',
      inPod,
    ],
    examples: ['signalbox replay --event issues --from 2026-03-15T00:00:00Z --dry-run', 'signalbox replay --repository me/mine --no-notify'],
  }),
  doctor: helpText({
    settings: { ...installationSettings, ...serverSettings },
    families: [brokerUrlFamily],
    notes: [
      'Readiness, versions and clocks of the services; connections, limits, queues and the spool of the relay; the last runs of workers; notifications;\n' +
        'the database; certificates of what is reached by TLS; the disk of the spool; on a laptop, and in the pod of its own,\n' +
        'a worker such as the mailbox, faulty notification rules, the geocoder. What does not answer hides nothing else.',
      'Certificates of brokers and the disk of the spool are looked at only in a pod that has them, such as the one of the relay.',
      inPod,
    ],
    examples: [
      'signalbox doctor',
      'signalbox doctor --json',
      'kubectl -n signalbox exec service/signalbox-console -- signalbox doctor',
      'kubectl -n signalbox exec service/signalbox-webhook-relay -- signalbox doctor',
      'kubectl -n signalbox exec service/signalbox-secrets -- signalbox doctor',
    ],
  }),
  sql: helpText({
    settings: { databaseUrl: optional(commonSettings.databaseUrl) },
    notes: [
      `The table has ${mostRows} rows at most and cuts long cells, --json does neither.\nA role of a service sees its own schema, and statements of its own sessions.`,
    ],
    examples: [
      'signalbox sql "select id, reason, tries from relay.failed_payloads where replayed_at is null"',
      'kubectl -n signalbox exec service/signalbox-webhook-intake -- signalbox sql "select pid, state, query from pg_stat_activity"',
    ],
  }),
  migrate: helpText({
    settings: migrateSettings,
    families: roleFamilies,
    heading: 'Environment (each also as NAME_FILE): DATABASE_URL, one user for everything; or POSTGRES_URL, a role for each schema:',
    notes: [
      'Safe to run again at any time, also twice at once: what exists is kept, and a schema that is newer than this release is left alone.\n' +
        'When it fails, the last line says why; nothing is half done: each migration is one transaction.',
    ],
    examples: [
      'signalbox migrate',
      'signalbox migrate webhook-relay webhook-intake --with-broker',
      "signalbox migrate --print-roles | psql 'postgres://postgres@HOST:5432/postgres'      # passwords in the environment of psql",
    ],
  }),
  credentials: helpText({
    settings: {},
    heading: 'Environment:\n  KUBECONFIG  the cluster, as kubectl finds it; default: ~/.kube/config, or the service account of its pod',
    notes: [
      `Needs the RBAC verbs create for secrets, and get and patch for the Secret of that name.
Prints for each key: created (new), kept (it existed), EMPTY (it exists without a value; fill it, or delete the key and run this again).
Only --output yaml prints values. To read one:  kubectl get secret NAME -o go-template='{{index .data "Management__AdminApiKey" | base64decode}}'`,
      `Safe to run again at any time, also twice at once. To renew a credential, delete its key and run this again; then restart the pods that use it
('signalbox migrate' sets the passwords of roles, RabbitMQ those of its users when it starts; Postgres never changes its administrator's password by itself).`,
    ],
    examples: [
      'signalbox credentials --secret signalbox-credentials --namespace signalbox',
      'signalbox credentials secrets --secret secrets-credentials --label team=platform',
      'signalbox credentials --secret signalbox-credentials --namespace signalbox --output yaml | kubeseal --format yaml > credentials.yaml',
    ],
  }),
};

/**
 * Adds the help of each command, and below `worker` a command for each of `workerNames`, so that `signalbox worker cleanup --help` describes
 * that one. Called only when help is printed: it loads modules that must not be loaded before tracing starts.
 */
export async function addHelp(command: Command, workerNames: readonly string[]): Promise<void> {
  for (const one of command.commands) {
    const help = helps[one.name()];
    if (help !== undefined) one.addHelpText('after', help);
  }
  const worker = command.commands.find((one) => one.name() === 'worker');
  if (!worker) return;
  for (const name of workerNames) {
    const described = worker.command(name).description((await deployables.loadWorker(name)).worker.summary);
    for (const option of worker.options) described.addOption(option);
    described.addHelpText('after', workerHelp(name));
  }
}
