// Broker connections from the environment and its files.
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { createBrokerSettings, readBrokerConnections, readWithBrokers } from '../../../services/platform/broker/environment.ts';
import { ConfigError, type Environment } from '../../../services/platform/config/config.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { newTopology } from './fixture.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'broker-environment-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('readBrokerConnections', () => {
  it('reads connections in ascending order, with gaps', async () => {
    const environment = {
      BROKER_URL_10: 'amqps://user:p%40ss@rabbit.example/team%2Fone',
      BROKER_URL_2: 'postgres://user:pass@[::1]:5433/signalbox',
      BROKER_LIMIT_10: '0',
      BROKER_URL_x: 'ignored',
      BROKER_URL_3: '',
    };
    expect(await readBrokerConnections(environment)).to.deep.equal([
      { index: 1, name: 'BROKER_URL_2', scheme: 'postgres', host: '::1', port: 5433, virtualHost: 'signalbox' },
      { index: 2, name: 'BROKER_URL_10', scheme: 'amqps', host: 'rabbit.example', port: 5671, virtualHost: 'team/one', limit: 0 },
    ]);
  });

  it('keeps the URL readable, but out of prints and JSON', async () => {
    const url = 'amqp://user:hunter2@rabbit.example';
    const [connection] = await readBrokerConnections({ BROKER_URL_1: url });
    expect(connection?.url).to.equal(url);
    expect(connection?.virtualHost).to.equal('/');
    expect(inspect(connection) + JSON.stringify(connection)).to.not.include('hunter2');
  });

  it('lets the file override the environment', async () => {
    const file = join(folder, 'brokers.env');
    await writeFile(file, 'BROKER_URL_1="amqp://from-file"\nBROKER_LIMIT_2=5 # a comment\n');
    const connections = await readBrokerConnections({ BROKER_URL_1: 'amqp://from-environment', BROKER_URL_2: 'amqp://second', BROKER_LIMIT_2: '7' }, file);
    expect(connections.map(({ host, limit }) => ({ host, limit }))).to.deep.equal([
      { host: 'from-file', limit: undefined },
      { host: 'second', limit: 5 },
    ]);
  });

  it('does without a file that is not there', async () => {
    expect(await readBrokerConnections({}, join(folder, 'none.env'))).to.deep.equal([]);
  });

  describe('from a file', () => {
    const file = () => join(folder, 'brokers.env');
    const faultsOf = async (text: string, isReload = true) => {
      await writeFile(file(), text);
      const error: unknown = await readBrokerConnections({}, file(), { isReload }).catch((failure: unknown) => failure);
      return error instanceof ConfigError ? error.faults : error;
    };

    it('asks on a reload for one that is there', async () => {
      const error: unknown = await readBrokerConnections({ BROKER_URL_1: 'amqp://one' }, file(), { isReload: true }).catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(ConfigError).with.property('faults').that.deep.equals(['the file of broker connections is missing (ENOENT)']);
    });

    for (const text of ['', ' \n\n'])
      it(`asks on a reload for one that is not blank: ${JSON.stringify(text)}`, async () => {
        expect(await faultsOf(text)).to.deep.equal(['the file of broker connections is empty']);
        expect(await faultsOf(text, false)).to.deep.equal([]);
      });

    for (const text of ['# none\n', 'BROKER_URL_1=\n', 'BROKER_LIMIT_1=5\n'])
      it(`asks on a reload for a connection: ${JSON.stringify(text)}`, async () => {
        expect(await faultsOf(text)).to.deep.equal(['no BROKER_URL_n is set; to publish nothing on a connection, set its BROKER_LIMIT_n to 0']);
      });

    it('takes a file of comments where the environment has connections', async () => {
      await writeFile(file(), '# nothing is overridden\n');
      expect(await readBrokerConnections({ BROKER_URL_1: 'amqp://one' }, file(), { isReload: true })).to.have.length(1);
    });

    it('names malformed lines by number, at a start and on a reload, and repeats nothing of them', async () => {
      const text = 'BROKER_URL_1=amqp://one\nBROKER_URL_2 amqp://user:hunter2@two\n\n\u0000\u0001hunter2\n=hunter2\nBROKER_LIMIT_1=\u0000\n';
      const expected = [
        'lines 2, 4, 5 of the file of broker connections: not NAME=value',
        'line 6 of the file of broker connections: a NUL character in the value',
      ];
      expect(await faultsOf(text)).to.deep.equal(expected);
      expect(await faultsOf(text, false)).to.deep.equal(expected);
    });

    for (const [what, line, says] of [
      ['has a #, where other tools would cut it', 'BROKER_URL_1=amqp://user:hunter2#@one', 'a # that is a comment to some tools'],
      ['has no closing quote', 'BROKER_URL_1="amqp://user:hunter2@one', 'no closing "'],
      ['names a connection again', 'BROKER_URL_2=amqp://user:hunter2@one', 'the name of line 1 again'],
    ] as const)
      it(`refuses a line that ${what}`, async () => {
        const told = await faultsOf(`BROKER_URL_2=amqp://two\n${line}\n`);
        expect(told)
          .to.have.length(1)
          .and.to.have.property('0')
          .that.contains(`line 2 of the file of broker connections: ${says}`)
          .and.does.not.contain('hunter2');
      });

    it('tells the log which lines name something else, by number, and takes the others', async () => {
      const lines: unknown[] = [];
      const log = { warn: (...told: unknown[]) => void lines.push(told) };
      await writeFile(file(), '# comment\nBROKER_URL_1=amqp://one\nBROKER_ULR_2=amqp://user:hunter2@two\nexport BROKER_LIMIT_1=3 # all\nBROKER_LIMIT_x=1\n');
      const [connection, ...others] = await readBrokerConnections({}, file(), { isReload: true, log });
      expect([connection?.limit, others]).to.deep.equal([3, []]);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.have.deep.nested.property('[0]', { lines: [3, 5] });
      expect(JSON.stringify(lines)).to.not.include('hunter2');
    });

    it('lets a quoted value go on over several lines', async () => {
      expect(await faultsOf('BROKER_URL_1="amqp://one\n"\nBROKER_LIMIT_1=\'3\'\n')).to.have.nested.property('[0].limit', 3);
    });

    it('reads one with a byte order mark and with lines that end in CR LF', async () => {
      expect(await faultsOf('\uFEFFBROKER_URL_1=amqp://one\r\nBROKER_LIMIT_1=3\r\n')).to.have.nested.property('[0].limit', 3);
    });
  });

  describe('as files', () => {
    const written = async (name: string, text: string) => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    };

    it('reads URLs and limits from them, without the trailing newline', async () => {
      const environment = {
        BROKER_URL_1_FILE: await written('url', 'amqp://one\n'),
        BROKER_LIMIT_1_FILE: await written('limit', '7\n'),
        BROKER_URL_2: 'amqp://two',
      };
      expect((await readBrokerConnections(environment)).map(({ name, host, limit }) => [name, host, limit])).to.deep.equal([
        ['BROKER_URL_1', 'one', 7],
        ['BROKER_URL_2', 'two', undefined],
      ]);
    });

    it('lets either form in the dotenv file override either form in the environment', async () => {
      const url = await written('url', 'amqp://old');
      const file = await written('brokers.env', `BROKER_URL_1=amqp://new\nBROKER_URL_2_FILE=${await written('other', 'amqp://newer')}\n`);
      const connections = await readBrokerConnections({ BROKER_URL_1_FILE: url, BROKER_URL_2: 'amqp://old' }, file);
      expect(connections.map(({ host }) => host)).to.deep.equal(['new', 'newer']);
    });

    it('names what is wrong with them', async () => {
      const environment = {
        BROKER_URL_1: 'amqp://one',
        BROKER_URL_1_FILE: await written('url', 'amqp://hunter2'),
        BROKER_URL_2_FILE: join(folder, 'nothing'),
        BROKER_URL_3_FILE: await written('three', 'hunter2'),
      };
      const error: unknown = await readBrokerConnections(environment).catch((failure: unknown) => failure);
      expect(error)
        .to.be.instanceOf(ConfigError)
        .with.property('faults')
        .that.deep.equals([
          'BROKER_URL_1 and BROKER_URL_1_FILE are both set; leave one',
          'BROKER_URL_2 cannot be read from the file in BROKER_URL_2_FILE (ENOENT)',
          'BROKER_URL_3 must be a URL',
        ]);
    });
  });

  it('lists all faults by name and repeats no value', async () => {
    const environment = {
      BROKER_URL_1: 'hunter2',
      BROKER_URL_2: 'http://hunter2@example',
      BROKER_URL_3: 'amqp://hunter2@example/%zz',
      BROKER_URL_4: 'amqp://',
      BROKER_URL_5: 'amqp://example',
      BROKER_LIMIT_5: '-1',
      BROKER_URL_6: 'amqp://example',
      BROKER_LIMIT_6: '1.5',
    };
    const error: unknown = await readBrokerConnections(environment).catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(ConfigError);
    for (const name of ['BROKER_URL_1', 'BROKER_URL_2', 'BROKER_URL_3', 'BROKER_URL_4', 'BROKER_LIMIT_5', 'BROKER_LIMIT_6'])
      expect(String(error)).to.include(name);
    expect(String(error)).to.not.match(/hunter2|example|-1|1\.5|BROKER_URL_5|BROKER_URL_6/);
  });
});

