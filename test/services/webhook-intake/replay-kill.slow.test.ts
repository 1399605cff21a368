// A process that is killed while it replays events: other runs go on with what it left, and each event is replayed and notified of once.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createServiceWorker } from '../../../services/webhook-intake/forge/service-worker.ts';
import { parseRules } from '../../../services/webhook-intake/notifications/rules.ts';
import { temporaryDirectory } from '../../support/guard.ts';
import { type RunningProcess, startProcess } from '../../support/processes.ts';
import { eventually, freePort } from '../../support/wait.ts';
import { delivery } from './deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from './intake-database.ts';

const total = 1000;
const kills = 3;
const token = 'a-token-of-some-length';
const isOver = ['succeeded', 'failed'];

describe('a process that is killed while it replays', function () {
  this.timeout(180_000);
  let database: IntakeDatabase;
  let intake: { readonly process: RunningProcess; readonly url: string };
  const rulesFile = join(temporaryDirectory('replayed'), 'rules.yaml');
  before(async () => {
    database = await createIntakeDatabase();
    await writeFile(rulesFile, 'rules: [{ name: issues, when: { event: issues }, push: [watch] }]');
    const work = createServiceWorker({ database: database.pool, rules: parseRules('rules: []'), metrics: createMetrics(), log: silentLog });
    const deliveries = Array.from({ length: total }, (_, index) => delivery({ event: 'issues', payload: issue(index + 1), deliveryId: `d-${index}` }));
    for (let from = 0; from < total; from += 100) await work(deliveries.slice(from, from + 100));
    intake = await start();
  });
  after(async () => {
    await intake.process.kill();
    await database.close();
  });

  const issue = (number: number) => ({
    action: 'opened',
    issue: { id: number, number, title: `Points ${number}`, state: 'open', updated_at: '2026-03-15T00:00:00Z' },
    repository: { id: 1, full_name: 'railway/signals', html_url: 'https://forge.example/railway/signals' },
    sender: { id: 1, login: 'ada' },
  });

  async function start() {
    const port = await freePort();
    const settings = { Intake__AccessTokens: token, Notifications__RulesFile: rulesFile, Notifications__PushUrl: 'http://127.0.0.1:9' };
    const env = { DATABASE_URL: database.url, BROKER_URL_1: database.url, METRICS_PORT: '0', PORT: String(port), APP_ENV: 'development', ...settings };
    const process = startProcess(['serve', 'webhook-intake'], { env });
    await process.waitForLine(/"msg":"ready"/);
    return { process, url: `http://127.0.0.1:${port}/api/v1` };
  }

  async function ask(method: string, path: string, body?: object) {
    const headers = { Authorization: `token ${token}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${intake.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }
  const replay = async (body: object) => {
    const { status, body: run } = await ask('POST', '/events/replay', body);
    expect(status, JSON.stringify(run)).to.equal(202);
    return String(run['runId']);
  };
  const left = () => database.count('replay_events');

  it('leaves the rest to the next run', async () => {
    let runId = await replay({ event: 'issues' });
    let killed = 0;
    for (let before = total; killed < kills; killed++) {
      const now = await eventually(async () => (await left()) < before && left(), { everyMs: 2 });
      if (now === 0) break;
      await intake.process.kill();
      before = await left();
      intake = await start();
      runId = await replay({ resume: runId });
    }
    expect(killed, 'kills while there was work').to.be.at.least(2);
    await eventually(async () => isOver.includes(String((await ask('GET', `/workers/runs/${runId}`)).body['status'])), { withinMs: 60_000 });
    expect(await left()).to.equal(0);
    const notified = await database.rows<{ events: number; rows: number }>(
      'select count(distinct event_id) as events, count(*) as rows from outbox_recipients',
    );
    expect(notified).to.deep.equal([{ events: total, rows: total }]);
    expect(await database.count('issues')).to.equal(total);
  });
});
