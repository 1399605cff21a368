// The messages of `signalbox serve` and `worker` about unusable settings.
import { expect } from 'chai';
import { deployables } from '../../services/command/deployables.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/processes.ts';

const refusalOf = async (words: readonly string[], env: Readonly<Record<string, string>>) => {
  const { exited, lines } = startProcess(words, { env });
  expect(await exited).to.deep.equal({ code: 1, signal: null });
  const [head, ...faults] = lines;
  expect(head).to.equal('The configuration is not usable:');
  return faults.map((fault) => fault.trim());
};

const wrong = { METRICS_PORT: 'hunter2', LOG_LEVEL: 'hunter2', PORT: 'hunter2', TrustedProxies: '10.0.0.0/8, hunter2', Cors__AllowedOrigins: 'hunter2' };
const levels = 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace';
const common = [
  'METRICS_PORT must be an integer 0–65535',
  levels,
  'PORT must be an integer 0–65535',
  'DATABASE_URL is required and not set',
  'TrustedProxies must hold addresses or CIDR ranges such as 10.0.0.0/8; not so entry 2',
  'Cors__AllowedOrigins must hold origins such as https://app.example.org, without a path, or *; not so entry 1',
];

describe('signalbox serve', () => {
  it('tells all faults of a process at once, by name and never with a value', async () => {
    expect(await refusalOf(['serve', 'secrets'], wrong)).to.deep.equal([...common, 'Management__AdminApiKey is required and not set']);
  });

  it('tells the faults of all services in it, what they share once', async () => {
    const faults = await refusalOf(['serve', 'secrets', 'webhook-relay', 'webhook-intake'], { ...wrong, BROKER_URL_1: 'hunter2' });
    expect(faults).to.include.members([...common, 'Management__AdminApiKey is required and not set', 'Intake__AccessTokens is required and not set']);
    expect(faults.filter((fault) => fault.startsWith('BROKER_URL_1 '))).to.have.length(1);
    expect(new Set(faults).size).to.equal(faults.length);
    expect(faults.join()).not.to.contain('hunter2');
  });

  it('has workers in the process of the services', async () => {
    const [intake] = await deployables.load(['webhook-intake']);
    if (!intake) throw new TypeError('there is no intake');
    const { url } = await createTestDatabase({ schema: 'intake', migrations: intake.migrations.directory });
    const env = { DATABASE_URL: url, BROKER_URL_1: url, Intake__AccessTokens: 'the reader of the tests', PORT: '0', METRICS_PORT: '0', APP_ENV: 'development' };
    const { signal, waitForLine, exited } = startProcess(['serve', 'webhook-intake', '--worker', 'service', '--worker', 'database-service'], { env });
    await waitForLine(/"msg":"ready"/);
    signal('SIGTERM');
    expect(await exited).to.deep.equal({ code: 0, signal: null });
  });
});

describe('signalbox worker', () => {
  it('tells the faults of the process and of the worker at once', async () => {
    const faults = await refusalOf(['worker', 'service'], { LOG_LEVEL: 'loud', BROKER_URL_1: 'hunter2' });
    expect(faults.slice(0, 2)).to.deep.equal([levels, 'DATABASE_URL is required and not set']);
    expect(faults[2]).to.match(/^BROKER_URL_1 /);
    expect(faults.at(-1)).to.contain('--data .signalbox');
  });

  it('refuses to wait before a loop, which waits by itself', async () => {
    const { exited, lines } = startProcess(['worker', 'service', '--loop', '--wait', '5'], { env: {} });
    expect(await exited).to.deep.equal({ code: 1, signal: null });
    expect(lines[0]).to.equal(`error: option '--wait <seconds>' cannot be used with option '--loop'`);
  });
});
