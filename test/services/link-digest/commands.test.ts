// The commands of the link digest: tokens for machines, and password hashes.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { isPassword, isPasswordHash } from '../../../services/platform/password.ts';
import { call, useService } from './service.ts';
import { environmentOf } from './store.ts';

const main = join(import.meta.dirname, '../../../services/main.ts');

async function run(words: readonly string[], { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {}) {
  const child = spawn(process.execPath, [main, ...words], { env: { PATH: process.env['PATH'], ...env }, stdio: 'pipe' });
  child.stdin.on('error', () => undefined).end(input);
  const [output, error, code] = await Promise.all([text(child.stdout), text(child.stderr), new Promise((resolve) => child.once('close', resolve))]);
  return { output, error, code };
}

describe('signalbox digest token', () => {
  const running = useService();
  const environment = environmentOf('');
  const env = { Jwt__Key: environment.Jwt__Key };

  it('prints a token, and nothing else, that the service takes', async () => {
    const { output, error, code } = await run(['digest', 'token'], { env });
    expect([error, code]).to.deep.equal(['', 0]);
    expect(output).to.match(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect((await call(running.url, 'GET', '/api/stats', { headers: { Authorization: `Bearer ${output.trim()}` } })).status).to.equal(200);
  });

  it('signs with the first of several keys', async () => {
    const statusOf = async (keys: string) => {
      const { output } = await run(['digest', 'token'], { env: { Jwt__Key: keys } });
      return (await call(running.url, 'GET', '/api/stats', { headers: { Authorization: `Bearer ${output.trim()}` } })).status;
    };
    const other = 'x'.repeat(32);
    expect([await statusOf(`${env.Jwt__Key},${other}`), await statusOf(`${other},${env.Jwt__Key}`)]).to.deep.equal([200, 401]);
  });

  it('prints one that is valid for --minutes, and is called without its first word too', async () => {
    const { output } = await run(['token', '--minutes', '43200'], { env });
    const { iat, exp } = JSON.parse(Buffer.from(output.split('.')[1] ?? '', 'base64url').toString());
    expect(exp - iat).to.equal(43_200 * 60);
  });

  it('says what is wrong, and prints no token', async () => {
    for (const [words, given, message] of [
      [['digest', 'token'], {}, 'start Signalbox first (npm start), give --data its folder, or set Jwt__Key'],
      [['digest', 'token'], { Jwt__Key: 'short' }, 'Jwt__Key must have at least 32 bytes in each value'],
      [['digest', 'token', '--minutes', '0'], env, '--minutes must be a whole number between 1 and'],
    ] as const) {
      const { output, error, code } = await run(words, { env: given });
      expect([output, code]).to.deep.equal(['', 1]);
      expect(error).to.contain(message);
    }
  });
});

describe('signalbox digest dead-letters', () => {
  it('drops nothing without a selection, and names the options that it has', async () => {
    const { output, error, code } = await run(['digest', 'dead-letters', 'drop'], { env: { Ingest__BrokerUrl: 'amqp://127.0.0.1:1' } });
    expect([output, error, code]).to.deep.equal(['', 'drop needs --reason or --message: what is dropped is gone\n', 1]);
  });
});

describe('signalbox digest hash-password', () => {
  for (const words of [['digest', 'hash-password'], ['hash-password']])
    it(`prints the hash of standard input: ${words.join(' ')}`, async () => {
      const { output, error, code } = await run(words, { input: 'pass word \n' });
      expect([error, code]).to.deep.equal(['', 0]);
      expect(isPasswordHash(output.trim())).to.equal(true);
      expect(await isPassword('pass word ', output.trim())).to.equal(true);
      expect(await isPassword('pass word', output.trim())).to.equal(false);
    });

  it('takes no password from an argument, and no empty one', async () => {
    for (const [words, input] of [
      [['hash-password', 'secret'], 'secret'],
      [['hash-password'], '\n'],
    ] as const) {
      const { output, code } = await run(words, { input });
      expect([output, code]).to.deep.equal(['', 1]);
    }
  });
});
