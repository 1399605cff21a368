import { chmodSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTransport } from 'nodemailer';
import { parseDotenv } from '../../services/platform/config/dotenv.ts';
import { dovecot, type Dovecot, startDovecot } from '../support/dovecot.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually, freePort, freePorts } from '../support/wait.ts';

const newsletter = (name: string) =>
  `From: Weekly <weekly@news.example>\r\nTo: ann@example.org\r\nSubject: ${name}\r\nMessage-ID: <${name}@news.example>\r\nContent-Type: text/html\r\n\r\n<a href="https://blog.example/${name}">On ${name} and more</a>\r\n`;
const alert = 'Subject: A flat\r\nMessage-ID: <flat@homes.example>\r\n\r\n3 Main Street, D02 X285\r\n€900 per month\r\nhttps://www.daft.ie/for-rent/a/1003\r\n';

describeWith(dovecot, 'npm start with a mailbox and a port for mails', function () {
  this.timeout(240_000);
  const data = temporaryDirectory('laptop');
  let server: Dovecot;
  let running: RunningProcess;
  let portBase = 0;
  let smtpPort = 0;
  let environment: Record<string, string> = {};
  let credentials: Readonly<Record<string, string>> = {};

  const start = async () => {
    running = startProcess(['up', '--data', data, '--port-base', String(portBase), '--metrics-port', '0'], { env: environment });
    await running.waitForLine(/^ready in/);
  };
  before(async () => {
    chmodSync(data, 0o755); // Postgres, started by root, is another user
    server = await startDovecot();
    [portBase, smtpPort] = [await freePorts(8), await freePort()];
    const client = await server.connect('ann');
    for (const folder of ['Newsletters', 'Homes']) await client.mailboxCreate(folder);
    await client.append('Newsletters', newsletter('queues'));
    await client.append('Homes', alert);
    await client.logout();
    environment = {
      Mailbox__Url: server.url('ann'),
      Mailbox__Folders: 'Newsletters=digest,Homes=listings',
      Smtp__Listen: `smtp://127.0.0.1:${smtpPort}`,
      Smtp__Recipients: 'news@in.example.org=digest',
    };
    await start();
    credentials = Object.fromEntries(parseDotenv(await readFile(join(data, 'credentials.env'), 'utf8')).map(({ name, value }) => [name, value]));
  });
  after(async () => {
    await running.kill();
    await server.close();
  });

  async function titles(): Promise<string[]> {
    const digest = `http://127.0.0.1:${portBase + 3}`;
    const body = JSON.stringify({ username: 'admin', password: credentials['Digest__AdminPassword'] });
    const login = await fetch(`${digest}/api/auth/login`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    const { data: session } = (await login.json()) as { data: { token: string } };
    const answer = await fetch(`${digest}/api/links`, { headers: { Authorization: `Bearer ${session.token}` } });
    const { data: links } = (await answer.json()) as { data: { title: string }[] };
    return links.map(({ title }) => title).sort();
  }

  it('ranks the links of newsletters in a folder, and shows the flats of another', async () => {
    await eventually(async () => (await titles()).includes('On queues and more'));
    const token = credentials['Listings__AccessTokens'] ?? '';
    const items = await eventually(async () => {
      const listings = await fetch(`http://127.0.0.1:${portBase + 6}/api/properties?status=inbox`, { headers: { Authorization: `Bearer ${token}` } });
      const page = (await listings.json()) as { items: { address: string; priceMonthly: number }[] };
      return page.items.length === 1 && page.items;
    });
    expect(items[0]).to.include({ priceMonthly: 900 });
  });

  it('takes each mail once through kills, whether it comes by IMAP or by SMTP', async () => {
    const client = await server.connect('ann');
    const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true });
    const names = Array.from({ length: 12 }, (_, index) => `topic${index}`);
    const sending = (async () => {
      for (const [index, name] of names.entries()) {
        if (index % 2 === 0) await client.append('Newsletters', newsletter(name));
        else {
          const message = { envelope: { from: 'weekly@news.example', to: 'news@in.example.org' }, raw: newsletter(name) };
          // A mail server sends again until it is answered.
          await eventually(() => transport.sendMail(message).then(() => true), { everyMs: 200 });
        }
      }
    })();
    for (let round = 0; round < 2; round += 1) {
      await eventually(async () => (await titles()).length > 2 + 3 * round);
      await running.kill();
      await start();
    }
    await sending;
    const expected = [...names, 'queues'].map((name) => `On ${name} and more`).sort();
    await eventually(async () => (await titles()).length === expected.length, { withinMs: 60_000 });
    expect(await titles()).to.deep.equal(expected);
    await client.logout();
    transport.close();
  });

  it('says that it is ready once a folder that was missing is there', async () => {
    const folder = temporaryDirectory('laptop');
    chmodSync(folder, 0o755);
    // Settings that stay are lines of the file of credentials.
    writeFileSync(join(folder, 'credentials.env'), `Mailbox__Url='${server.url('eve')}'\nMailbox__Folder='Later=digest'\nMailbox__Folders='Later=digest'\n`);
    const other = startProcess(['up', '--data', folder, '--port-base', '0', '--metrics-port', '0']);
    await other.waitForLine(/Mailbox__Folders/);
    await other.waitForLine(/^not ready after 10 s:$/);
    await other.waitForLine(/there is no folder 'Later'; there are: INBOX$/, 1000);
    const client = await server.connect('eve');
    await client.mailboxCreate('Later');
    await client.logout();
    await other.waitForLine(/^ready in/);
    await other.kill();
  });
});