describe('createBrokerSettings', () => {
  const file = () => join(folder, 'brokers.env');
  const put = (host: string) => writeFile(file(), `BROKER_URL_1=amqp://${host}\n`);
  const settings = () => createBrokerSettings({}, file(), silentLog);
  const hostsOf = (connections: readonly { readonly host: string }[]) => connections.map(({ host }) => host);

  it('notices content that differs from what was read, until it is read', async () => {
    await put('one');
    const followed = settings();
    expect(hostsOf(await followed.read(false))).to.deep.equal(['one']);
    await put('one');
    expect(await followed.hasChanged()).to.equal(false);
    await put('two');
    expect(await followed.hasChanged()).to.equal(true);
    expect(await followed.hasChanged()).to.equal(true);
    expect(hostsOf(await followed.read(true))).to.deep.equal(['two']);
    expect(await followed.hasChanged()).to.equal(false);
  });

  it('notices the former content after another was read meanwhile', async () => {
    await put('one');
    const followed = settings();
    await followed.read(false);
    expect(await followed.hasChanged()).to.equal(false);
    await put('two');
    await followed.read(true);
    await put('one');
    expect(await followed.hasChanged()).to.equal(true);
  });

  it('notices a file that appears, and one that goes', async () => {
    const followed = settings();
    await followed.read(false);
    expect(await followed.hasChanged()).to.equal(false);
    await put('one');
    expect(await followed.hasChanged()).to.equal(true);
    await followed.read(true);
    await rm(file());
    expect(await followed.hasChanged()).to.equal(true);
  });

  it('reports a faulty file once', async () => {
    await put('one');
    const followed = settings();
    await followed.read(false);
    await writeFile(file(), 'no setting');
    expect(await followed.read(true).catch((error: unknown) => error)).to.be.instanceOf(ConfigError);
    expect(await followed.hasChanged()).to.equal(false);
  });

  it('takes a file that cannot be read for unchanged', async () => {
    await put('one');
    const followed = settings();
    await followed.read(false);
    await rm(file());
    await mkdir(file());
    expect(await followed.hasChanged()).to.equal(false);
  });

  it('notices the swapped symbolic link of a mounted Secret', async () => {
    for (const version of ['..one', '..two']) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'brokers.env'), `BROKER_URL_1=amqp://${version.slice(2)}`);
    }
    await symlink('..one', join(folder, '..data'));
    await symlink('..data/brokers.env', file());
    const followed = settings();
    await followed.read(false);
    await symlink('..two', join(folder, '..data.new'));
    await rename(join(folder, '..data.new'), join(folder, '..data'));
    expect(await followed.hasChanged()).to.equal(true);
  });

  it('has nothing to follow without a file', async () => {
    const followed = createBrokerSettings({ BROKER_URL_1: 'amqp://one' }, undefined, silentLog);
    expect(hostsOf(await followed.read(false))).to.deep.equal(['one']);
    expect(await followed.hasChanged()).to.equal(false);
  });
});

