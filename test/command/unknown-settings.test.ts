import { expect } from 'chai';
import { findUnknownSettings, warnOfUnknownSettings } from '../../services/command/unknown-settings.ts';
import { captureLog } from '../platform/captured-log.ts';

const known = ['Scoring__OwnerLogins', 'Scoring__File', 'Broker__AuthToken', 'TrustedProxies'];

describe('findUnknownSettings', () => {
  it('names the setting that was meant, in either form', () => {
    expect(findUnknownSettings({ Scoring__OwnerLogin: 'me', broker__authtoken_FILE: '/run/token' }, known)).to.deep.equal([
      { name: 'Scoring__OwnerLogin', suggestion: 'Scoring__OwnerLogins' },
      { name: 'broker__authtoken', suggestion: 'Broker__AuthToken' },
    ]);
  });

  it('finds a misspelt group, and what is in a group of ours and like nothing in it', () => {
    expect(findUnknownSettings({ Scorring__File: 'x', Broker__Colour: 'red' }, known)).to.deep.equal([
      { name: 'Scorring__File', suggestion: 'Scoring__File' },
      { name: 'Broker__Colour', suggestion: undefined },
    ]);
  });

  it('finds one without a group', () => {
    expect(findUnknownSettings({ TrustedProxy: '10.0.0.0/8' }, known)).to.deep.equal([{ name: 'TrustedProxy', suggestion: 'TrustedProxies' }]);
  });

  it('says nothing of settings, of their files, and of what is not ours', () => {
    const environment = { Scoring__File: 'x', Broker__AuthToken_FILE: 'y', npm_config__x: '1', PATH: '/bin', PathExt: '.COM', OTHER__SETTING: '1', __CF: '1' };
    expect(findUnknownSettings(environment, known)).to.deep.equal([]);
  });
});

describe('warnOfUnknownSettings', () => {
  it('warns of each by name, and of no value', () => {
    const { log, lines } = captureLog();
    warnOfUnknownSettings({ Scoring__OwnerLogin: 'a secret', Laptop__PostgresPassword: 'a secret', Scoring__OwnerLogins: 'a secret' }, log);
    const warnings = lines().map(({ level, msg, setting }) => ({ level, msg, setting }));
    expect(warnings).to.deep.equal([
      { level: 'warn', msg: 'unknown setting Scoring__OwnerLogin; did you mean Scoring__OwnerLogins?', setting: 'Scoring__OwnerLogin' },
    ]);
    expect(JSON.stringify(lines())).to.not.include('a secret');
  });
});
