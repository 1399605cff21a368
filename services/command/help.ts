// What `--help` of the commands says below their options: what they read, and how they are called.

const ofEveryProcess = `  LOG_LEVEL                    trace, debug, info, warn, error or fatal; default: info
  METRICS_PORT                 of metrics and health; default: 9090
  OTEL_EXPORTER_OTLP_ENDPOINT  where traces go; default: none are sent`;

export const serveHelp = `
Environment (each also as NAME_FILE): the settings of the services, docs/settings.md, and
  PORT                         where it listens
${ofEveryProcess}

  DATABASE_URL=postgres://me@localhost/signalbox Management__AdminApiKey=… signalbox serve secrets
  signalbox serve webhook-relay webhook-intake`;

export const workerHelpOf = (name: string): string => `
Environment (each also as NAME_FILE): the settings of the worker's service, docs/settings.md, and
${ofEveryProcess}

  signalbox worker ${name}
  signalbox worker ${name} --loop`;

export const operatorHelp = `
Environment (each also as NAME_FILE): docs/settings.md, and KUBECONFIG outside of a cluster
${ofEveryProcess}

  signalbox operator
  LOG_LEVEL=debug KUBECONFIG=~/.kube/config signalbox operator`;

export const upHelp = `
Environment (each also as NAME_FILE): any setting of docs/settings.md is used instead of the generated one, among them
  DATABASE_URL                 a Postgres of your own instead of the one that comes along
${ofEveryProcess}

  signalbox up
  signalbox up --data ~/signalbox --port-base 18080`;

export const demoHelp = `
Environment (each also as NAME_FILE): what 'signalbox up' was given, if it was
  Forge__WebhookSecrets        signs the delivery
  Intake__AccessTokens         reads it

  signalbox demo
  signalbox demo --data ~/signalbox --port-base 18080`;

export const migrateHelp = `
Environment (each also as NAME_FILE), one of the two:
  DATABASE_URL             one user for everything: the schemas are created if they are missing, and migrated
  POSTGRES_URL             postgres://HOST:PORT/DATABASE without a user: each schema belongs to a role of its own name
    POSTGRES_<SCHEMA>_PASSWORD   of each role: POSTGRES_RELAY_PASSWORD, POSTGRES_INTAKE_PASSWORD, …
    POSTGRES_<SCHEMA>_USER       its name, where somebody else makes it under another one than the schema's
    POSTGRES_ADMIN_USER          a superuser, or one with CREATEROLE and CREATEDB; default: postgres
    POSTGRES_ADMIN_PASSWORD      makes what is missing of database, roles and schemas, and sets the passwords of the roles.
                                 Without it nothing is made: the SQL to run is printed, and waited for.

Safe to run again at any time, also twice at once: what is there stays, a schema that is newer than this release is left alone.

  signalbox migrate
  signalbox migrate webhook-relay webhook-intake --with-broker
  signalbox migrate --print-roles | psql 'postgres://postgres@HOST:5432/postgres'      # passwords in the environment of psql

When it fails, the last line says why; nothing is half done: each migration is one transaction.`;

export const credentialsHelp = `
Environment:
  KUBECONFIG               which cluster, as kubectl finds it; else ~/.kube/config, or the service account of its pod

Needs: create for secrets, get and patch for the Secret of that name.
Prints for each key: created (made now), kept (was there), EMPTY (is there without a value; fill it, or delete the key and run this again).
Values are printed by --output yaml alone. To read one:  kubectl get secret NAME -o go-template='{{index .data "Management__AdminApiKey" | base64decode}}'

Safe to run again at any time, also twice at once. To renew a credential, delete its key and run this again; then restart what uses it
(the password of a role is set by 'signalbox migrate', those of RabbitMQ's users when RabbitMQ starts; that of the Postgres administrator is kept by the server itself).

  signalbox credentials --secret signalbox-credentials --namespace signalbox
  signalbox credentials secrets --secret secrets-credentials --label team=platform
  signalbox credentials --secret signalbox-credentials --namespace signalbox --output yaml | kubeseal --format yaml > credentials.yaml`;

export const traceHelp = `
Environment (each also as NAME_FILE):
  DATABASE_URL               what the relay and the intake keep; a role that may read only one of the schemas answers for that one
  BROKER_URL_<n>             the connections whose dead letters are looked at; also from the file in Broker__EnvironmentFile
  FailedPayloads__Directory  the folder of the relay's spool

  signalbox trace 72d3162e-cc78-11e3-81ab-4c9367dc0958
  kubectl exec deploy/signalbox-webhook-relay -- signalbox trace 72d3162e-cc78-11e3-81ab-4c9367dc0958`;
