// Settings that the API refuses at its start: rules with faults, and channels that the rules name and the settings do not know.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../../../services/platform/config/config.ts';
import { readServiceConfig, readWorkerConfig } from '../../../../services/webhook-intake/config.ts';

const required = { DATABASE_URL: 'postgres://host/db', Intake__AccessTokens: 'a-token-of-some-length' };
const mail = { Notifications__SmtpUrl: 'smtp://127.0.0.1:25', Notifications__MailFrom: 'signalbox@example.org' };
const push = { Notifications__PushUrl: 'http://127.0.0.1:80' };

describe('settings of notifications', () => {
  let directory: string;
  before(async () => (directory = await mkdtemp(path.join(tmpdir(), 'rules-'))));
  after(() => rm(directory, { recursive: true }));

  async function faultsOf(rule: string, settings: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
    const file = path.join(directory, 'rules.yaml');
    await writeFile(file, `rules: [{ name: one, ${rule} }]`);
    const outcome = await readServiceConfig({ ...required, Notifications__RulesFile: file, ...settings }).catch((error: unknown) => error);
    return outcome instanceof ConfigError ? outcome.faults : [];
  }
  const both = 'smtp: [ada@example.org], push: [alerts]';

  it('refuse a channel that a rule names and no setting tells the server of', async () => {
    const [ofMail, ofPush] = [
      'Notifications__SmtpUrl is required: the notification rules name mail addresses',
      'Notifications__PushUrl is required: the notification rules name push topics',
    ];
    expect(await faultsOf(both)).to.deep.equal([ofMail, ofPush]);
    expect(await faultsOf(both, mail)).to.deep.equal([ofPush]);
    expect(await faultsOf(both, push)).to.deep.equal([ofMail]);
    expect(await faultsOf(both, { ...mail, ...push })).to.deep.equal([]);
    expect(await faultsOf('push: [alerts]', push)).to.deep.equal([]);
  });

  it('refuse a mail server without an address that mails come from', async () => {
    const fault = 'Notifications__MailFrom must be a mail address where Notifications__SmtpUrl is set';
    for (const from of [{}, { Notifications__MailFrom: 'signalbox' }]) {
      expect(await faultsOf('smtp: [ada@example.org]', { Notifications__SmtpUrl: mail.Notifications__SmtpUrl, ...from })).to.deep.equal([fault]);
    }
  });

  it('refuse a rules file that is not there, of the API and of the worker that reads it', async () => {
    const environment = { ...required, BROKER_URL_1: 'amqp://host', Notifications__RulesFile: path.join(directory, 'none.yaml') };
    for (const read of [readServiceConfig, readWorkerConfig]) {
      const outcome = await read(environment).catch((error: unknown) => error);
      expect(outcome instanceof ConfigError && outcome.faults).to.deep.equal(['Notifications__RulesFile: cannot be read (ENOENT)']);
    }
  });

  it('name the place in the rules that cannot be used, and why', async () => {
    expect(await faultsOf('when: { minimumScore: 11 }, push: [alerts]', push)).to.deep.equal([
      'Notifications__RulesFile: rules[0].when.minimumScore must be a whole number from 0 to 10',
    ]);
  });
});
