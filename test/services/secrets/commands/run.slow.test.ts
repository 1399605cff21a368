import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../support/guard.ts';
import { startSilentServer } from '../../../support/silent-server.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { manage, newApplication, putSecret, secretValue, type TestApplication, useService } from '../service.ts';
import { secretsCommand, startCommand } from './command.ts';

describe('signalbox secrets run', () => {
  const running = useService();
  let application: TestApplication = { slug: '', key: '' };
  const password = secretValue('hunter2 $HOME "x"\nsecond line');
  const token = secretValue('new');
  before(async () => {
    application = await newApplication(running.url, 'Runs');
    await putSecret(running.url, 'runs', 'db password', { value: password });
    await putSecret(running.url, 'runs', 'token', { value: secretValue('old') });
    await putSecret(running.url, 'runs', 'token', { value: token });
    await putSecret(running.url, 'runs', 'over', { value: secretValue('over'), expiresAt: '2020-01-01T00:00:00Z' });
    for (const [key, value] of Object.entries({ 'Logging:Level': 'debug', GREETING: 'hello' })) {
      await manage(running.url, 'POST', '/runs/configurations', { environmentSlug: 'local', key, value });
    }
  });

  const settings = () => ({ SIGNALBOX_SECRETS_URL: running.url, SIGNALBOX_APPLICATION_KEY: application.key });
  const node = (script: string, ...rest: readonly string[]) => ['--', process.execPath, '-e', script, ...rest];
  const showEnvironment = node('process.stdout.write(JSON.stringify(process.env))');
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    secretsCommand(['run', '--environment', 'local', ...args], { env: { ...settings(), ...env } });
  const environmentOf = async (args: readonly string[], env?: Readonly<Record<string, string>>): Promise<unknown> => {
    const { code, out, err } = await run([...args, ...showEnvironment], env);
    expect([code, err]).to.deep.equal([0, '']);
    return JSON.parse(out);
  };

  it('starts a program with the configuration of the environment', async () => {
    expect(await environmentOf([])).to.include({ Logging__Level: 'debug', GREETING: 'hello' });
  });

  it('adds the named secrets and no others', async () => {
    const environment = await environmentOf(['--secret', 'db password', '--secret', 'token=API_TOKEN']);
    expect(environment).to.include({ db_password: password, API_TOKEN: token });
    expect(await environmentOf([])).not.to.have.any.keys('db_password', 'token', 'API_TOKEN');
  });

  it('refuses configuration entries that decide what code runs, unless an option takes them', async () => {
    await manage(running.url, 'POST', '/runs/environments', { name: 'Unsafe' });
    for (const key of ['PATH', 'LD:PRELOAD', 'LD_PRELOAD'])
      await manage(running.url, 'POST', '/runs/configurations', { environmentSlug: 'unsafe', key, value: '/evil' });
    const given = { env: settings() };
    const refused = await secretsCommand(['run', '--environment', 'unsafe', ...showEnvironment], given);
    expect([refused.code, refused.out]).to.deep.equal([125, '']);
    expect(refused.err).to.contain('refused without --allow-unsafe-names: LD:PRELOAD, LD_PRELOAD, PATH');
    const taken = await secretsCommand(['run', '--environment', 'unsafe', '--allow-unsafe-names', ...showEnvironment], given);
    expect(JSON.parse(taken.out)).to.include({ PATH: '/evil' });
    const unasked = await secretsCommand(['run', '--environment', 'unsafe', '--prefix', 'LD', ...showEnvironment], given);
    expect(unasked.err).to.contain('refused without --allow-unsafe-names: LD:PRELOAD, LD_PRELOAD\n');
    const named = await secretsCommand(['run', '--environment', 'unsafe', '--only', 'PATH', ...showEnvironment], given);
    expect(JSON.parse(named.out)).to.include({ PATH: '/evil' });
  });

  it('takes the entries that are named, or that begin with a prefix, and no others', async () => {
    const configuration = async (...args: string[]) => {
      const shown = await environmentOf(args);
      return ['Logging__Level', 'GREETING'].filter((name) => name in Object(shown));
    };
    expect(await configuration('--only', 'GREETING')).to.deep.equal(['GREETING']);
    expect(await configuration('--prefix', 'Logging:')).to.deep.equal(['Logging__Level']);
    expect(await configuration('--prefix', 'Logging:', '--only', 'GREETING')).to.deep.equal(['Logging__Level', 'GREETING']);
    expect(await configuration('--prefix', 'none')).to.deep.equal([]);
    const missing = await run(['--only', 'GREETING', 'Greeting', ...showEnvironment]);
    expect([missing.code, missing.out]).to.deep.equal([125, '']);
    expect(missing.err).to.contain("there is no configuration entry 'Greeting' in environment 'local'");
  });

  it('hands its own environment on, and lets what it fetched win', async () => {
    expect(await environmentOf([], { GREETING: 'bye', KEPT: 'yes' })).to.include({ GREETING: 'hello', KEPT: 'yes' });
  });

  it('keeps the key to itself, given as it is or in a file', async () => {
    const file = join(temporaryDirectory('key'), 'key');
    writeFileSync(file, `${application.key}\n`);
    const { SIGNALBOX_SECRETS_URL } = settings();
    const fromFile = await secretsCommand(['run', '--environment', 'local', ...showEnvironment], {
      env: { SIGNALBOX_SECRETS_URL, SIGNALBOX_APPLICATION_KEY_FILE: file },
    });
    for (const { out } of [await run(showEnvironment), fromFile]) {
      expect(JSON.parse(out)).to.include({ GREETING: 'hello' }).and.not.have.any.keys('SIGNALBOX_APPLICATION_KEY', 'SIGNALBOX_APPLICATION_KEY_FILE');
      expect(out).not.to.include(application.key).and.not.include(file);
    }
  });

  it('keeps to itself whatever else is of Signalbox: its settings, and the credentials of the service and of its other commands', async () => {
    const own = ['Management__AdminApiKey', 'Encryption__MasterKeys', 'Backup__Key', 'SIGNALBOX_APPLICATION_KEY', 'SIGNALBOX_SECRETS_URL'];
    const shown = await environmentOf([], {
      Management__AdminApiKey: secretValue('a token'),
      Encryption__MasterKeys_FILE: '/run/keys',
      Backup__Key: secretValue('a key'),
      BACKUP__KEY_file: '/run/key',
      SIGNALBOX_ANYTHING: 'x',
      DATABASE_URL: 'postgres://of.the/program',
      Stripe__ApiKey: 'of the program',
    });
    expect(shown).to.include({ DATABASE_URL: 'postgres://of.the/program', Stripe__ApiKey: 'of the program' });
    expect(
      Object.keys(Object(shown)).filter((name) => /^signalbox_/i.test(name) || own.some((one) => name.toLowerCase().startsWith(one.toLowerCase()))),
    ).to.deep.equal([]);
  });

  it('passes arguments on as they are', async () => {
    const { out } = await run(node('process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--', '--secret', 'x', '--help', 'a b', ''));
    expect(JSON.parse(out)).to.deep.equal(['--secret', 'x', '--help', 'a b', '']);
  });

  it('connects the program to its own input and outputs', async () => {
    const { out, err } = await secretsCommand(['run', '--environment', 'local', '--', 'sh', '-c', 'cat; echo problem >&2'], { env: settings(), input: 'said' });
    expect([out, err]).to.deep.equal(['said', 'problem\n']);
  });

  for (const code of [0, 1, 77, 255]) {
    it(`ends with the program's code ${code}`, async () => expect((await run(['--', 'sh', '-c', `exit ${code}`])).code).to.equal(code));
  }

  it('ends by the signal that ended the program, since the program is this process', async () => {
    for (const signal of ['KILL', 'TERM']) expect(await run(['--', 'sh', '-c', `kill -${signal} $$`])).to.deep.include({ code: null, signal: `SIG${signal}` });
  });

  it('is replaced by the program: the same process, with signals and pipes as a shell gives them', async () => {
    const facts = ['status', 'fdinfo/0', 'fdinfo/1', 'fdinfo/2'].map((name) => `/proc/self/${name}`);
    const command = startCommand(['run', '--environment', 'local', '--', 'cat', ...facts], { env: settings() });
    const { out } = await command.ended;
    expect(/^Pid:\s+(\d+)$/m.exec(out)?.[1]).to.equal(String(command.pid));
    const values = [...out.matchAll(/^Sig(?:Blk|Ign):\s+(\w+)$/gm)].map(([, value]) => value);
    expect(values).to.deep.equal(['0000000000000000', '0000000000000000']);
    const flags = [...out.matchAll(/^flags:\s+(\d+)$/gm)].map(([, value = '']) => Number.parseInt(value, 8) & 0o4000);
    expect(flags).to.deep.equal([0, 0, 0]);
  });

  it('gets signals itself, and ends by them', async () => {
    const command = startCommand(['run', '--environment', 'local', '--', 'sh', '-c', 'echo ready; exec sleep 60'], { env: settings() });
    await eventually(() => expect(command.out()).to.equal('ready\n'));
    command.signal('SIGTERM');
    expect(await command.ended).to.include({ code: null, signal: 'SIGTERM' });
  });

  for (const [turn, when, ended] of [
    [1, 'while a child is tried', { code: 125, signal: null }],
    [2, 'a moment before the program takes its place', { code: null, signal: 'SIGTERM' }],
  ] as const)
    it(`is not started after a signal that came ${when}`, async () => {
      const folder = temporaryDirectory('turns');
      // `env` starts `true` twice before it is replaced by the program; this one waits at its turn.
      const script = `#!/bin/sh\necho turn >> ${folder}/turns\n[ "$(wc -l < ${folder}/turns)" = ${turn} ] && touch ${folder}/waits && sleep 2\nexit 0\n`;
      writeFileSync(join(folder, 'true'), script);
      chmodSync(join(folder, 'true'), 0o700);
      const PATH = `${folder}:${process.env['PATH'] ?? ''}`;
      const command = startCommand(['run', '--environment', 'local', '--', 'sh', '-c', 'echo started'], { env: { ...settings(), PATH } });
      await eventually(() => expect(existsSync(join(folder, 'waits'))).to.equal(true));
      command.signal('SIGTERM');
      expect(await command.ended).to.include({ ...ended, out: '' });
    });

  it('writes all of a long output into a pipe that is read late', async () => {
    const { code, out } = await run(['--', 'sh', '-c', 'head -c 3000000 /dev/zero | tr "\\0" x']);
    expect([code, out.length]).to.deep.equal([0, 3_000_000]);
  });

  it('runs a program whose name `env` would take for an assignment, or whose environment is too large, as its child', async () => {
    const file = join(temporaryDirectory('odd'), 'a=b');
    writeFileSync(file, '#!/bin/sh\necho odd $GREETING\nexit 5\n');
    chmodSync(file, 0o700);
    expect(await run(['--', file])).to.deep.include({ code: 5, out: 'odd hello\n' });
  });

  it('takes every secret that is served with --all, and those that begin with a prefix', async () => {
    const shown = await environmentOf(['--all', '--secret', 'token=API_TOKEN']);
    expect(shown).to.include({ db_password: password, API_TOKEN: token, GREETING: 'hello' }).and.not.have.any.keys('over', 'token');
    expect(await environmentOf(['--all', '--prefix', 'db']))
      .to.include({ db_password: password })
      .and.not.have.any.keys('token', 'GREETING');
  });

  it('refuses secrets of --all that decide what code runs', async () => {
    const { slug, key } = await newApplication(running.url, 'Unsafe secrets');
    await putSecret(running.url, slug, 'LD_PRELOAD', { value: secretValue('evil') });
    await putSecret(running.url, slug, 'password', { value: secretValue('good') });
    const refused = await run(['--all', ...showEnvironment], { SIGNALBOX_APPLICATION_KEY: key });
    expect([refused.code, refused.out]).to.deep.equal([125, '']);
    expect(refused.err).to.equal('secrets that decide what code runs are refused without --allow-unsafe-names: LD_PRELOAD\n');
    expect((await run(['--all', '--prefix', 'p', ...showEnvironment], { SIGNALBOX_APPLICATION_KEY: key })).code).to.equal(0);
  });

  it('says in a sentence that a signal came while secrets were read', async () => {
    const silent = await startSilentServer();
    const command = startCommand(['run', '--environment', 'local', '--', 'true'], {
      env: { ...settings(), SIGNALBOX_SECRETS_URL: `http://127.0.0.1:${silent.port}` },
    });
    await eventually(() => expect(silent.connections()).to.be.above(0));
    command.signal('SIGTERM');
    expect(await command.ended).to.include({ code: 125, err: 'stopped by a signal while secrets were read: the program was not started\n' });
    silent.close();
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const) {
    it(`forwards ${signal}, once, and waits for the program to end`, async () => {
      const script = `let count = 0;
        process.on('${signal}', () => { count++; setTimeout(() => { process.stdout.write('heard ' + count); process.exit(7); }, 100); });
        setInterval(() => {}, 1000); process.stdout.write('ready ');`;
      const command = startCommand(['run', '--environment', 'local', ...node(script)], { env: settings() });
      await eventually(() => expect(command.out()).to.equal('ready '));
      command.signal(signal);
      expect(await command.ended).to.deep.equal({ code: 7, signal: null, out: 'ready heard 1', err: '' });
    });
  }

  describe('refuses in a sentence, with a code of its own,', () => {
    const refusal = async (args: readonly string[], env?: Readonly<Record<string, string>>) => {
      const { code, out, err } = await run([...args, '--', 'sh', '-c', 'echo started'], env);
      expect([code, out]).to.deep.equal([125, '']);
      return err.trimEnd();
    };
    const notServed = (name: string) => `secret '${name}' is not served in environment 'local': it is unknown there, or has no version that is active now`;

    it('a secret that is not served, whatever the reason', async () => {
      expect(await refusal(['--secret', 'nothing'])).to.equal(notServed('nothing'));
      expect(await refusal(['--secret', 'over'])).to.equal(notServed('over'));
    });

    it('an unknown environment', async () => {
      expect(await refusal(['--environment', 'moon'])).to.equal("the application has no environment 'moon', or SIGNALBOX_SECRETS_URL is another service");
    });

    it('a key that is wrong', async () => {
      // Not of zeros: a push of a new branch has forty of them, and processes that tests start print them.
      const wrong = `key_${randomBytes(20).toString('hex')}`;
      const said = 'the service refuses SIGNALBOX_APPLICATION_KEY: it is wrong, expired, replaced by a newer one, or its application was deleted';
      expect(await refusal([], { SIGNALBOX_APPLICATION_KEY: wrong })).to.equal(said);
    });

    it('a service that is not there', async () => {
      const address = `http://127.0.0.1:${await freePort()}`;
      expect(await refusal([], { SIGNALBOX_SECRETS_URL: address })).to.equal(
        `the secrets service at ${address} cannot be reached: nothing listens there (ECONNREFUSED)`,
      );
    });

    it('settings that are missing, all at once', async () => {
      expect(await refusal([], { SIGNALBOX_SECRETS_URL: '', SIGNALBOX_APPLICATION_KEY: '' })).to.equal(
        'The configuration is not usable:\n  SIGNALBOX_SECRETS_URL is required and not set\n  SIGNALBOX_APPLICATION_KEY is required and not set',
      );
    });

    it('two things that would be one variable', async () => {
      expect(await refusal(['--secret', 'token=GREETING'])).to.equal("configuration entry 'GREETING' and secret 'token' would both be the variable GREETING");
    });
  });

  it('says with 127 that there is no such program, with 126 that it is none', async () => {
    const file = join(temporaryDirectory('program'), 'plain');
    writeFileSync(file, 'echo no');
    chmodSync(file, 0o600);
    expect(await run(['--', 'no-such-program'])).to.deep.include({ code: 127, err: 'no-such-program was not started: there is no such program\n' });
    expect(await run(['--', file])).to.deep.include({
      code: 126,
      err: `${file} was not started: it is no program, or not one that this user may execute\n`,
    });
  });

  it('says with 126 that the environment is larger than the system takes, in words', async () => {
    const { slug, key } = await newApplication(running.url, 'Large');
    const value = 'v'.repeat(60_000);
    for (let number = 0; number < 50; number++)
      await manage(running.url, 'POST', `/${slug}/configurations`, { environmentSlug: 'local', key: `KEY${number}`, value });
    const { code, err } = await run(['--', 'true'], { SIGNALBOX_APPLICATION_KEY: key });
    expect(code).to.equal(126);
    expect(err).to.match(/^true was not started: its environment and arguments are larger than the system takes .*\n$/);
  });

  it('explains itself', async () => {
    const { code, out } = await secretsCommand(['run', '--help']);
    expect(code).to.equal(0);
    for (const text of ['--environment <slug>', '--secret <name...>', 'NAME=VARIABLE', 'SIGNALBOX_SECRETS_URL', 'SIGNALBOX_APPLICATION_KEY']) {
      expect(out).to.include(text);
    }
  });

  it('takes no key as an argument', async () => {
    const { code, err } = await run(['--key', application.key, '--', 'true']);
    expect(code).to.equal(125);
    expect(err).to.include("unknown option '--key'").and.not.include(application.key);
  });

  it('ends with 125 when it is not used as it says, and with 0 when it is asked how', async () => {
    const codeOf = async (...args: readonly string[]) => (await secretsCommand(['run', ...args], { env: settings() })).code;
    expect(await codeOf('--', 'true')).to.equal(125);
    expect(await codeOf('--environment', 'local')).to.equal(125);
    expect(await codeOf('--environment')).to.equal(125);
    expect(await codeOf('--environment', 'local', '--secret', 'x=1y', '--', 'true')).to.equal(125);
    expect(await codeOf('--help')).to.equal(0);
  });
});
