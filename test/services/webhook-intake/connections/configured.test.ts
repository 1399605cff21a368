// The connections of the environment and of the watched file, as a worker's loop follows them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLog } from '../../../../services/platform/log.ts';
import { consumeConfigured } from '../../../../services/webhook-intake/connections/configured.ts';
import type { Consumption } from '../../../../services/webhook-intake/connections/consumption.ts';
import { eventually } from '../../../support/wait.ts';

describe('the configured connections', () => {
  let directory: string;
  before(async () => (directory = await mkdtemp(join(tmpdir(), 'intake-connections-'))));
  after(() => rm(directory, { recursive: true }));

  /** Notes what it is told; consuming itself has its own tests. */
  function createRecorder() {
    const configured: string[][] = [];
    let closed = false;
    const consumption: Pick<Consumption, 'configure' | 'tidy' | 'close'> = {
      configure: (connections) => void configured.push(connections.map(({ name }) => name)),
      tidy: () => Promise.resolve(),
      close: () => Promise.resolve(void (closed = true)),
    };
    return { configured, consumption, isClosed: () => closed };
  }

  it('follows the file, and keeps the known ones while it is faulty, empty or missing', async () => {
    const file = join(directory, 'broker.env');
    await writeFile(file, 'BROKER_URL_2=amqp://127.0.0.1:1\n');
    const { configured, consumption, isClosed } = createRecorder();
    const stopping = new AbortController();
    const complaints: string[] = [];
    const log = createLog({ level: 'error', name: 'test', destination: { write: (line) => void complaints.push(line) } });
    const environment = { BROKER_URL_1: 'amqp://127.0.0.1:2' };
    const consuming = consumeConfigured(consumption, { environment, file, stopping: stopping.signal, log });
    await eventually(() => expect(configured).to.deep.equal([['BROKER_URL_1', 'BROKER_URL_2']]));
    await writeFile(file, 'BROKER_URL_2=not a url\n');
    await eventually(() => expect(complaints.join()).to.contain('BROKER_URL_2').and.not.contain('not a url'));
    await writeFile(file, '');
    await eventually(() => expect(complaints.join()).to.contain('is empty'));
    await rm(file);
    await eventually(() => expect(complaints.join()).to.contain('is missing'));
    expect(configured).to.have.length(1);
    await writeFile(file, 'BROKER_URL_3=amqp://127.0.0.1:3\n');
    await eventually(() => expect(configured.at(-1)).to.deep.equal(['BROKER_URL_1', 'BROKER_URL_3']));
    stopping.abort();
    await consuming;
    expect(isClosed()).to.equal(true);
  });
});
