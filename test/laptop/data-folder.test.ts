import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { credentials, parseCredentials, serversIn, takeInstanceLock, withLaptopSettings, writeAddresses } from '../../services/laptop/data-folder.ts';
import { ConfigError } from '../../services/platform/config/config.ts';
import { generators, integer, randomCredential, secretList } from '../../services/platform/config/settings.ts';

const lockFor = (folder: string, pid: number) => writeFile(join(folder, 'up.lock'), `another ${pid} ${hostname()}\n`);

describe('credentials of a laptop', () => {
  const settings = [
    {
      tokens: secretList('Some__Tokens', { summary: 'tokens', generate: randomCredential }),
      port: integer('PORT', { summary: 'port', min: 0, max: 65_535, default: 1 }),
    },
  ];
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-credentials-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const read = (environment: Record<string, string> = {}) =>
    credentials(join(folder, 'credentials.env'), environment, new Map([['Own__Password', randomCredential], ...generators(settings)]));

  it('makes what can be generated, and nothing else', async () => {
    expect(Object.keys(await read()).sort()).to.deep.equal(['Own__Password', 'Some__Tokens']);
  });

  it('finds the same again on the next start', async () => {
    expect(await read()).to.deep.equal(await read());
  });

  it('keeps them in a file that only its owner reads', async () => {
    await read();
    expect((await stat(join(folder, 'credentials.env'))).mode & 0o777).to.equal(0o600);
  });

  it('neither makes nor answers what the environment gives, also as a file', async () => {
    expect(await read({ Some__Tokens: 'mine' })).to.have.keys('Own__Password');
    expect(await read({ Some__Tokens_FILE: '/run/token' })).to.have.keys('Own__Password');
    expect(await readFile(join(folder, 'credentials.env'), 'utf8')).not.to.contain('mine');
  });

  it('takes a line for that of a setting in either form', async () => {
    await writeFile(join(folder, 'credentials.env'), "Some__Tokens_FILE='/run/token'\n");
    expect(await read()).to.have.keys('Own__Password', 'Some__Tokens_FILE');
    expect(await read({ Some__Tokens: 'mine' })).to.have.keys('Own__Password');
  });

  it('makes nothing for an empty line', async () => {
    await writeFile(join(folder, 'credentials.env'), 'Some__Tokens=\n');
    expect(await read()).to.have.property('Some__Tokens', '');
  });

  it('refuses a file with a line that is none, by its number, and makes nothing anew over it', async () => {
    const file = join(folder, 'credentials.env');
    const broken = "# by hand\nSome__Tokens 'hidden'\n";
    await writeFile(file, broken);
    const failure = await read().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(ConfigError).with.property('message').that.contains(`${file}, line 2: not NAME=value`).and.does.not.contain('hidden');
    expect(await readFile(file, 'utf8')).to.equal(broken);
  });

  it('refuses a list with one value in quotes, which a shell reads as another value', async () => {
    const file = join(folder, 'quotes.env');
    for (const line of ["Some__Tokens=new,'hidden'", "export Some__Tokens = new, 'hidden'", 'Some__Tokens=a,"hidden",b'])
      expect(() => parseCredentials(`# mine\n${line}\n`, file), line)
        .to.throw(ConfigError, `${file}, line 2: quotes inside the value`)
        .with.property('message')
        .that.does.not.contain('hidden');
    for (const line of ['Some__Tokens="new,\'x\'"', "Some__Tokens='a,b' # c='d,'e'", "Some__Tokens=it's", "Some__Tokens=a,b # one,'two'"])
      expect(parseCredentials(line, file), line).to.have.property('Some__Tokens');
  });

  it('adds what a later release needs, and leaves the rest as it was', async () => {
    const before = await read();
    const more = [...settings, { other: secretList('Other__Tokens', { summary: 'tokens', generate: randomCredential }) }];
    const after = await credentials(join(folder, 'credentials.env'), {}, new Map(generators(more)));
    expect(after).to.include(before).and.to.have.property('Other__Tokens');
  });

  it('leaves what a person has written as it is, quotes and comments too, when it adds to it', async () => {
    const file = join(folder, 'credentials.env');
    const written = '# mine\nSome__Tokens="it\'s `quoted`"';
    await writeFile(file, written);
    const first = await read();
    expect(first).to.have.property('Some__Tokens', "it's `quoted`");
    expect(await readFile(file, 'utf8')).to.match(/^# mine\nSome__Tokens="it's `quoted`"\nOwn__Password='[^']+'\n$/);
    expect(await read()).to.deep.equal(first);
  });
});

describe('withLaptopSettings', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-settings-'));
    await mkdir(join(folder, 'postgres'));
    await writeFile(join(folder, 'postgres', 'port'), '5433');
    await writeFile(join(folder, 'credentials.env'), "Jwt__Key='made'\n");
    await lockFor(folder, process.ppid);
  });
  after(() => rm(folder, { recursive: true }));

  it('adds what the folder keeps and where its database is', async () => {
    const settings = await withLaptopSettings(folder, { LOG_LEVEL: 'warn' });
    expect(settings).to.include({ LOG_LEVEL: 'warn', Jwt__Key: 'made' });
    expect(settings).to.have.property('BROKER_URL_1').that.equals(settings['DATABASE_URL']).and.contains(':5433/');
  });

  it('believes in a process that lives, and was too busy to touch its lock', async () => {
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(join(folder, 'up.lock'), longAgo, longAgo);
    expect(await withLaptopSettings(folder, {})).to.have.property('Jwt__Key', 'made');
  });

  it('says that a folder holds nothing', async () => {
    expect(await withLaptopSettings(join(folder, 'nowhere'), {}).then(() => undefined, String)).to.contain('nowhere holds no Postgres');
  });

  for (const name of ['DATABASE_URL', 'BROKER_URL_2', 'Broker__EnvironmentFile', 'Ingest__BrokerUrl_FILE'])
    it(`adds nothing beside ${name}: a caller that names a server means no other`, async () => {
      expect(await withLaptopSettings(folder, { [name]: 'elsewhere' })).to.deep.equal({ [name]: 'elsewhere' });
    });

  for (const name of ['Jwt__Key', 'SIGNALBOX_SECRETS_URL_FILE', 'Console__RelayUrl'])
    it(`adds nothing beside ${name} for a command that reads it, and all that is missing for another`, async () => {
      const given = { [name]: 'elsewhere' };
      expect(await withLaptopSettings(folder, given, [name.replace('_FILE', '')])).to.deep.equal(given);
      expect(await withLaptopSettings(folder, given, ['DATABASE_URL']))
        .to.include(given)
        .and.to.have.property('DATABASE_URL');
    });

  describe('where servers were given to the start', () => {
    const given = { DATABASE_URL: "postgres://me:it's@db/mine", BROKER_URL_2: 'amqp://two', FailedPayloads__Directory: '/spool' };
    let data: string;
    before(async () => {
      data = await mkdtemp(join(tmpdir(), 'signalbox-given-'));
      await writeAddresses(data, { Console__RelayUrl: 'http://relay', ...serversIn({ ...given, LOG_LEVEL: 'warn' }) });
      await lockFor(data, process.ppid);
    });
    after(() => rm(data, { recursive: true }));

    it('knows them, and asks the database for the queues that no broker was given for', async () => {
      const settings = await withLaptopSettings(data, {});
      expect(settings)
        .to.include({ ...given, Console__RelayUrl: 'http://relay', BROKER_URL_1: given.DATABASE_URL })
        .and.not.to.have.property('LOG_LEVEL');
    });

    it('adds the rest where the environment names the same servers, and nothing beside another', async () => {
      expect(await withLaptopSettings(data, given)).to.have.property('Console__RelayUrl', 'http://relay');
      expect(await withLaptopSettings(data, { DATABASE_URL: 'other' })).to.deep.equal({ DATABASE_URL: 'other' });
    });

    it('finds files and folders from elsewhere', () => {
      expect(serversIn({ DATABASE_URL_FILE: 'database', FailedPayloads__Directory: 'spool' })).to.deep.equal({
        DATABASE_URL_FILE: join(process.cwd(), 'database'),
        FailedPayloads__Directory: join(process.cwd(), 'spool'),
      });
    });

    it('keeps their passwords from other users', async () => {
      expect((await stat(join(data, 'addresses.env'))).mode & 0o777).to.equal(0o600);
    });

    it('adds nothing beside them when nothing runs', async () => {
      await lockFor(data, spawnSync('true').pid);
      expect(await withLaptopSettings(data, given)).to.deep.equal(given);
    });
  });

  it('tells to start what does not run', async () => {
    await lockFor(folder, spawnSync('true').pid);
    expect(await withLaptopSettings(folder, {}).then(() => undefined, String)).to.contain('start it first (npm start)');
  });
});

describe('takeInstanceLock', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-lock-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const lockedBy = (pid: number) => lockFor(folder, pid);

  it('refuses a folder that a living process holds, and names it', async () => {
    await lockedBy(process.ppid);
    const refusal = await takeInstanceLock(folder).then(() => undefined, String);
    expect(refusal).to.contain(`process ${process.ppid}`);
  });

  it('takes over from a process that died', async () => {
    await lockedBy(spawnSync('true').pid);
    await (await takeInstanceLock(folder)).close();
    expect(await stat(join(folder, 'up.lock')).catch(() => undefined)).to.equal(undefined);
  });

  it('takes over when the number of a process that died belongs to another program now', async () => {
    await lockedBy(process.ppid);
    const then = new Date(Date.now() - 60_000);
    await utimes(join(folder, 'up.lock'), then, then);
    await (await takeInstanceLock(folder)).close();
  });
});
