// The receivers of the page on notifications, as they stand but for their port.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { blocksOf } from '../../../../scripts/site/pages.ts';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { signStandard } from '../../../../services/platform/http/standard-webhooks.ts';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../../../support/guard.ts';
import { describeWith, type Need } from '../../../support/need.ts';
import { commandLine } from '../../../support/programs.ts';
import { eventually, freePort } from '../../../support/wait.ts';

const programs: readonly { readonly command: string; readonly file: string; readonly need: Need }[] = [
  { command: process.execPath, file: 'receive.mjs', need: { name: 'Node', missing: undefined } },
  { command: 'python3', file: 'receive.py', need: commandLine('python3') },
];
const secrets = [`whsec_${Buffer.from('a key of sixteen bytes').toString('base64')}`, 'a key as text'];
const body = JSON.stringify({ type: 'forge.issues', data: { title: 'Hello' } });

for (const { command, file, need } of programs) {
  describeWith(need, `the receiver ${file}`, function () {
    this.timeout(60_000);
    for (const secret of secrets)
      it(`takes what is signed by ${secret.startsWith('whsec_') ? 'whsec_…' : 'a text'}, and nothing else`, async () => {
        const folder = temporaryDirectory('receiver');
        const port = await freePort();
        const block = blocksOf('docs/notifications.md').find((one) => one.file === file) ?? expect.fail(`the page has no ${file}`);
        writeFileSync(join(folder, file), block.text.replace('9000', String(port)));
        const child = spawnGuarded(command, [file], { cwd: folder, env: { ...process.env, WEBHOOK_SECRET: secret }, stdio: ['ignore', 'pipe', 'inherit'] });
        let printed = '';
        child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
        const ended = new Promise((resolve) => child.once('close', resolve));
        const now = Math.floor(Date.now() / 1000);
        const signed = (by: string, timestamp: number) => signStandard([new Secret('another secret'), new Secret(by)], { id: 'msg-1', timestamp, body });
        const send = async (headers: Record<string, string>, text = body) =>
          (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text })).status;
        try {
          await eventually(async () => expect(await send(signed(secret, now))).to.equal(204), { withinMs: 30_000 });
          await eventually(() => expect(printed).to.equal('msg-1 forge.issues Hello\n'));
          expect(await send(signed('a third secret', now))).to.equal(401);
          expect(await send(signed(secret, now - 600))).to.equal(401);
          expect(await send(signed(secret, now), `${body} `)).to.equal(401);
          expect(await send({})).to.equal(401);
          expect(printed).to.equal('msg-1 forge.issues Hello\n');
        } finally {
          signalGroup(child.pid ?? 0, 'SIGKILL');
          await ended;
        }
      });
  });
}
