// A process of the API is killed while it sends: another one sends the rest, none is lost, and none comes twice but what the server had taken just then.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createServiceWorker } from '../../../../services/webhook-intake/forge/service-worker.ts';
import { parseRules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { type RunningProcess, startProcess } from '../../../support/processes.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { delivery } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import { createMailServer, type MailServer } from './mail-server.ts';

const rules = 'rules: [{ name: one, smtp: [ada@example.org] }]';
const count = 40;

describe('a process that is killed while it sends notifications', function () {
  this.timeout(180_000);
  let database: IntakeDatabase;
  let mails: MailServer;
  let directory: string;
  const started: RunningProcess[] = [];
  before(async () => {
    database = await createIntakeDatabase();
    mails = await createMailServer(await freePort());
    directory = await mkdtemp(path.join(tmpdir(), 'rules-'));
    await writeFile(path.join(directory, 'rules.yaml'), rules);
  });
  after(async () => {
    mails.hold(false);
    await Promise.all(started.map((process) => process.kill()));
    await mails.close();
    await rm(directory, { recursive: true });
    await database.close();
  });

  async function start(): Promise<RunningProcess> {
    const env = {
      DATABASE_URL: database.url,
      BROKER_URL_1: database.url,
      METRICS_PORT: '0',
      PORT: `${await freePort()}`,
      APP_ENV: 'development',
      Intake__AccessTokens: 'a-token-of-some-length',
      Notifications__SmtpUrl: mails.url,
      Notifications__MailFrom: 'signalbox@example.org',
      Notifications__MaxPerHour: '1000',
      Notifications__RulesFile: path.join(directory, 'rules.yaml'),
    };
    const process = startProcess(['serve', 'webhook-intake'], { env });
    started.push(process);
    return process;
  }
  const ids = async (where: string) =>
    (await database.rows<{ id: string }>(`select id from outbox_messages where ${where}`)).map(({ id }) => `<${id}@signalbox>`);

  it('leaves its messages to another one', async () => {
    const work = createServiceWorker({ database: database.pool, rules: parseRules(rules), metrics: createMetrics(), log: silentLog });
    const numbers = Array.from({ length: count }, (_, n) => n + 1);
    await work(numbers.map((number) => delivery({ event: 'issues', payload: { issue: { number, title: 'Points' } } })));

    mails.hold(true, 10);
    const first = await start();
    // Taken by the server, which did not answer yet.
    await eventually(async () => mails.held() > 0 && (await ids(`state = 'sent'`)).length >= 10, { withinMs: 90_000 });
    await first.kill();
    const underWay = await ids(`state = 'pending' and claimed_until is not null`);
    expect(underWay.length).to.be.at.least(1);
    mails.hold(false);
    // Three minutes later.
    await database.rows('update outbox_messages set claimed_until = now() where claimed_until is not null');

    await start();
    await eventually(async () => (await ids(`state = 'sent'`)).length === count, { withinMs: 90_000 });
    const all = mails.received.map(({ mail }) => mail.messageId);
    expect(new Set(all).size).to.equal(count);
    const twice = all.filter((id, index) => all.indexOf(id) !== index);
    expect(twice.length).to.be.at.least(1);
    expect(underWay).to.include.members(twice);
    expect(new Set(twice).size).to.equal(twice.length);
  });
});
