import { expect } from 'chai';
import { describeDatabaseFault } from '../../../services/platform/postgres/fault.ts';

const coded = (code: string) => Object.assign(new Error('at host.internal for user admin'), { code });

describe('describeDatabaseFault', () => {
  it('says what is in the way and what to do, with the code and nothing else of the message', () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', '28P01', '28000', '3D000', '53300', '57P03'])
      expect(describeDatabaseFault(coded(code)), code)
        .to.match(new RegExp(`^the database cannot be reached: [^()]+ \\(${code}\\)$`))
        .and.not.contain('internal');
  });

  it('knows a server that does not answer in time, and all addresses of a host refused at once', () => {
    expect(describeDatabaseFault(new Error('timeout exceeded when trying to connect'))).to.match(/^the database cannot be reached: it does not answer; /);
    expect(describeDatabaseFault(Object.assign(new AggregateError([coded('ECONNREFUSED')]), { code: 'ECONNREFUSED' }))).to.contain('nothing listens there');
  });

  it('is silent of everything else', () => {
    for (const other of [coded('23505'), coded('42P01'), new Error('x'), 'ECONNREFUSED', undefined]) expect(describeDatabaseFault(other)).to.equal(undefined);
  });
});
