// An event of Signalbox' own on its whole way, between real processes: relay near its limit → event in the intake's log → rule → push message.
import { chmodSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseDotenv } from '../../services/platform/config/dotenv.ts';
import { memberAt } from '../../services/platform/json.ts';
import { deliver, payload, sign } from '../services/webhook-relay/relay.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually, freePorts } from '../support/wait.ts';

describe("an event of Signalbox' own", function () {
  this.timeout(180_000);
  const data = temporaryDirectory('own-events');
  const pushed: unknown[] = [];
  let pushStatus = 503;
  const pushServer = createServer((request, response) => {
    void textOf(request).then((body) => {
      if (pushStatus === 200) pushed.push(JSON.parse(body));
      response.writeHead(pushStatus).end();
    });
  });
  let running: RunningProcess;
  let portBase: number;

  async function start(): Promise<void> {
    const address = pushServer.address();
    const env = {
      BROKER_LIMIT_1: '5',
      Notifications__RulesFile: join(data, 'rules.yaml'),
      Notifications__PushUrl: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`,
    };
    running = startProcess(['up', '--data', data, '--port-base', String(portBase), '--metrics-port', '0'], { env });
    await running.waitForLine(/^ready in \d+\.\d s$/);
  }
  const credential = async (name: string) =>
    parseDotenv(await readFile(join(data, 'credentials.env'), 'utf8'))
      .find((entry) => entry.name === name)
      ?.value.split(',')[0] ?? '';
  async function events(): Promise<readonly unknown[]> {
    const headers = { Authorization: `token ${await credential('Intake__AccessTokens')}` };
    const answer = await fetch(`http://127.0.0.1:${portBase + 2}/api/v1/events?source=signalbox`, { headers });
    const items = memberAt(await answer.json(), 'items');
    return Array.isArray(items) ? items : [];
  }

  before(async () => {
    chmodSync(data, 0o755); // started by root, Postgres is another user
    await new Promise<void>((resolve) => pushServer.listen(0, '127.0.0.1', resolve));
    await writeFile(
      join(data, 'rules.yaml'),
      'rules: [{ name: limits, when: { source: signalbox, event: broker.near_limit, payload: { /data/percent: 80 } }, push: [operator] }]',
    );
    portBase = await freePorts(8);
    await start();
  });
  after(async () => {
    await running.kill();
    pushServer.close();
  });

  it('goes from the relay near its limit to the log of the intake and, by a rule, to a person, and outlives a restart', async () => {
    const secret = await credential('Forge__WebhookSecrets');
    const body = JSON.stringify(payload);
    for (let count = 0; count < 4; count++)
      expect((await deliver(`http://127.0.0.1:${portBase + 1}`, payload, { 'X-Hub-Signature-256': sign(body, secret) })).status).to.equal(202);
    await eventually(async () => (await events()).length === 1, { withinMs: 60_000 });
    const [event] = await events();
    expect(event).to.include({ source: 'signalbox', event: 'broker.near_limit', score: 8 });

    // The push server is away, and the process ends: the notification is sent by the next one, and the event is not sent again.
    running.signal('SIGTERM');
    await running.exited;
    pushStatus = 200;
    await start();
    await eventually(() => pushed.length === 1, { withinMs: 60_000 });
    expect(memberAt(pushed[0], 'title')).to.match(/^BROKER_URL_1 has used 80 % of its messages of \d{4}-\d\d$/);
    expect(memberAt(pushed[0], 'message')).to.include('4 of 5 messages are used, 1 remain.');
    expect(await events()).to.have.length(1);
  });

  it('goes from a mail that the digest refuses to the log of the intake', async () => {
    const answer = await fetch(`http://127.0.0.1:${portBase + 3}/api/ingest/email`, {
      method: 'POST',
      headers: { 'X-Ingest-Token': await credential('Ingest__Token'), 'Content-Type': 'message/rfc822' },
      body: `To: ${'a@b.c,'.repeat(1001)}\r\n\r\nx`,
    });
    expect(answer.status).to.equal(202);
    const refused = async () => (await events()).find((event) => memberAt(event, 'event') === 'newsletter.rejected');
    await eventually(async () => (await refused()) !== undefined, { withinMs: 60_000 });
    expect(await refused()).to.include({ source: 'signalbox', score: 8 });
  });

  it('keeps its secret out of the terminal, and in the credentials', async () => {
    const secret = await credential('Events__Secret');
    expect(secret).to.have.length.above(30);
    expect(running.lines.join('\n')).not.to.include(secret);
    expect(await readFile(join(data, 'addresses.env'), 'utf8')).to.contain(`Events__Url='http://127.0.0.1:${portBase + 2}/signalbox'\n`);
  });
});
