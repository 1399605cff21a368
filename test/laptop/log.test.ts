import { expect } from 'chai';
import { forPeople } from '../../services/laptop/terminal.ts';

const line = (members: object) => ({ level: 'error', time: '2026-03-15T12:00:00.000Z', service: 'webhook-relay', msg: 'failed, retrying', ...members });

describe('the log in a terminal', () => {
  it('says which connection failed and why', () => {
    expect(forPeople(line({ broker: 'BROKER_URL_2', reason: 'nothing listens there' }))).to.equal(
      '12:00:00 error webhook-relay: failed, retrying (BROKER_URL_2: nothing listens there)\n',
    );
    expect(forPeople(line({ connection: 'BROKER_URL_2', error: { message: 'refused' } }))).to.contain('(BROKER_URL_2: refused)');
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

  it('gives the reason of a fatal error first', () => {
    expect(forPeople(line({ level: 'fatal', msg: 'failed, exiting with 1', error: { message: 'port 8081 is taken' } }))).to.equal(
      '12:00:00 fatal webhook-relay: port 8081 is taken (failed, exiting with 1)\n',
    );
  });

  it('says what happened where there is nothing to add', () => {
    expect(forPeople(line({ level: 'warn' }))).to.equal('12:00:00 warn  webhook-relay: failed, retrying\n');
  });
});
