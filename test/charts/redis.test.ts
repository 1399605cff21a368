// The Redis of the chart, started as its container is: its configuration counts, and its password is no argument.
import { expect } from 'chai';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnGuarded, temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { findProgram } from '../support/programs.ts';
import { eventually, freePort } from '../support/wait.ts';
import { helm, render } from './chart.ts';
import { containersOf, find, podsOf } from './manifests.ts';

const password = 'redis_password-1';
const program = findProgram('redis-server');
const need = { name: 'Redis of the chart', missing: helm.missing ?? (program ? undefined : 'no redis-server on PATH') };

async function ask(port: number, ...commands: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  socket.end([...commands, 'QUIT', ''].join('\r\n'));
  await once(socket, 'close');
  return answer;
}

describeWith(need, 'Redis of the chart', () => {
  it('wants its password, keeps to its memory, and has no password among its arguments', async () => {
    const manifests = await render({ redis: { enabled: true, maxMemory: '20mb' } });
    const [container] = podsOf([find(manifests, 'Deployment/signalbox-redis')]).flatMap(({ pod }) => containersOf(pod));
    const port = await freePort();
    const script = (container?.args?.[0] ?? '').replace('dir /data', `dir ${temporaryDirectory('redis-data')}\nport ${port}\nbind 127.0.0.1`);
    // In its place, to keep its arguments: it writes a title over them.
    const folder = temporaryDirectory('redis-bin');
    writeFileSync(join(folder, 'redis-server'), `#!/bin/sh\necho "$@" >${folder}/arguments\nexec ${program} "$@"\n`, { mode: 0o755 });
    const child = spawnGuarded(container?.command?.[0] ?? '', ['-ec', script], {
      env: { PATH: `${folder}:${process.env['PATH']}`, REDIS_PASSWORD: password },
      stdio: 'ignore',
    });
    try {
      await eventually(async () => expect(await ask(port, 'PING')).to.contain('NOAUTH'));
      expect(await ask(port, `AUTH ${password}`, 'CONFIG GET maxmemory*'))
        .to.contain('20971520')
        .and.to.contain('volatile-ttl');
      expect(readFileSync(join(folder, 'arguments'), 'utf8'))
        .to.contain('-')
        .and.not.to.contain(password);
    } finally {
      child.kill('SIGKILL');
      await Promise.race([once(child, 'exit'), sleep(5000)]);
    }
  });
});
