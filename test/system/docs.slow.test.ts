import { readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { hashPassword } from '../../services/platform/password.ts';
import { installNpmPackage } from '../clients/packages.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/processes.ts';
import { commandLine } from '../support/programs.ts';
import { answers, cleanClone, shellBlocks } from './pages.ts';

const pages = ['README.md', ...readdirSync(join(import.meta.dirname, '../../docs')).map((name) => `docs/${name}`)].filter(
  (page) => page.endsWith('.md') && shellBlocks(page).length > 0,
);

/** The words of answers that each page must show, in order, beside not failing. */
const shown: Readonly<Record<string, RegExp>> = {
  'README.md': /relay {6}202.*intake {5}200.*digest {5}202.*bookmarks {2}200.*listings {3}200.*"isSignatureValid":true.*"repository":"me\/mine"/s,
  'docs/applications.md': /open sesame, 30 s\nopen sesame\nopen sesame\n.*\[2,"open barley"\].*"winter",null\].*No such secret/s,
  'docs/bookmarks.md': /"title":"PostgreSQL".*\[.*"PostgreSQL".*\]\n\[.*"PostgreSQL".*\].*0 failed/s,
  'docs/follow-events.md': /"title": "Read me".*\tissues\tme\/mine.*\t\[me\/mine\] issues opened #2: Read me\n/s,
  'docs/link-digest.md': /"title":"On caching".*"status":"Liked".*"contribution":0\.\d+.*"Liked":\d.*[\w-]+\.[\w-]+\.[\w-]+\n/s,
  'docs/listings.md': /"created":1.*"status":"approved".*"notes":"call on Monday".*"changedAt".*0 rejected.*"outcome":"created"/s,
  'docs/newsletters.md': /"title": "On queues".*"priorityScore".*true/s,
  'docs/receive-webhooks.md': /"finalScore": 7.*\[true,"push by me: base 7.*forge push me\/other/s,
  'docs/secrets-command.md': /DB_PASSWORD +created.*Http:Timeout +created/s,
  'docs/secrets.md': /"value": "open sesame".*"cursor":/s,
  'docs/sources.md': /("duplicate":false.*){4}/s,
  'docs/webhook-intake.md': /"status":.*"payload":.*"bucketHours":6.*"NEW":.*(?:no dead letters|the payload is not JSON)/s,
  'docs/webhook-relay.md': /"connections":.*"brokers":.*"eventCount":.*"added":\[\].*"deleted":1.*"connected":1.*"queues":.*"items":.*"days":.*"kind":"reset"/s,
};

describeWith(commandLine('curl', 'openssl', 'jq', 'python3'), 'the pages, each from its blocks alone on one npm start', function () {
  this.timeout(300_000);
  const clone = cleanClone();
  const clientPackages = `export PYTHONPATH=${join(import.meta.dirname, '../../clients/python')}`;

  // As if both client packages were installed. Node looks for packages in the folders above the program's, too.
  before(async () => {
    const installed = temporaryDirectory('npm-package');
    await installNpmPackage(installed);
    symlinkSync(join(installed, 'node_modules'), join(dirname(clone.folder), 'node_modules'));
  });

  // As the page of direct sources has it.
  before(() => {
    clone.writeFilesOf('docs/sources.md');
    const [, settings = ''] = /^export (.*)$/m.exec(shellBlocks('docs/sources.md', 'sh settings').join('\n')) ?? [];
    const secrets = Object.fromEntries(settings.split(' ').map((one) => one.split('=', 2)));
    return clone.start({ Sources__HealthchecksSecrets: 'a-long-random-text', Sources__File: join(clone.folder, 'sources.yaml'), ...secrets });
  });

  for (const page of pages) {
    describe(page, () => {
      let printed = '';

      it('has commands that run', () => {
        clone.writeFilesOf(page);
        const blocks = shellBlocks(page).filter((block) => !block.startsWith('npm ci'));
        printed = clone.run([clientPackages, ...blocks].join('\n'));
      });

      const promised = shown[page];
      if (promised !== undefined)
        it('shows what it promises', () => {
          expect(printed).to.match(promised);
        });

      it('shows answers with the members that come', () => {
        for (const answer of answers(page)) for (const name of namesIn(JSON.parse(answer))) expect(printed, name).to.match(new RegExp(`"${name}" ?:`));
      });
    });
  }

  it('tell the options of npm start and of the command', () => {
    expect(clone.run('npm start -- --help')).to.contain('--port-base');
    expect(clone.run('bin/signalbox --help')).to.contain('migrate');
  });

  describe('Ctrl-C', () => {
    it('stops all of it', async () => {
      expect(await clone.stop()).to.equal(0);
    });
  });
});

const namesIn = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [...(Array.isArray(value) ? [] : [name]), ...namesIn(inner)])
    : [];

// The values are our own; that no setting is missing in a page is what is tested.
for (const page of ['docs/webhook-relay.md', 'docs/webhook-intake.md', 'docs/link-digest.md', 'docs/bookmarks.md', 'docs/listings.md']) {
  describe(`${page}, the service by itself`, () => {
    const [block = ''] = shellBlocks(page, 'sh settings');
    const [settings = '', migrate = '', ...others] = block.split('\n');
    const argumentsOf = (line: string) => line.replace(/#.*$/, '').replace('bin/signalbox', '').trim().split(/\s+/);
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
