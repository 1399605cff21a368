import { expect } from 'chai';
import { z } from 'zod';
import { hashPassword } from '../../services/link-digest/login/password.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/processes.ts';
import { commandLine } from '../support/programs.ts';
import { eventually } from '../support/wait.ts';
import { cleanClone, shellBlocks } from './pages.ts';

const readme = shellBlocks('README.md');
const demo = 'npm run -s signalbox demo';
const withCredentials = '. .signalbox/credentials.env';

describeWith(commandLine('curl', 'openssl'), 'the pages, followed line by line on one npm start', function () {
  this.timeout(120_000);
  const clone = cleanClone();
  const run = (...lines: readonly string[]) => clone.run(lines.join('\n'));

  // As the page of the intake has it, for its direct source.
  before(() => clone.start({ Sources__HealthchecksSecrets: 'a-long-random-text' }));

  describe('README.md', () => {
    it('has the commands that this test knows', () => {
      expect(readme.map((block) => block.split('\n')[0])).to.deep.equal(['npm ci', demo, withCredentials]);
    });

    it('shows the demo delivery', () => {
      expect(run(demo)).to.match(/relay {3}202.*intake {2}200.*digest {2}202.*What queues are for.*bookmarks {2}201.*listings {2}200/s);
    });

    it('delivers and reads back by hand', () => {
      const [delivery = '', events = ''] = run(readme[2] ?? '').split('}{');
      expect(delivery).to.contain('"isSignatureValid":true');
      expect(events).to.contain('"next"');
    });

    it('shows the delivery by hand in the dashboard API', async () => {
      const ask = (readme[2] ?? '').split('\n').filter((line) => !line.includes('/Forge'));
      await eventually(() => {
        expect(run(...ask)).to.contain('"repository":"me/mine"');
      });
    });

    it('tells its options', () => {
      expect(run('npm start -- --help')).to.contain('--port-base');
      expect(run('npm run -s signalbox -- --help')).to.contain('migrate');
    });
  });

  describe('docs/webhook-relay.md', () => {
    it('has its requests answered', () => {
      const [, requests = ''] = shellBlocks('docs/webhook-relay.md');
      expect(run(withCredentials, requests)).to.match(/"connections":.*"added":\[\].*"brokers":.*"deleted":1.*"eventCount":.*Healthy$/s);
    });
  });

  describe('docs/webhook-intake.md', () => {
    it('has its requests answered', async () => {
      const requests = shellBlocks('docs/webhook-intake.md').find((block) => block.startsWith('intake=')) ?? '';
      const [, , deliver = ''] = readme;
      // The page asks for a pull request and for an event by its id.
      const body = '{"action":"opened","pull_request":{"id":7,"number":7},"repository":{"id":1,"full_name":"me/mine"}}';
      run(deliver.replace(/^body=.*$/m, `body='${body}'`).replace('X-GitHub-Event: issues', 'X-GitHub-Event: pull_request'));
      const [base = '', token = '', , list = ''] = requests.split('\n');
      const Events = z.object({ items: z.tuple([z.object({ id: z.string() })], z.unknown()) });
      const { items } = await eventually(() => Events.parse(JSON.parse(run(withCredentials, base, token, list))));
      await eventually(() => run(withCredentials, base, token, 'curl -sS "$intake/repositories/me/mine/pulls/7" -H "$token"'));
      const answers = run(withCredentials, requests.replace('019…', items[0].id));
      expect(answers).to.match(/"items":.*"payload":.*"bucketHours":6.*"items":.*"pullRequest":.*"NEW":.*"workflowRuns":/s);
    });
  });

  describe('docs/webhook-intake.md, its direct source', () => {
    it('is received', () => {
      const delivery = shellBlocks('docs/webhook-intake.md').find((block) => block.includes('/healthchecks')) ?? '';
      expect(run(delivery)).to.contain('"duplicate":false');
      expect(run(delivery)).to.contain('"duplicate":true');
    });
  });

  describe('docs/link-digest.md', () => {
    it('has its requests answered', () => {
      const [, requests = ''] = shellBlocks('docs/link-digest.md');
      expect(run(withCredentials, requests)).to.match(/"duplicate":false.*"title":"On caching".*"status":"Liked".*"contribution":0\.125.*"Liked":1/s);
    });

    it('makes a token', () => {
      const [, , making = ''] = shellBlocks('docs/link-digest.md');
      expect(run(withCredentials, making.replace(/^export .*$/m, 'export Jwt__Key'))).to.match(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    });
  });

  describe('docs/bookmarks.md', () => {
    it('has its requests answered', () => {
      const [, requests = ''] = shellBlocks('docs/bookmarks.md');
      expect(run(withCredentials, requests)).to.match(/"title":"PostgreSQL".*\[.*"PostgreSQL".*\]\[.*"PostgreSQL".*\]$/s);
    });
  });

  describe('docs/listings.md', () => {
    it('has its requests answered', () => {
      const [, requests = ''] = shellBlocks('docs/listings.md');
      expect(run(withCredentials, requests)).to.match(/"created":1.*"status":"approved".*"notes":"call on Monday".*"changedAt".*"approvedCount":1/s);
    });

    it('takes its file and its mail in', () => {
      const [, requests = '', importing = '', mailing = ''] = shellBlocks('docs/listings.md');
      const [listings = '', token = '', , listing = ''] = requests.split('\n');
      const file = [listing, `printf '[%s]' "$listing" | sed s/'"1"'/'"2"'/ > listings.json`];
      expect(run(withCredentials, ...file, importing.replace('=…', ''))).to.contain('1 created, 0 updated, 0 unchanged, 0 rejected');
      const mail = `Subject: A flat\n\n3 Main Street, D02 X285\n€900 per month\nhttps://www.daft.ie/for-rent/a/3`;
      expect(run(withCredentials, listings, token, `printf '${mail.replaceAll('\n', '\\n')}' > alert.eml`, mailing)).to.contain('"outcome":"created"');
    });
  });

  describe('Ctrl-C', () => {
    it('stops all of it', async () => {
      expect(await clone.stop()).to.equal(0);
    });
  });
});

// The values are our own; that no setting is missing in a page is what is tested.
for (const page of ['docs/webhook-relay.md', 'docs/webhook-intake.md', 'docs/link-digest.md', 'docs/bookmarks.md', 'docs/listings.md']) {
  describe(`${page}, the service by itself`, () => {
    const [block = ''] = shellBlocks(page);
    const [settings = '', migrate = '', ...others] = block.split('\n');
    const argumentsOf = (line: string) =>
      line
        .replace(/#.*$/, '')
        .replace('npm run -s signalbox', '')
        .trim()
        .split(/\s+/)
        .filter((word) => word !== '--');
    let env: Record<string, string>;
    let drop: () => Promise<void>;

    before(async () => {
      const database = await createTestDatabase();
      ({ drop } = database);
      const names = [...settings.matchAll(/(\w+)=/g)].map(([, name = '']) => name);
      const hash = await hashPassword('some');
      const valueOf = (name: string) =>
        /^(DATABASE_URL|BROKER_URL_\d|Ingest__BrokerUrl)$/.test(name) ? database.url : name.endsWith('Hash') ? hash : 'some'.repeat(8);
      const values = names.map((name) => [name, valueOf(name)]);
      env = { PORT: '0', METRICS_PORT: '0', APP_ENV: 'development', ...Object.fromEntries(values) };
    });
    after(() => drop());

    it(migrate, async () => {
      expect((await startProcess(argumentsOf(migrate), { env }).exited).code).to.equal(0);
    });
    for (const line of others)
      it(line, async () => {
        const process = startProcess(argumentsOf(line), { env });
        await process.waitForLine(/"msg":"ready"/);
        process.signal('SIGTERM');
        expect((await process.exited).code).to.equal(0);
      });
  });
}
