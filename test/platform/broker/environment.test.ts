// Broker connections from the environment and its file, and the watch on that file.
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { type BrokerFileWatch, readBrokerConnections, watchBrokerFile } from '../../../services/platform/broker/environment.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { newTopology, until } from './fixture.ts';

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

  it('keeps the URL at hand, but out of prints and JSON', async () => {
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
    expect(error).to.be.instanceOf(Error);
    for (const name of ['BROKER_URL_1', 'BROKER_URL_2', 'BROKER_URL_3', 'BROKER_URL_4', 'BROKER_LIMIT_5', 'BROKER_LIMIT_6'])
      expect(String(error)).to.include(name);
    expect(String(error)).to.not.match(/hunter2|example|-1|1\.5|BROKER_URL_5|BROKER_URL_6/);
  });
});

describe('watchBrokerFile', () => {
  let watch: BrokerFileWatch | undefined;
  let changes = 0;
  const start = (file: string) => {
    changes = 0;
    watch = watchBrokerFile(file, () => (changes += 1), { intervalMs: 5 });
  };
  afterEach(() => watch?.close());

  it('notices new content, once', async () => {
    const file = join(folder, 'brokers.env');
    await writeFile(file, 'BROKER_URL_1=a');
    start(file);
    await writeFile(file, 'BROKER_URL_1=b');
    await until(() => changes > 0, 'the change is noticed');
    await writeFile(file, 'BROKER_URL_1=b');
    await writeFile(join(folder, 'other'), 'x');
    expect(changes).to.be.within(1, 2);
  });

  it('notices a file that appears, and one that goes', async () => {
    const file = join(folder, 'brokers.env');
    start(file);
    await writeFile(`${file}.new`, 'BROKER_URL_1=a');
    await rename(`${file}.new`, file);
    await until(() => changes === 1, 'the file is noticed');
    await rm(file);
    await until(() => changes === 2, 'its absence is noticed');
  });

  it('notices the swapped symbolic link of a mounted Secret', async () => {
    for (const version of ['..one', '..two']) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'brokers.env'), `BROKER_URL_1=${version}`);
    }
    await symlink('..one', join(folder, '..data'));
    await symlink('..data/brokers.env', join(folder, 'brokers.env'));
    start(join(folder, 'brokers.env'));
    await symlink('..two', join(folder, '..data.new'));
    await rename(join(folder, '..data.new'), join(folder, '..data'));
    await until(() => changes === 1, 'the swap is noticed');
  });

  it('is silent once closed', async () => {
    const file = join(folder, 'brokers.env');
    start(file);
    watch?.close();
    const second = join(folder, 'second.env');
    let others = 0;
    const control = watchBrokerFile(second, () => (others += 1), { intervalMs: 5 });
    await writeFile(file, 'BROKER_URL_1=a');
    await writeFile(second, 'BROKER_URL_1=a');
    await until(() => others === 1, 'a watch that is open notices');
    control.close();
    expect(changes).to.equal(0);
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
