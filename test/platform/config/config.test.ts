import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError, type Environment, isGiven, readSettings, readAll, type Settings } from '../../../services/platform/config/config.ts';
import { integer, optional, secret, secretList, text, url } from '../../../services/platform/config/settings.ts';

const settings = {
  port: integer('PORT', { summary: 's', min: 1, max: 65_535, default: 8080 }),
  title: text('TITLE', { summary: 's' }),
  password: secret('PASSWORD', { summary: 's' }),
  tokens: secretList('TOKENS', { summary: 's' }),
  upstream: optional(url('UPSTREAM', ['https'], { summary: 's' })),
};
const complete = { TITLE: 'a title', PASSWORD: 'pass-word', TOKENS: 'sixteen letters1, the second of the tokens' };

function faultsOf(environment: Environment, some: Settings = settings): readonly string[] {
  try {
    readSettings(environment, some);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('readSettings', () => {
  it('gives each setting its value, and its fallback when the variable is absent or empty', () => {
    const values = readSettings({ ...complete, PORT: '' }, settings);
    expect(values).to.deep.include({ port: 8080, title: 'a title', upstream: undefined });
    expect(values.password.reveal()).to.equal('pass-word');
    expect(values.tokens.map((one) => one.reveal())).to.deep.equal(['sixteen letters1', 'the second of the tokens']);
  });

  it('tells every fault at once, by the name of the variable', () => {
    expect(faultsOf({ PORT: 'x', TOKENS: ' , ', UPSTREAM: 'http://somewhere' })).to.deep.equal([
      'PORT must be an integer 1–65535',
      'TITLE is required and not set',
      'PASSWORD is required and not set',
      'TOKENS holds no value',
      'UPSTREAM must be a URL that begins with https://',
    ]);
  });

  it('never repeats a value in its message', () => {
    const error = new ConfigError(faultsOf({ ...complete, PORT: 'hunter2', UPSTREAM: 'ftp://user:hunter2@somewhere' }));
    expect(error.message).to.include('PORT').and.to.include('UPSTREAM').and.not.to.include('hunter2');
  });

  it('asks the check only for values that are valid by themselves', () => {
    const check = () => ['PORT and TITLE do not go together'];
    expect(() => readSettings(complete, settings, check)).to.throw(ConfigError, 'PORT and TITLE do not go together');
    expect(() => readSettings({}, settings, check))
      .to.throw(ConfigError)
      .with.property('faults')
      .that.does.not.include('PORT and TITLE do not go together');
  });

  it('refuses a credential of fewer than 16 characters in production, which is the default', () => {
    const short = { ...complete, TOKENS: 'the first of them, fifteen letters' };
    for (const APP_ENV of ['', 'production', 'nonsense'])
      expect(faultsOf({ ...short, APP_ENV }), APP_ENV).to.deep.equal(['TOKENS must have at least 16 characters in each value']);
    expect(readSettings({ ...short, APP_ENV: ' Development' }, settings).tokens).to.have.length(2);
  });

  it('tells a fault of APP_ENV as no other setting’s, and takes it for production', () => {
    const faulty = { ...complete, APP_ENV: 'development', APP_ENV_FILE: '/nowhere' };
    expect(readSettings(faulty, settings).port).to.equal(8080);
    expect(faultsOf({ ...faulty, TOKENS: 'short' })).to.deep.equal(['TOKENS must have at least 16 characters in each value']);
  });

  it('refuses an integer outside its range, with a sign, a fraction or an exponent', () => {
    for (const PORT of ['0', '65536', '-1', '+1', '1.5', '1e3', '0x10', '99999999999999999999']) {
      expect(faultsOf({ ...complete, PORT }), PORT).to.deep.equal(['PORT must be an integer 1–65535']);
    }
  });

  it('tells the faults of several readings together, each once, and what else fails at once', async () => {
    const one = () => readSettings({ ...complete, PORT: 'x' }, settings);
    const other = () => Promise.resolve(readSettings({ PORT: 'x' }, { port: settings.port, more: settings.password }));
    const failure: unknown = await readAll(one, () => 'fine', other).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(ConfigError);
    expect(Object(failure).faults).to.deep.equal(['PORT must be an integer 1–65535', 'PASSWORD is required and not set']);
    expect(
      await readAll(
        () => 1,
        () => Promise.resolve('two'),
      ),
    ).to.deep.equal([1, 'two']);
    expect(String(await readAll(() => Promise.reject(new TypeError('a mistake'))).catch(String))).to.equal('TypeError: a mistake');
  });

  describe('with NAME_FILE', () => {
    let directory: string;
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'signalbox-config-'));
      await writeFile(join(directory, 'password'), 'from a file\n');
      await writeFile(join(directory, 'lines'), 'first\nsecond\n\n');
    });
    after(() => rm(directory, { recursive: true }));

    const withFile = (file: string, PASSWORD = '') => ({ ...complete, PASSWORD, PASSWORD_FILE: join(directory, file) });

    it('reads the value from the file, without one trailing newline', () => {
      expect(readSettings(withFile('password'), settings).password.reveal()).to.equal('from a file');
      expect(readSettings(withFile('lines'), settings).password.reveal()).to.equal('first\nsecond\n');
    });

    it('refuses the variable and the file together', () => {
      expect(faultsOf(withFile('password', 'too'))).to.deep.equal(['PASSWORD and PASSWORD_FILE are both set; leave one']);
    });

    it('says why a file cannot be read', () => {
      expect(faultsOf(withFile('nowhere'))).to.deep.equal(['PASSWORD cannot be read from the file in PASSWORD_FILE (ENOENT)']);
    });

    it('treats an empty file as not set', async () => {
      await writeFile(join(directory, 'empty'), '\n');
      expect(faultsOf(withFile('empty'))).to.deep.equal(['PASSWORD is required and not set']);
    });

    it('counts as given in either form, unless empty', () => {
      const environment = { ONE: '1', TWO_FILE: '/run/two', THREE: '', FOUR_FILE: '' };
      expect(['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE'].filter((name) => isGiven(environment, name))).to.deep.equal(['ONE', 'TWO']);
    });
  });
});
