// The rules file changes under a running process, for the worse and then for the better: told by what a real push server gets.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { lineAt } from '../../../../services/webhook-intake/sources/source.ts';
import { type RunningProcess, startProcess } from '../../../support/processes.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';

const secret = 'a-secret-of-some-length';
const rule = (topic: string) => `rules: [{ name: one, push: [${topic}] }]`;

describe('notification rules of a process that runs', function () {
  this.timeout(120_000);
  let database: IntakeDatabase;
  let server: Server;
  let directory: string;
  let intake: RunningProcess | undefined;
  const topics: string[] = [];
  before(async () => {
    database = await createIntakeDatabase();
    directory = await mkdtemp(path.join(tmpdir(), 'rules-'));
    server = createServer((request, response) => void json(request).then((body) => (topics.push(lineAt(body, 'topic') ?? ''), response.end())));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    await intake?.kill();
    server.close();
    await rm(directory, { recursive: true });
    await database.close();
  });

  it('stay while the file has faults, and are those of the file once it has none', async () => {
    const file = path.join(directory, 'rules.yaml');
    const [port, metricsPort] = [await freePort(), await freePort()];
    await writeFile(file, rule('first'));
    intake = startProcess(['serve', 'webhook-intake'], {
      env: {
        DATABASE_URL: database.url,
        PORT: `${port}`,
        METRICS_PORT: `${metricsPort}`,
        APP_ENV: 'development',
        Intake__AccessTokens: 'a-token-of-some-length',
        Sources__UptimerobotSecrets: secret,
        Notifications__PushUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        Notifications__RulesFile: file,
      },
    });
    await intake.waitForLine(/"msg":"ready"/, 60_000);
    let events = 0;
    const tell = async (...expected: readonly string[]) => {
      events += 1;
      const body = JSON.stringify({ monitorID: '7', alertDateTime: `${events}`, monitorFriendlyName: 'Interlocking', alertType: '1' });
      const headers = { 'Content-Type': 'application/json', 'X-Source-Token': secret };
      expect((await fetch(`http://127.0.0.1:${port}/uptimerobot`, { method: 'POST', headers, body })).status).to.equal(202);
      await eventually(() => expect(topics).to.deep.equal(expected), { withinMs: 30_000 });
    };
    const isCurrent = (value: number) =>
      eventually(
        async () =>
          (await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).includes(`signalbox_notification_rules_current{part="api"} ${value}\n`),
        { withinMs: 30_000, everyMs: 250 },
      );

    await tell('first');
    await writeFile(file, 'rules: [{ name: one }]');
    await isCurrent(0);
    await tell('first', 'first');
    await writeFile(file, rule('second'));
    await isCurrent(1);
    await tell('first', 'first', 'second');
  });
});
