// The programs of the pages on applications and events, run as they stand with the client packages installed, against real services.
import { execFile } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { blocksOf } from '../../scripts/site/pages.ts';
import { manage, newApplication, putSecret, secretValue, useService } from '../services/secrets/service.ts';
import { createDashboard, type Dashboard, tokens } from '../services/webhook-intake/dashboard/ground.ts';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../support/guard.ts';
import { describeWith, type Need } from '../support/need.ts';
import { eventually } from '../support/wait.ts';
import { installNpmPackage, installWheel, oldNode, pythonPackage } from './packages.ts';

type Language = { readonly name: string; readonly need: Need; readonly ending: string; install(folder: string): Promise<string> };
const languages: readonly Language[] = [
  { name: 'Node', need: { name: 'npm', missing: undefined }, ending: 'mjs', install: async (folder) => (await installNpmPackage(folder), oldNode) },
  { name: 'Python', need: pythonPackage, ending: 'py', install: installWheel },
];

for (const { name, need, ending, install } of languages) {
  describeWith(need, `the programs of the pages in ${name}`, function () {
    this.timeout(300_000);
    const server = useService();
    const folder = temporaryDirectory('programs');
    let dashboard: Dashboard;
    let command: string;
    before(async () => {
      command = await install(folder);
      dashboard = await createDashboard();
    });
    after(() => dashboard?.close());

    /** @returns the name of the file */
    function write(page: string, program: string, change: (text: string) => string = (text) => text): string {
      const file = `${program}.${ending}`;
      const block = blocksOf(page).find((one) => one.file === file);
      writeFileSync(join(folder, file), change(block?.text ?? expect.fail(`${page} has no ${file}`)));
      return file;
    }

    it('read a secret', async () => {
      const { slug, key } = await newApplication(server.url);
      const value = secretValue('a password');
      await manage(server.url, 'POST', `/${slug}/environments`, { name: 'production' });
      await putSecret(server.url, slug, 'db-password', { value, environmentSlug: 'production' });
      const env = { ...process.env, SIGNALBOX_SECRETS_URL: server.url, SIGNALBOX_APPLICATION_KEY: key };
      const { stdout } = await promisify(execFile)(command, [write('docs/applications.md', 'read')], { cwd: folder, env });
      expect(stdout).to.equal(`${value}\n`);
    });

    it('follow events, and go on where they were', async () => {
      const file = write('docs/follow-events.md', 'follow', (text) => text.replace('http://127.0.0.1:8082', dashboard.url));
      const cursor = join(folder, 'cursor');
      rmSync(cursor, { force: true });
      const start = () => {
        let printed = '';
        const env = { ...process.env, Intake__AccessTokens: tokens.join(',') };
        const child = spawnGuarded(command, [file], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
        child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
        const ended = new Promise((resolve) => child.once('close', resolve));
        return { printed: () => printed, kill: async () => (signalGroup(child.pid ?? 0, 'SIGKILL'), await ended) };
      };
      const deliver = (number: number) =>
        dashboard.deliver(
          [{ event: 'issues', payload: { action: 'opened', issue: { number, title: `Issue ${number}` }, repository: { full_name: 'me/mine' } } }],
          {
            only: 'events',
          },
        );
      const first = start();
      await eventually(() => existsSync(cursor), { withinMs: 60_000 });
      await deliver(1);
      await eventually(() => first.printed().includes('Issue 1'));
      await first.kill();
      await deliver(2);
      const second = start();
      await eventually(() => second.printed().includes('Issue 2'), { withinMs: 60_000 });
      await second.kill();
    });
  });
}
