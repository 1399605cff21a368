// Alerts provoked on running services: a real Prometheus fires each, and following its page ends it. The pages' blocks run as they stand, on
// processes in place of pods; steps that start or replace pods, and upgrades by Helm, are done in the test's own way.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { z } from 'zod';
import { connectBroker } from '../../services/platform/broker/connect.ts';
import { silentLog } from '../../services/platform/log.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { nameFile } from '../../services/webhook-relay/spool/file-format.ts';
import { message } from '../services/webhook-intake/deliveries.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/processes.ts';
import { startSwitch, type Switch } from '../support/switch.ts';
import { eventually } from '../support/wait.ts';
import { createForge, examplePayload, type Forge, forgeSecret } from '../system/flow.ts';
import { createPods, expectStep, type Pod } from './pods.ts';
import { impatientRules, type Prometheus, startPrometheus } from './prometheus.ts';
import { prometheus, runbooks } from './shipped.ts';

const admin = 'the administrator of the tests';
const keyOf = (byte: number) => `test:${Buffer.alloc(32, byte).toString('base64')}`;
const goodRules = 'rules:\n  - name: none\n    when: { source: sentry }\n    push: [none]\n';
const waiting = { withinMs: 240_000, everyMs: 200 };

describeWith(prometheus, 'provoked alerts', function () {
  this.timeout(300_000);
  // Each phase begins where the one before it ended.
  this.bail(true);
  const pods = createPods();
  const { brokersFile, follow } = pods;
  const rulesFile = pods.pathOf('rules.yaml');
  const spool = pods.pathOf('spool');
  let database: TestDatabase;
  let server: Prometheus;
  let forge: Forge;
  let postgresPort: number;
  /** Before Postgres for the relay and the workers, and before each of the two brokers, which are in Postgres as well. */
  let toPostgres: Switch;
  let toBrokers: readonly [Switch, Switch];
  let relay: Pod;
  let intake: Pod;
  let service: Pod;
  let databaseService: Pod;
  let secrets: Pod;
  let console: Pod;
  let apiKey: string;

  const urlBy = ({ port }: Switch) => Object.assign(new URL(database.url), { port }).href;
  const brokerUrl = (index: 0 | 1) => `${urlBy(toBrokers[index])}?schema=broker${index + 1}`;

  before('starts everything', async () => {
    database = await createTestDatabase();
    postgresPort = Number(new URL(database.url).port);
    toPostgres = await startSwitch(postgresPort);
    toBrokers = [await startSwitch(postgresPort), await startSwitch(postgresPort)];
    writeFileSync(brokersFile, [`BROKER_URL_1=${brokerUrl(0)}`, 'BROKER_LIMIT_1=25', `BROKER_URL_2=${brokerUrl(1)}`, 'BROKER_LIMIT_2=1', ''].join('\n'));
    writeFileSync(rulesFile, goodRules);
    const common = { DATABASE_URL: database.url, Broker__EnvironmentFile: brokersFile };
    const behindSwitch = { ...common, DATABASE_URL: urlBy(toPostgres) };
    const ofIntake = { ...behindSwitch, Intake__AccessTokens: admin, Notifications__RulesFile: rulesFile, Notifications__PushUrl: 'http://127.0.0.1:9' };
    relay = await pods.add('webhook-relay', ['serve', 'webhook-relay'], {
      ...behindSwitch,
      Broker__AuthToken: admin,
      Forge__WebhookSecrets: forgeSecret,
      FailedPayloads__Directory: spool,
    });
    intake = await pods.add('webhook-intake', ['serve', 'webhook-intake'], ofIntake);
    service = await pods.add('webhook-intake-service', ['worker', 'service', '--loop'], ofIntake);
    databaseService = await pods.add('webhook-intake-database-service', ['worker', 'database-service', '--loop'], ofIntake);
    secrets = await pods.add('secrets', ['serve', 'secrets'], { ...common, Management__AdminApiKey: admin, Encryption__MasterKeys: keyOf(1) });
    console = await pods.add('console', ['serve', 'console'], { ...common, Console__AdminPassword: admin });
    const migrate = startProcess(['migrate'], { env: { ...common, APP_ENV: 'development' } });
    expect((await migrate.exited).code, migrate.lines.join('\n')).to.equal(0);
    await Promise.all([relay, service, secrets].map((pod) => pod.start()));
    const targets = { relay, intake, service, 'database-service': databaseService, secrets, console };
    server = await startPrometheus(Object.fromEntries(Object.entries(targets).map(([name, { metricsUrl }]) => [`${name}-0`, metricsUrl])), impatientRules());
    forge = createForge([relay.url]);
  });
  after(async () => {
    forge?.close();
    await server?.close();
    await pods.close();
    for (const gate of [toPostgres, ...(toBrokers ?? [])]) gate?.close();
    await database?.drop();
  });

  let sent = 0;
  const deliver = () => forge.deliver(examplePayload(++sent));
  /** As Kubernetes replaces the file of a Secret. */
  function changeBrokers(change: (text: string) => string): void {
    writeFileSync(`${brokersFile}.next`, change(readFileSync(brokersFile, 'utf8')));
    renameSync(`${brokersFile}.next`, brokersFile);
  }
  async function publish(body: Buffer): Promise<void> {
    const broker = connectBroker(brokerUrl(0), forgeTopology, { log: silentLog, name: 'test' });
    await broker.ready(60_000);
    await broker.publish({ ...message({ event: 'issues', payload: {} }), body }, 60_000);
    await broker.close();
  }
  const manage = (path: string, body: object) =>
    fetch(`${secrets.url}/api/management/applications${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
    });
  const readSecret = (name: string) =>
    fetch(`${secrets.url}/api/consumer/secrets/${name}?environment=local`, { headers: { 'X-Api-Key': apiKey } }).then(({ status }) => status);
  const expectQueuesEmpty = () =>
    eventually(async () => expect(await follow('SignalboxQueueNotConsumed', 'signalbox queues')).to.match(/forge-database +0 /), waiting);

  type Provoked = {
    readonly alert: string;
    /** Beside those of its rule. */
    readonly labels?: Readonly<Record<string, string>>;
    /** Runs the page's commands, and looks at their output. */
    mend(alert: string): Promise<void> | void;
  };
  const firing = async ({ alert, labels = {} }: Provoked) =>
    (await server.alerts()).filter(
      (one) => one.state === 'firing' && one.labels['alertname'] === alert && Object.entries(labels).every(([name, value]) => one.labels[name] === value),
    );

  type Others = {
    /** They still fire for what was, after they are mended: a later phase sees their end. */
    readonly later?: readonly Provoked[];
    readonly earlier?: readonly Provoked[];
  };
  function phase(title: string, provoke: () => Promise<void>, cases: readonly Provoked[], { later = [], earlier = [] }: Others = {}): void {
    describe(title, () => {
      before(provoke);
      // An alert of `later` fires for the 20 seconds that it looks back: it comes first.
      for (const one of [...later, ...cases])
        it(`${one.alert} fires, and names its page`, async () => {
          const found = await eventually(async () => (await firing(one))[0] ?? false, waiting);
          expect(runbooks.map((path) => basename(path, '.md'))).to.include(one.alert);
          expect(found.annotations['runbook_url']).to.equal(`k8s/runbooks/${one.alert}.md`);
          expect(`${found.annotations['summary']} ${found.annotations['description']}`).not.to.match(/no value|\{\{/);
        });
      for (const one of [...later, ...cases]) it(`${one.alert} is mended by its page`, () => one.mend(one.alert));
      for (const one of [...cases, ...earlier])
        it(`${one.alert} has ended`, () =>
          eventually(async () => {
            expect(await firing(one)).to.deep.equal([]);
            // A pod that is not scraped has no alert.
            expect(await server.values('min(min_over_time(up[5s]))')).to.deep.equal([1]);
          }, waiting));
    });
  }

  phase(
    'after mistakes',
    async () => {
      const created = await manage('', { name: 'shop' });
      apiKey = z.object({ plainApiKey: z.string() }).parse(await created.json()).plainApiKey;
      await manage('/shop/environments', { name: 'production' });
      for (const name of ['db-password', 'token']) await manage('/shop/secrets', { name });
      await manage('/shop/secrets/token/values', [{ environmentSlug: 'local', value: 'open sesame' }]);
      await manage('/shop/secrets/db-password/values', [{ environmentSlug: 'production', value: 'open rye', expiresAt: new Date().toISOString() }]);
      expect(await readSecret('token')).to.equal(200);
      await secrets.kill();
      secrets.launch({ Encryption__MasterKeys: keyOf(2) });
      expect((await console.launch({ Console__BookmarksUrl: 'nowhere' }).exited).code).to.equal(1);
      // Nothing takes these from the queue forge-database.
      for (let index = 0; index < 20; index++) expect((await deliver()).status).to.equal(202);
      await publish(Buffer.from('no JSON'));
      writeFileSync(`${spool}/${nameFile(new Date(), 'a-broken-delivery')}`, 'no delivery');
      writeFileSync(rulesFile, 'rules: [{ name: "" }]\n');
    },
    [
      {
        alert: 'SignalboxSecretsUnready',
        labels: { pod: 'secrets-0', check: 'master keys' },
        async mend(alert) {
          expect(await follow(alert, '/health/ready')).to.match(/"status":"unready".*master keys/);
          expectStep(alert, 'rollout restart deployment signalbox-secrets');
          await secrets.kill();
          await secrets.start();
        },
      },
      {
        alert: 'SignalboxSecretsExpired',
        async mend(alert) {
          expect(await follow(alert, 'expired=7d')).to.contain('db-password');
          writeFileSync(pods.pathOf('value.txt'), 'open barley\n');
          expect(await follow(alert, '< value.txt')).to.equal('200\n');
        },
      },
      {
        alert: 'SignalboxConsoleDown',
        labels: { deployable: 'console' },
        async mend(alert) {
          expect(await follow(alert, '--previous')).to.contain('Console__BookmarksUrl');
          expectStep(alert, 'helm -n signalbox rollback signalbox --wait');
          await console.start();
        },
      },
      {
        alert: 'SignalboxIntakeDown',
        labels: { deployable: 'webhook-intake' },
        async mend(alert) {
          expectStep(alert, 'scale deployment signalbox-webhook-intake --replicas=1');
          // With the faulty rules it does not start.
          writeFileSync(rulesFile, goodRules);
          await intake.start();
        },
      },
      {
        alert: 'SignalboxNotificationRulesFaulty',
        labels: { pod: 'service-0', part: 'worker' },
        async mend(alert) {
          expect(await follow(alert, 'reloading the notification rules failed')).to.contain('rules');
          expectStep(alert, 'Correct `services.webhook-intake.notificationRules`');
          writeFileSync(rulesFile, goodRules);
        },
      },
      {
        alert: 'SignalboxBrokerNearLimit',
        labels: { broker: 'BROKER_URL_1', severity: 'info' },
        async mend(alert) {
          expect(await follow(alert, 'signalbox brokers')).to.match(/BROKER_URL_1.* 25 /);
          expectStep(alert, '[SignalboxAllBrokersAtLimit](SignalboxAllBrokersAtLimit.md) has the commands');
          await follow('SignalboxAllBrokersAtLimit', 'create secret generic');
        },
      },
      {
        alert: 'SignalboxQueueNotConsumed',
        labels: { broker: 'BROKER_URL_1', queue: 'forge-database' },
        async mend(alert) {
          expectStep(alert, "webhook-intake-database-service)' --replicas=1");
          await databaseService.start();
          await expectQueuesEmpty();
        },
      },
      {
        alert: 'SignalboxDeadLetters',
        labels: { broker: 'BROKER_URL_1' },
        async mend(alert) {
          // One for each queue.
          await eventually(async () => expect(await follow(alert, 'webhook-intake dead-letters\n')).to.contain('2 dead letters'), waiting);
          await follow(alert, 'dead-letters drop');
          expect(await follow(alert, 'webhook-intake dead-letters\n')).to.contain('no dead letters');
        },
      },
      {
        alert: 'SignalboxRefusedKept',
        labels: { pod: 'relay-0' },
        async mend(alert) {
          expect(await follow(alert, '-- signalbox spool; done')).to.match(/given up.*corrupt/s);
          await follow(alert, 'spool drop --given-up');
        },
      },
    ],
  );

  phase('near the limits', async () => changeBrokers((text) => text.replace(/^BROKER_LIMIT_1=.*/m, 'BROKER_LIMIT_1=20')), [
    {
      alert: 'SignalboxAllBrokersNearLimit',
      async mend(alert) {
        expect(await follow(alert, 'signalbox brokers')).to.match(/BROKER_URL_1.* 20 /);
        expectStep(alert, '[SignalboxAllBrokersAtLimit](SignalboxAllBrokersAtLimit.md) has the commands');
        await follow('SignalboxAllBrokersAtLimit', 'create secret generic');
      },
    },
    {
      alert: 'SignalboxBrokerLimitReached',
      labels: { broker: 'BROKER_URL_1' },
      mend: (alert) => expectStep(alert, '[SignalboxAllBrokersAtLimit](SignalboxAllBrokersAtLimit.md) has the commands'),
    },
  ]);

  phase(
    'at the limits',
    async () => {
      changeBrokers((text) => text.replace(/^BROKER_LIMIT_1=.*/m, 'BROKER_LIMIT_1=20'));
      await eventually(async () => expect((await deliver()).status).to.equal(503), waiting);
    },
    [
      {
        alert: 'SignalboxAllBrokersAtLimit',
        async mend(alert) {
          await follow(alert, 'signalbox brokers reset BROKER_URL_1');
          await eventually(async () => expect((await deliver()).status).to.equal(202), waiting);
        },
      },
    ],
  );

  const overLater: readonly Provoked[] = [
    {
      alert: 'SignalboxDeliveryLost',
      async mend(alert) {
        expect(await follow(alert, 'spooling a delivery failed')).to.contain('spooling a delivery failed');
        expectStep(alert, '--set services.webhook-relay.spool.sizeLimit=4Gi');
        expect(await follow(alert, 'signalbox doctor')).to.match(/wrong +database/);
        rmSync(spool);
        renameSync(`${spool}.away`, spool);
      },
    },
    {
      alert: 'SignalboxSecretTampered',
      async mend(alert) {
        expect(await follow(alert, 'changed or moved')).to.contain('changed or moved');
        expect(await follow(alert, 'has_schema_privilege')).to.contain('rolname');
        expectStep(alert, '[append a new value](../../docs/applications.md#change-a-value)');
        await manage('/shop/secrets/token/values', [{ environmentSlug: 'local', value: 'open oats' }]);
        expect(await readSecret('token')).to.equal(200);
      },
    },
  ];

  phase(
    'while Postgres is away',
    async () => {
      await expectQueuesEmpty();
      toPostgres.leadTo();
      await eventually(async () => expect((await deliver()).body).to.include({ spooled: true }), waiting);
      await publish(examplePayload(++sent));
      const client = new pg.Client(database.url);
      await client.connect();
      await client.query('update secrets.secret_versions set tag = nonce || substring(tag from 13) where expires_at is null');
      await client.end();
      renameSync(spool, `${spool}.away`);
      writeFileSync(spool, '');
      expect((await deliver()).body).to.include({ spooled: false });
      expect(await readSecret('token')).to.equal(500);
    },
    [
      {
        alert: 'SignalboxWorkerFailing',
        labels: { worker: 'database-service' },
        async mend(alert) {
          expect(await follow(alert, 'batch failed')).to.contain('batch failed');
          expect(await follow(alert, 'signalbox doctor')).to.match(/wrong +database/);
        },
      },
      {
        alert: 'SignalboxRelayDatabaseDown',
        labels: { pod: 'relay-0' },
        async mend(alert) {
          expect(await follow(alert, 'signalbox doctor')).to.match(/wrong +database/);
          toPostgres.leadTo(postgresPort);
          await eventually(async () => expect(await follow(alert, 'signalbox spool')).to.contain('no delivery is spooled here'), waiting);
        },
      },
    ],
    { later: overLater },
  );

  phase(
    'while the brokers are away',
    async () => {
      for (const gate of toBrokers) gate.leadTo();
      await eventually(async () => expect((await deliver()).body).to.include({ spooled: true }), waiting);
    },
    [
      {
        alert: 'SignalboxNoBrokerConnected',
        labels: { pod: 'relay-0' },
        async mend(alert) {
          expect(await follow(alert, 'signalbox brokers; done')).to.contain('disconnected');
          expectStep(alert, 'check the broker');
          toBrokers[0].leadTo(postgresPort);
        },
      },
      {
        alert: 'SignalboxBrokerDisconnected',
        labels: { pod: 'relay-0', broker: 'BROKER_URL_2' },
        async mend(alert) {
          expectStep(alert, 'the relay reconnects by itself within seconds');
          toBrokers[1].leadTo(postgresPort);
          const afterwards = () => follow('SignalboxNoBrokerConnected', 'signalbox brokers; signalbox spool');
          await eventually(
            async () =>
              expect(await afterwards())
                .to.contain('no delivery is spooled here')
                .and.not.to.contain('disconnected'),
            waiting,
          );
        },
      },
    ],
    { earlier: overLater },
  );

  let brokers = '';
  phase('without a relay', () => relay.kill(), [
    {
      alert: 'SignalboxRelayDown',
      labels: { deployable: 'webhook-relay' },
      async mend(alert) {
        expectStep(alert, 'scale deployment,statefulset -l app.kubernetes.io/component=webhook-relay --replicas=1');
        brokers = readFileSync(brokersFile, 'utf8');
        changeBrokers(() => '');
        await relay.start();
      },
    },
  ]);

  phase(
    'without a broker connection',
    async () => {
      expect((await deliver()).body).to.include({ spooled: true });
    },
    [
      {
        alert: 'SignalboxNoActiveBroker',
        async mend(alert) {
          expect(await follow(alert, 'get secret signalbox-brokers')).to.equal('');
          changeBrokers(() => brokers);
          await eventually(
            async () => expect(await follow(alert, '-- signalbox brokers\n')).to.match(/BROKER_URL_1 +connected[\s\S]*no delivery is spooled here/),
            waiting,
          );
        },
      },
    ],
  );
});
