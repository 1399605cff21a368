import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { forPeople, openLogs } from '../../services/laptop/terminal.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { eventually } from '../support/wait.ts';

const line = (members: object) => ({ level: 'error', time: '2026-03-15T12:00:00.000Z', service: 'webhook-relay', msg: 'failed, retrying', ...members });

/** `lines` are those of the terminal, without their time. */
function open(delayMs: number) {
  const lines: string[] = [];
  const print = (text: string) => void lines.push(text.slice(9).trimEnd());
  return { lines, logs: openLogs(join(temporaryDirectory('logs'), 'log'), { level: 'info', isQuiet: () => false, print, delayMs }) };
}

describe('the log in a terminal', () => {
  it('says which connection failed and why', () => {
    expect(forPeople(line({ broker: 'BROKER_URL_2', reason: 'nothing listens there' }))).to.equal(
      '12:00:00 error webhook-relay: failed, retrying (BROKER_URL_2: nothing listens there)\n',
    );
    expect(forPeople(line({ connection: 'BROKER_URL_2', error: { message: 'refused' } }))).to.contain('(BROKER_URL_2: refused)');
    expect(forPeople(line({ channel: 'push', reason: 'away' }))).to.contain('(push: away)');
    expect(forPeople(line({ channel: 'push', recipient: 'alerts', reason: '403' }))).to.contain('(alerts: 403)');
  });

  it('says which job failed, and what to do', () => {
    const failed = line({ job: 'relay.partitions', error: { message: 'permission denied' }, toDo: 'run signalbox migrate' });
    expect(forPeople(failed)).to.equal('12:00:00 error webhook-relay: failed, retrying (relay.partitions: permission denied); run signalbox migrate\n');
  });

  it('says which checks fail', () => {
    expect(forPeople(line({ msg: 'not ready', checks: { 'secrets.keys': 'wrong', 'secrets.database': 'away' } }))).to.contain(
      'not ready (secrets.keys: wrong, secrets.database: away)',
    );
  });

  it('says which faults a changed file has', () => {
    const changed = line({ file: 'rules.yaml', faults: ['rules[0].when.minimumScore must be a whole number', 'rules[1] has no name'] });
    expect(forPeople(changed)).to.contain('(rules.yaml: rules[0].when.minimumScore must be a whole number; rules[1] has no name)');
  });

  it('gives the reason of a fatal error first', () => {
    expect(forPeople(line({ level: 'fatal', msg: 'failed, exiting with 1', error: { message: 'port 8081 is taken' } }))).to.equal(
      '12:00:00 fatal webhook-relay: port 8081 is taken (failed, exiting with 1)\n',
    );
  });

  it('says what happened where there is nothing to add', () => {
    expect(forPeople(line({ level: 'warn' }))).to.equal('12:00:00 warn  webhook-relay: failed, retrying\n');
  });

  it('says that a connection is lost and that it is back, as often as that happens, but nothing of one that was away for a moment', async () => {
    const { lines, logs } = open(50);
    const log = logs.logFor('webhook-relay').child({ broker: 'BROKER_URL_1' });
    const lost = 'error webhook-relay: connecting to the broker failed, retrying (BROKER_URL_1: nothing listens there)';
    const back = 'info  webhook-relay: connected to the broker (BROKER_URL_1)';
    log.info('connected to the broker');
    for (const count of [1, 3]) {
      log.warn({ reason: 'reset' }, 'lost the broker connection, reconnecting');
      log.error({ reason: 'nothing listens there' }, 'connecting to the broker failed, retrying');
      await eventually(() => expect(lines).to.have.length(count));
      expect(logs.errors).to.equal(1);
      log.info('connected to the broker');
      log.info('connected to the broker');
      log.warn({ reason: 'reset' }, 'lost the broker connection, reconnecting');
      log.info('connected to the broker');
    }
    await logs.close();
    expect(lines).to.deep.equal([lost, back, lost, back]);
    expect(logs.errors).to.equal(0);
  });

  it('says that a connection is lost whose reason changes with each attempt', async () => {
    const { lines, logs } = open(200);
    const log = logs.logFor('webhook-relay').child({ broker: 'BROKER_URL_1' });
    let attempt = 0;
    const attempts = setInterval(() => log.error({ reason: `attempt ${(attempt += 1)}` }, 'connecting to the broker failed, retrying'), 20);
    await eventually(() => expect(lines).to.have.length(1), { withinMs: 10_000 }).finally(() => clearInterval(attempts));
    await logs.close();
  });

  it('says that readiness is lost, and that it is back', async () => {
    const { lines, logs } = open(50);
    const log = logs.logFor('laptop');
    log.info('ready');
    log.warn({ checks: { 'webhook-relay.spool': 'ENOSPC' } }, 'not ready');
    await eventually(() => expect(lines).to.have.length(1));
    log.info('ready');
    await logs.close();
    expect(lines).to.deep.equal(['warn  laptop: not ready (webhook-relay.spool: ENOSPC)', 'info  laptop: ready']);
  });

  it('goes on while its file cannot be written, says so, and writes it again afterwards', async () => {
    const folder = join(temporaryDirectory('logs'), 'removed');
    const lines: string[] = [];
    const logs = openLogs(join(folder, 'log'), { level: 'info', isQuiet: () => false, print: (text) => void lines.push(text) });
    await eventually(() => expect(lines.join('')).to.contain('writing the log failed').and.contain('ENOENT'));
    const log = logs.logFor('laptop');
    log.info('lost');
    mkdirSync(folder);
    await eventually(() => {
      log.info('kept');
      expect(readFileSync(join(folder, 'log'), 'utf8'))
        .to.contain('kept')
        .and.not.contain('lost');
    });
    await logs.close();
    expect(lines).to.have.length(1);
  });

  it('says that the connection of the consumers is lost, although the other one is back', async () => {
    const { lines, logs } = open(50);
    const log = logs.logFor('webhook-intake').child({ connection: 'BROKER_URL_1' });
    log.warn('lost the broker connection, reconnecting');
    log.child({ side: 'consumers' }).warn('lost the broker connection, reconnecting');
    log.info('connected to the broker');
    await eventually(() => expect(lines).to.have.length(1), { withinMs: 10_000 });
    await logs.close();
  });
});