describe('readWithBrokers', () => {
  const settings = (environment: Environment) => ({ environmentFile: environment['FILE'] });
  const faultsOf = async (environment: Environment, read = settings) => {
    const error: unknown = await readWithBrokers(environment, read).catch((failure: unknown) => failure);
    return error instanceof ConfigError ? error.faults : error;
  };

  it('gives settings and connections', async () => {
    const { config, connections } = await readWithBrokers({ BROKER_URL_1: 'amqp://one' }, () => ({ environmentFile: undefined, size: 3 }));
    expect(config.size).to.equal(3);
    expect(connections.map(({ host }) => host)).to.deep.equal(['one']);
  });

  it('tells the faults of both together', async () => {
    const faulty = () => {
      throw new ConfigError(['SIZE is required and not set']);
    };
    expect(await faultsOf({ BROKER_URL_1: 'hunter2' }, faulty)).to.deep.equal(['SIZE is required and not set', 'BROKER_URL_1 must be a URL']);
  });

  it('asks for a connection, or for a file that may name one later', async () => {
    expect(await faultsOf({})).to.deep.equal(['BROKER_URL_1 is required and not set']);
    expect((await readWithBrokers({ FILE: join(folder, 'none.env') }, settings)).connections).to.deep.equal([]);
  });

  it('tells a file that cannot be read', async () => {
    expect(await faultsOf({ FILE: folder })).to.deep.equal(['the file of broker connections cannot be read (EISDIR)']);
  });
});

describe('connectBroker', () => {
  it('refuses an unknown scheme by name, without repeating the URL', () => {
    const { topology } = newTopology();
    const connect = (url: string) => () => connectBroker(url, topology, { log: silentLog, name: 'test' });
    expect(connect('kafka://user:hunter2@host')).to.throw(TypeError, /^url must .*got kafka:$/);
    expect(connect('hunter2')).to.throw(TypeError, /^url must .*not a URL$/);
  });
});
