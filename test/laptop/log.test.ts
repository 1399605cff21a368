import { expect } from 'chai';
import { forPeople } from '../../services/laptop/up.ts';

const line = (members: object) =>
  JSON.stringify({ level: 'error', time: '2026-03-15T12:00:00.000Z', service: 'webhook-relay', msg: 'failed, retrying', ...members });

describe('the log in a terminal', () => {
  it('says which connection failed and why', () => {
    expect(forPeople(line({ broker: 'BROKER_URL_2', reason: 'nothing listens there' }))).to.equal(
      '12:00:00 error webhook-relay: failed, retrying (BROKER_URL_2: nothing listens there)\n',
    );
    expect(forPeople(line({ connection: 'BROKER_URL_2', error: { message: 'refused' } }))).to.contain('(BROKER_URL_2: refused)');
  });

  it('says what happened where there is nothing to add', () => {
    expect(forPeople(line({ level: 'warn' }))).to.equal('12:00:00 warn  webhook-relay: failed, retrying\n');
  });
});
