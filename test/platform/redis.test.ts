import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { connectRedis } from '../../services/platform/redis.ts';
import { describeWith } from '../support/need.ts';
import { redis, sharedRedis, startRedis } from '../support/redis.ts';
import { eventually } from '../support/wait.ts';
import { captureLog } from './captured-log.ts';

describeWith(redis, 'connectRedis', () => {
  /** So that a machine under load does not fail what is to be answered. */
  const options = { name: 'signalbox-test', commandMs: 20_000 };

  it('connects under its name, and closes after the answers under way', async () => {
    const { log, lines } = captureLog();
    const connection = connectRedis(await sharedRedis(), { ...options, log });
    await eventually(() => connection.driver.status === 'ready');
    expect(await connection.driver.client('LIST')).to.include('name=signalbox-test');
    const underWay = connection.driver.set('signalbox-test:key', 'value', 'EX', 10);
    await connection.close();
    expect(await underWay).to.equal('OK');
    expect(connection.driver.status).to.equal('end');
    await connection.close();
    expect(lines()).to.deep.equal([]);
  });

  it('fails commands at once while there is no server, and comes back by itself, said once each', async () => {
    const { log, lines } = captureLog();
    const server = await startRedis();
    const connection = connectRedis(server.url, { ...options, log });
    await eventually(() => connection.driver.status === 'ready');
    await server.kill();
    await eventually(() => lines().length > 0);
    expect(await connection.driver.ping().catch((error: unknown) => error)).to.be.instanceOf(Error);
    const attempts: number[] = [];
    connection.driver.on('reconnecting', (delay: number) => attempts.push(delay));
    await eventually(() => attempts.length >= 2);
    await server.start();
    expect(await eventually(() => connection.driver.ping())).to.equal('PONG');
    expect(lines().map(({ level, code, msg }) => [level, code, msg])).to.deep.equal([
      ['warn', 'ECONNREFUSED', 'no connection to Redis; retrying'],
      ['info', undefined, 'connected to Redis again'],
    ]);
    await connection.close();
    await server.close();
  });

  it('leaves nothing behind that would keep a process alive when it is closed while there is no server', async () => {
    const program = `
      import { connectRedis } from '${new URL('../../services/platform/redis.ts', import.meta.url)}';
      import { silentLog } from '${new URL('../../services/platform/log.ts', import.meta.url)}';
      const connection = connectRedis('redis://127.0.0.1:1', { name: 'signalbox-test', log: silentLog });
      connection.driver.once('reconnecting', () => connection.close().then(() => console.log('closed')));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { timeout: 100_000 });
    expect(stdout).to.equal('closed\n');
  });

  it('keeps a wrong password out of the log', async () => {
    const { log, lines, text } = captureLog();
    const url = (await sharedRedis()).replace('redis://', 'redis://somebody:hunter2@');
    const connection = connectRedis(url, { name: 'signalbox-test', log });
    await eventually(() => lines().length > 0);
    expect(text()).to.include('WRONGPASS').and.to.not.include('hunter2');
    await connection.close();
  });
});
