import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { deployables } from '../../services/command/deployables.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { startProcess } from '../support/processes.ts';

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const process = startProcess(args, { env });
  const { code } = await process.exited;
  return { code, text: process.lines.join('\n') };
}

// Tells of it on standard error when a module of that name is asked for.
const tellTale = `import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => (name.includes('@kubernetes') && process.stderr.write('kubernetes is loaded\\n'), next(name, context)) });`;

describe('the commands of an installation', () => {
  let withTellTale: Record<string, string>;
  before(() => {
    const file = join(temporaryDirectory('tell-tale'), 'tell-tale.mjs');
    writeFileSync(file, tellTale);
    withTellTale = { NODE_OPTIONS: `--import=${file}`, HOME: '/nowhere' };
  });

  it('say what they need, what they do, and how they are called', async () => {
    const migrate = await run(['migrate', '--help']);
    expect(migrate.text).to.contain('POSTGRES_URL').and.to.contain('POSTGRES_<SCHEMA>_PASSWORD').and.to.contain('Safe to run again');
    const credentials = await run(['credentials', '--help']);
    expect(credentials.text).to.contain('get and patch').and.to.contain('Safe to run again');
    expect([migrate.code, credentials.code]).to.deep.equal([0, 0]);
  });

  it('say of each worker what it does', async () => {
    const { code, text } = await run(['worker', 'cleanup', '--help']);
    expect(text).to.contain('signalbox worker cleanup').and.to.contain('Deletes what is older than its retention').and.to.contain('--loop');
    expect(text).not.to.contain('geocoding');
    expect(code).to.equal(0);
    expect((await run(['worker', '--help'])).text)
      .to.contain('cleanup')
      .and.to.contain('geocoding');
  });

  it('load the Kubernetes library only where it is needed: 55 MB that no service has in memory', async () => {
    const text = async (...args: string[]) => (await run(args, withTellTale)).text;
    expect(await text('credentials', '--secret', 'credentials'))
      .to.contain('kubernetes is loaded')
      .and.to.contain('there is no cluster');
    expect(await text('migrate', '--print-roles'))
      .to.contain('create role')
      .and.not.to.contain('kubernetes is loaded');
    for (const name of deployables.names)
      expect(await text('serve', name))
        .to.contain('DATABASE_URL')
        .and.not.to.contain('kubernetes is loaded');
  });

  it('never quote a kubeconfig that cannot be read', async () => {
    const file = join(temporaryDirectory('kubeconfig'), 'config');
    writeFileSync(file, 'users: [{name: me, user: {token: hush-hush\n');
    const broken = await run(['credentials', '--secret', 'credentials'], { KUBECONFIG: file });
    expect(broken).to.deep.equal({ code: 1, text: 'the kubeconfig cannot be read (it is no kubeconfig)' });
    const missing = await run(['credentials', '--secret', 'credentials'], { KUBECONFIG: '/nowhere/config' });
    expect(missing).to.deep.equal({ code: 1, text: 'the kubeconfig cannot be read (ENOENT)' });
  });

  for (const [args, reason] of [
    [['credentials'], "required option '--secret <name>' not specified"],
    [['credentials', '--secret', 'one', '--label', 'two'], 'must be KEY=VALUE'],
    [['credentials', '--secret', 'one', 'nobody'], "there is no service 'nobody'"],
    [['migrate', '--wait', 'long'], 'must be a number of seconds'],
  ] as const)
    it(`refuse: ${args.join(' ')}`, async () => {
      const { code, text } = await run(args, { HOME: '/nowhere', KUBECONFIG: '' });
      expect(code).to.equal(1);
      expect(text).to.contain(reason);
    });
});
