// `secrets run` delays every start of a program, so it loads no more than it needs.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';

const program = join(import.meta.dirname, '../../../../services/main.ts');

/** The files that `signalbox <words>` loads. */
async function loadedBy(...words: readonly string[]): Promise<string[]> {
  const script = `import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => { process.stderr.write(url + '\\n'); return next(url, context); } });
    process.argv.splice(1, process.argv.length, ${JSON.stringify(program)}, ...${JSON.stringify(words)});
    await import(${JSON.stringify(program)});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  return (await text(child.stderr)).split('\n').filter((line) => line.startsWith('file:'));
}

describe('signalbox secrets run', () => {
  it('loads the client and none of the service, its database, its log or another command', async () => {
    const files = await loadedBy('secrets', 'run', '--environment', 'local', '--', 'true');
    expect(files.filter((file) => file.endsWith('/secrets/client.ts'))).to.have.length(1);
    expect(files.filter((file) => /node_modules\/(pg|pino|prom-client|knex|koa)\//.test(file))).to.deep.equal([]);
    const own = files.filter((file) => file.includes('/services/') && !file.includes('node_modules'));
    expect(
      own.filter((file) =>
        /\/(webhook-relay|webhook-intake|laptop)\/|secrets\/(app|main)\.ts|store\.ts|commands\/(backup|restore|rewrap|audit|import-env)\.ts/.test(file),
      ),
    ).to.deep.equal([]);
  });
});
