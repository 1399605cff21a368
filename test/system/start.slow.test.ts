import { existsSync, readFileSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { parseDotenv } from '../../services/platform/config/dotenv.ts';
import { createConsumerClient, createManagementClient } from '../../services/secrets/client.ts';
import { createLeakWatch } from '../services/secrets/leak-watch.ts';
import { secretValue } from '../services/secrets/service.ts';
import { isAlive, temporaryDirectory } from '../support/guard.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually, freePort, freePorts } from '../support/wait.ts';

const newFolder = () => temporaryDirectory('laptop');

const isReached = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const end = (reached: boolean) => () => {
      socket.destroy();
      resolve(reached);
    };
    const socket = connect(port, host).once('connect', end(true)).once('error', end(false)).setTimeout(2000, end(false));
  });

describe('npm start', function () {
  this.timeout(240_000);
  let data: string;
  let portBase: string;
  let running: RunningProcess;

  const start = async (metrics = ['--metrics-port', '0'], more: Readonly<Record<string, string>> = {}) => {
    const env = { LOG_LEVEL: 'trace', ...more }; // for the log file: the terminal shows only warnings
    running = startProcess(['up', '--data', data, '--port-base', portBase, ...metrics], { env });
    await running.waitForLine(/^ready in \d+\.\d s$/);
  };

  before(async () => {
    data = newFolder();
    portBase = String(await freePorts(8)); // the base, and one port for each of seven services
    await start(['--metrics-port', String(await freePort())]);
  });
  after(() => running.kill());

  it('prints the addresses, each credential with its value, and the log', async () => {
    const printed = running.lines.join('\n');
    const credentials = await readFile(join(data, 'credentials.env'), 'utf8');
    const token = /Intake__AccessTokens='(.+)'/.exec(credentials)?.[1];
    expect(token).to.be.a('string');
    expect(printed)
      .to.contain(`http://127.0.0.1:${Number(portBase) + 1}`)
      .and.to.contain(token)
      .and.to.contain('signalbox.log');
  });

  it('listens on loopback only', async () => {
    const ports = [...running.lines.join('\n').matchAll(/http:\/\/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
    expect(ports).not.to.have.length(0);
    for (const port of new Set(ports)) {
      expect(await isReached('127.0.0.1', port), String(port)).to.equal(true);
      // On Linux all of 127.0.0.0/8 is loopback: a server that listens on every address answers there.
      expect(await isReached('127.0.0.2', port), String(port)).to.equal(false);
    }
  });

  it('keeps its credentials, its log, its data and its spool from other users', () => {
    const open = ['credentials.env', 'addresses.env', 'signalbox.log', 'postgres/data', 'postgres/postgres.log', 'spool'].filter(
      (name) => (statSync(join(data, name)).mode & 0o077) !== 0,
    );
    expect(open).to.deep.equal([]);
  });

  it('shows an example delivery from the relay to the dashboard API', async () => {
    const demo = startProcess(['demo', '--data', data, '--port-base', portBase]);
    const { code } = await demo.exited;
    expect(demo.lines.join('\n'))
      .to.match(/relay {6}202/)
      .and.to.match(/intake {5}200 {2}\/api\/v1\/events\/[0-9a-f-]{36}/)
      .and.to.match(/secrets {4}200 {2}\/api\/management\/applications\/web-shop: 7 secrets in 3 environments/);
    expect(code).to.equal(0);

    const [, id = ''] = /delivery ([0-9a-f-]{36}),/.exec(demo.lines.join('\n')) ?? [];
    const trace = startProcess(['trace', id, '--data', data]);
    expect(await trace.exited).to.include({ code: 0 });
    expect(trace.lines.join('\n'))
      .to.match(/intake, event log .* forge issues opened/)
      .and.not.contain('not asked');
  });

  it('has one dead letter of the example that can be sent back, and one that cannot', async () => {
    const deadLetters = async (...words: string[]) => {
      const command = startProcess(['webhook-intake', 'dead-letters', ...words, '--data', data]);
      await command.exited;
      return command.lines.join('\n');
    };
    expect(await deadLetters('list'))
      .to.include('no space left')
      .and.include('is not JSON');
    await deadLetters('send-back');
    await eventually(async () =>
      expect(await deadLetters('list'))
        .to.include('is not JSON')
        .and.not.include('no space left'),
    );
  });

  it('gives other commands its settings, by --data', async () => {
    const audit = startProcess(['secrets', 'audit', '--data', data]);
    expect(await audit.exited).to.include({ code: 0 });
    expect(audit.lines.join('\n')).to.match(/^TIME +OUTCOME/);
    const cleanup = startProcess(['worker', 'cleanup', '--data', data]);
    expect(await cleanup.exited, cleanup.lines.join('\n')).to.include({ code: 0 });
  });

  it('gives other commands the addresses of its services, by --data', async () => {
    const bookmarks = join(newFolder(), 'bookmarks.html');
    await writeFile(bookmarks, '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p><DT><A HREF="https://example.org/laptop">Laptop</A></DL>');
    for (const [words, said] of [
      [['doctor'], / ok$/],
      [['queues'], /^BROKER_URL_1 +forge-database +0 +0 +- +1$/],
      [['brokers'], /^BROKER_URL_1 +connected, active +\d+ +2 000 000 /],
      [['spool'], /^no delivery is spooled here$/],
      [['sql', 'select count(*) > 0 as stored from intake.events'], /^true$/],
      [['bookmarks', 'import', bookmarks], /^1 created, /],
      [['bookmarks', 'export'], /https:\/\/example\.org\/laptop/],
      [['digest', 'token'], /^ey\S+\.\S+\.\S+$/],
      [['demo'], /^relay {6}202/],
    ] as const) {
      const command = startProcess([...words, '--data', data]);
      expect(await command.exited, command.lines.join('\n')).to.include({ code: 0 });
      expect(
        command.lines.some((line) => said.test(line)),
        command.lines.join('\n'),
      ).to.equal(true);
    }
  });

  it('refuses a second start on the same folder, and says which process has it', async () => {
    const second = startProcess(['up', '--data', data, '--port-base', '0', '--metrics-port', '0']);
    expect(await second.exited).to.deep.equal({ code: 1, signal: null });
    expect(second.lines.join('\n')).to.contain(`process ${running.pid}`);
  });

  it('names a taken port, and the option that chooses another, in one line', async () => {
    const second = startProcess(['up', '--data', newFolder(), '--port-base', portBase, '--metrics-port', '0']);
    expect(await second.exited).to.deep.equal({ code: 1, signal: null });
    const said = second.lines.filter((line) => line.includes(`port ${Number(portBase) + 1} of webhook-relay is taken`));
    expect(said).to.have.length(1);
    expect(said[0]).to.contain('--port-base');
  });

  it('names a folder that cannot be made', async () => {
    const second = startProcess(['up', '--data', '/proc/signalbox/data', '--port-base', '0', '--metrics-port', '0']);
    expect(await second.exited).to.include({ code: 1 });
    expect(second.lines.join('\n')).to.contain('/proc/signalbox cannot be made (ENOENT): give --data another folder');
  });

  it('creates nothing when a port is taken', async () => {
    const folder = join(newFolder(), 'data');
    const second = startProcess(['up', '--data', folder, '--port-base', portBase, '--metrics-port', '0']);
    expect(await second.exited).to.include({ code: 1 });
    expect(existsSync(folder)).to.equal(false);
  });

  it('starts its Postgres again when that is killed, and says so once', async () => {
    const said = running.lines.length;
    const pid = Number((await readFile(join(data, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);
    process.kill(pid, 'SIGKILL');
    await running.waitForLine(/Postgres runs again/);
    await eventually(async () => (await startProcess(['demo', '--data', data, '--port-base', portBase]).exited).code === 0, { withinMs: 60_000 });
    const lines = running.lines.slice(said).filter((line) => line.trim() !== '');
    expect(lines.filter((line) => line.includes('Postgres ended by itself, starting it again'))).to.have.length(1);
    expect(lines.length, lines.join('\n')).to.be.at.most(6);
  });

  it('says which service is not ready, and why, and prints one line when it is stopped', async () => {
    const folder = newFolder();
    const options = ['up', '--data', folder, '--port-base', '0', '--metrics-port', '0'];
    const unready = startProcess(options, { env: { Encryption__MasterKeys: 'short:AAAA' } });
    await unready.waitForLine(/^not ready after 10 s:$/);
    await unready.waitForLine(/^ {2}secrets\.master keys: /, 1000);
    unready.signal('SIGINT');
    expect(await unready.exited).to.include({ code: 0 });
    expect(unready.lines.slice(unready.lines.indexOf('stopping'))).to.deep.equal(['stopping']);
  });

  it('reports an unavailable broker of the settings that its folder keeps, and is ready with errors', async () => {
    const folder = newFolder();
    await writeFile(join(folder, 'broker'), 'amqp://127.0.0.1:1\n');
    const metricsPort = await freePort();
    const kept = { BROKER_URL_1_FILE: join(folder, 'broker'), METRICS_PORT: metricsPort, Console__AdminUsername: 'ann' };
    await writeFile(
      join(folder, 'credentials.env'),
      Object.entries(kept)
        .map(([name, value]) => `${name}='${value}'\n`)
        .join(''),
    );
    const without = startProcess(['up', '--data', folder, '--port-base', '0']);
    await without.waitForLine(/log in as ann /);
    await without.waitForLine(/^ready in \S+ s, with errors$/);
    await without.waitForLine(/webhook-relay: connecting to the broker failed, retrying \(BROKER_URL_1: /, 10_000);
    expect((await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).status).to.equal(200);
    await without.kill();
  });

  it('refuses the data of another checkout, and keeps them', async () => {
    const folder = newFolder();
    const options = ['up', '--data', folder, '--port-base', '0', '--metrics-port', '0'];
    const first = startProcess(options);
    await first.waitForLine(/^ready in/);
    const port = await readFile(join(folder, 'postgres', 'port'), 'utf8');
    const [, password = ''] = /Laptop__PostgresPassword='(.+)'/.exec(await readFile(join(folder, 'credentials.env'), 'utf8')) ?? [];
    const client = new pg.Client({ connectionString: `postgres://signalbox:${password}@127.0.0.1:${port}/postgres` });
    await client.connect();
    await client.query(`update intake.migrations set hash = 'another'`);
    await client.end();
    first.signal('SIGINT');
    await first.exited;
    const base = await freePorts(8);
    const second = startProcess(['up', '--data', folder, '--port-base', String(base), '--metrics-port', '0']);
    expect(await second.exited).to.include({ code: 1 });
    expect(second.lines.join('\n')).to.contain(`move ${folder} away, or start with another --data`);
    // Commands that run while it starts ask its own ports, not those of another installation.
    expect(await readFile(join(folder, 'addresses.env'), 'utf8'))
      .to.contain(`Console__RelayUrl='http://127.0.0.1:${base + 1}'`)
      .and.contain('SIGNALBOX_BOOKMARKS_URL=');
  });

  it('stops cleanly on Ctrl-C, leaves no process, and finds everything again on the next start', async () => {
    const pid = Number((await readFile(join(data, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);
    running.signal('SIGINT');
    expect(await running.exited).to.deep.equal({ code: 0, signal: null });
    expect(isAlive(pid), 'the Postgres server is alive').to.equal(false);

    const before = running.lines.filter((line) => /Token|Secret/.test(line));
    await start();
    expect(running.lines.filter((line) => /Token|Secret/.test(line))).to.deep.equal(before);
    const demo = startProcess(['demo', '--data', data, '--port-base', portBase]);
    await eventually(async () => (await demo.exited).code === 0);
  });

  it('says what to do where the password of its Postgres is another', async () => {
    running.signal('SIGINT');
    await running.exited;
    const second = startProcess(['up', '--data', data, '--port-base', '0', '--metrics-port', '0'], { env: { Laptop__PostgresPassword: 'other' } });
    expect(await second.exited).to.include({ code: 1 });
    expect(second.lines.join('\n')).to.contain('refuses Laptop__PostgresPassword, which must be that of the first start: put it back');
    await start();
  });

  it('prefers credentials of the environment to its generated ones', async () => {
    running.signal('SIGINT');
    await running.exited;
    const credentials = parseDotenv(await readFile(join(data, 'credentials.env'), 'utf8')).map(({ name, value }) => [name, value]);
    const metricsPort = await freePort();
    await start([], { ...Object.fromEntries(credentials), METRICS_PORT: String(metricsPort) });
    expect((await fetch(`http://127.0.0.1:${metricsPort}/health`)).status).to.equal(200);
    expect(running.lines.join('\n')).to.contain('(from the environment)');
  });

  it('says which lines of its credentials.env the environment overrules', async () => {
    running.signal('SIGINT');
    await running.exited;
    await start([], { Intake__AccessTokens: 'other'.repeat(8) });
    await running.waitForLine(/the environment overrules lines of this file \(.*credentials\.env: Intake__AccessTokens\); unset them/);
  });

  it('logs no credential, key or value of a secret', async () => {
    const watch = createLeakWatch();
    const credentials = parseDotenv(await readFile(join(data, 'credentials.env'), 'utf8'));
    for (const { name, value } of credentials) watch.hide(name, value.replace(/^\w+:/, ''));

    const baseUrl = `http://127.0.0.1:${Number(portBase) + 4}`;
    const management = createManagementClient({ baseUrl, credential: credentials.find(({ name }) => name === 'Management__AdminApiKey')?.value ?? '' });
    const { slug, plainApiKey } = await management.createApplication({ name: 'Shop' });
    const value = secretValue('db password');
    watch.hide('the value', value);
    watch.hide('the key', plainApiKey);
    await management.createSecret(slug, { name: 'db password' });
    await management.setValues(slug, 'db password', [{ environmentSlug: 'local', value }]);
    expect(await createConsumerClient({ baseUrl, credential: plainApiKey }).secret('db password', 'local')).to.have.property('value', value);

    running.signal('SIGINT');
    await running.exited;
    const logs = ['signalbox.log', 'postgres/postgres.log'].map((name) => [name, readFileSync(join(data, name), 'utf8')] as const);
    for (const [name, said] of logs) {
      expect(said, name).not.to.equal('');
      watch.listen(name, () => said);
    }
    expect(logs[0]?.[1]).to.contain('/api/consumer/secrets/{name}');
    expect(watch.leaks()).to.deep.equal([]);
  });

  it('demo names npm start when nothing runs', async () => {
    const demo = startProcess(['demo', '--data', temporaryDirectory('nothing')]);
    expect((await demo.exited).code).to.equal(1);
    expect(demo.lines.join('\n')).to.contain('npm start');
  });
});
