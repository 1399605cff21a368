import { expect } from 'chai';
import { InvalidSetting } from '../../../services/platform/config/config.ts';
import {
  addressRanges,
  choice,
  integer,
  list,
  optional,
  origins,
  randomCredential,
  secret,
  secretUrl,
  text,
  url,
} from '../../../services/platform/config/settings.ts';

const summary = 's';

describe('settings', () => {
  it('take a choice in any case and give its documented spelling', () => {
    const level = choice('LEVEL', ['info', 'debug'], { summary });
    expect(level.parse(' Debug ')).to.equal('debug');
    expect(() => level.parse('loud')).to.throw(InvalidSetting, 'must be one of info, debug');
  });

  it('split a list at commas, trimmed, without blanks', () => {
    expect(list('ITEMS', { summary }).parse(' a, ,b ,')).to.deep.equal(['a', 'b']);
  });

  it('take a URL of a given scheme as it is', () => {
    const base = url('BASE', ['http', 'https'], { summary });
    expect(base.parse('https://example.org/x?y=1')).to.equal('https://example.org/x?y=1');
    for (const wrong of ['example.org', 'file:///etc/passwd', 'https://']) expect(() => base.parse(wrong), wrong).to.throw(InvalidSetting);
  });

  it('take addresses and ranges, and tell what is neither by its place, never by its text', () => {
    const proxies = addressRanges('PROXIES', { summary });
    expect(proxies.parse('10.0.0.0/8, ::1')).to.deep.equal(['10.0.0.0/8', '::1']);
    expect(() => proxies.parse('10.0.0.1, proxy.internal, 10.0.0.0/33')).to.throw(
      InvalidSetting,
      /^must hold addresses or CIDR ranges such as 10\.0\.0\.0\/8; not so entry 2, 3$/,
    );
  });

  it('take origins as browsers send them, and tell what is none by its place', () => {
    const allowed = origins('ORIGINS', { summary });
    expect(allowed.parse('https://App.example.org, http://localhost:3000/, *, https://x:443')).to.deep.equal([
      'https://app.example.org',
      'http://localhost:3000',
      '*',
      'https://x',
    ]);
    for (const wrong of ['app.example.org', 'https://app.example.org/path', 'https://user@app.example.org', 'ftp://x', 'null', 'https://x?y', 'https://*.x/#'])
      expect(() => allowed.parse(`*, ${wrong}`), wrong).to.throw(InvalidSetting, /^must hold origins such as .*, or \*; not so entry 2$/);
  });

  it('say their shape, and whether they hold a credential', () => {
    expect(integer('N', { summary, min: 1, max: 9 })).to.include({ shape: 'integer 1–9', isSecret: false });
    expect(secret('S', { summary })).to.include({ shape: 'secret', isSecret: true });
    expect(secretUrl('U', ['amqp', 'amqps'], { summary })).to.include({ shape: 'URL (amqp, amqps)', isSecret: true });
  });

  it('keep the password of a URL out of its printed form', () => {
    const value = secretUrl('U', ['amqp'], { summary }).parse('amqp://user:hunter2@host');
    expect(value.reveal()).to.equal('amqp://user:hunter2@host');
    expect(String(value)).to.not.include('hunter2');
  });

  it('tell a default of undefined from no default', () => {
    expect(optional(text('T', { summary })).fallback).to.deep.equal({ value: undefined });
    expect(text('T', { summary })).to.not.have.property('fallback');
    expect(text('T', { summary, default: '' }).fallback).to.deep.equal({ value: '' });
  });
});

describe('randomCredential', () => {
  it('gives 32 bytes that need no quoting in a header or a URL, new ones each time', () => {
    expect(randomCredential()).to.match(/^[\w-]{43}$/);
    expect(randomCredential()).to.not.equal(randomCredential());
  });
});
