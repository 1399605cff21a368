import { expect } from 'chai';
import pg from 'pg';
import {
  describeDatabaseFault,
  isCancelled,
  isDeadlock,
  isLockTimeout,
  isOutage,
  isUnavailable,
  isUnmigrated,
  refusesData,
} from '../../../services/platform/postgres/errors.ts';

const databaseError = (code: string) => Object.assign(new pg.DatabaseError('m', 1, 'error'), { code });
const networkError = (code: string) => Object.assign(new Error('m'), { code });

describe('isOutage', () => {
  it('is true of what fails for every question alike', () => {
    for (const code of ['08006', '28P01', '3D000', '3F000', '40P01', '42P01', '42501', '53300', '55P03', '57014', '57P01', '58030', 'XX001'])
      expect(isOutage(databaseError(code)), code).to.equal(true);
    for (const code of ['ECONNREFUSED', 'EPROTO', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'])
      expect(isOutage(networkError(code)), code).to.equal(true);
    for (const text of ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'Connection terminated unexpectedly'])
      expect(isOutage(new Error(text)), text).to.equal(true);
  });

  it('is false of what fails because of the values, in the database or before it', () => {
    for (const code of ['21000', '22P02', '23502', '54000', 'XX000']) expect(isOutage(databaseError(code)), code).to.equal(false);
    for (const error of [new RangeError('Maximum call stack size exceeded'), networkError('ERR_STRING_TOO_LONG'), 'text'])
      expect(isOutage(error), String(error)).to.equal(false);
  });
});

describe('isUnavailable', () => {
  it('is true of lost and refused connections, shutdowns, lack of room and standbys', () => {
    for (const code of ['08006', '53300', '57P01', '57P02', '57P03', '25006', '55000']) expect(isUnavailable(databaseError(code)), code).to.equal(true);
    for (const code of ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'])
      expect(isUnavailable(networkError(code)), code).to.equal(true);
    expect(isUnavailable(new AggregateError([networkError('ECONNREFUSED')]))).to.equal(true);
    for (const message of ['Connection terminated unexpectedly', 'timeout exceeded when trying to connect', 'timeout expired'])
      expect(isUnavailable(new Error(message)), message).to.equal(true);
  });

  it('is false of everything that would fail again as it is', () => {
    for (const code of ['23505', '42P01', '22P02', '57014', '40001']) expect(isUnavailable(databaseError(code)), code).to.equal(false);
    for (const other of [new Error('failed'), networkError('ENOENT'), new AggregateError([new Error('failed')]), 'ECONNREFUSED', undefined])
      expect(isUnavailable(other)).to.equal(false);
  });
});

describe('isCancelled', () => {
  it('is true of a statement that was ended from outside only', () => {
    expect(['57014', '57P01', '55P03', '22P02'].map((code) => isCancelled(databaseError(code)))).to.deep.equal([true, false, false, false]);
    expect(isCancelled(networkError('57014'))).to.equal(false);
  });
});

describe('isDeadlock', () => {
  it('is true when Postgres ended a transaction that waited for one that waits for it', () => {
    expect(['40P01', '55P03', '57014'].map((code) => isDeadlock(databaseError(code)))).to.deep.equal([true, false, false]);
    expect(isDeadlock(networkError('40P01'))).to.equal(false);
  });
});

describe('isLockTimeout', () => {
  it('is true of a lock that did not come in time only', () => {
    expect(['55P03', '57014', '40P01'].map((code) => isLockTimeout(databaseError(code)))).to.deep.equal([true, false, false]);
    expect(isLockTimeout(networkError('55P03'))).to.equal(false);
  });
});

describe('isUnmigrated', () => {
  it('is true of a missing table or schema only', () => {
    expect(['42P01', '3F000', '42703', '08006'].map((code) => isUnmigrated(databaseError(code)))).to.deep.equal([true, true, false, false]);
    expect(isUnmigrated(networkError('42P01'))).to.equal(false);
  });
});

describe('refusesData', () => {
  it('is true of bad values, broken constraints and rows too large, and of nothing else', () => {
    for (const code of ['22P02', '22021', '23505', '54000']) expect(refusesData(databaseError(code)), code).to.equal(true);
    for (const code of ['42P01', '57014', '53300']) expect(refusesData(databaseError(code)), code).to.equal(false);
    expect(refusesData(networkError('22P02'))).to.equal(false);
  });
});

const coded = (code: string) => Object.assign(new Error('at host.internal for user admin'), { code });

describe('describeDatabaseFault', () => {
  it('says what is in the way and what to do, with the code and nothing else of the message', () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', '28P01', '28000', '3D000', '53300', '57P03'])
      expect(describeDatabaseFault(coded(code)), code)
        .to.match(new RegExp(`^the database cannot be reached: [^()]+ \\(${code}\\)$`))
        .and.not.contain('internal');
  });

  it('names the setting that has the address', () => {
    expect(describeDatabaseFault(coded('ECONNREFUSED'), 'DATABASE_URL')).to.match(/^the database of DATABASE_URL cannot be reached: nothing listens there/);
  });

  it('knows a server that does not answer in time, and all addresses of a host refused at once', () => {
    for (const message of ['timeout exceeded when trying to connect', 'Connection terminated due to connection timeout', 'timeout expired'])
      expect(describeDatabaseFault(new Error(message))).to.match(/^the database cannot be reached: it does not answer; /);
    expect(describeDatabaseFault(Object.assign(new AggregateError([coded('ECONNREFUSED')]), { code: 'ECONNREFUSED' }))).to.contain('nothing listens there');
  });

  it('is silent of everything else', () => {
    for (const other of [coded('23505'), coded('42P01'), new Error('x'), 'ECONNREFUSED', undefined]) expect(describeDatabaseFault(other)).to.equal(undefined);
  });
});
