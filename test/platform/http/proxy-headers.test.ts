// Headers that only a proxy may set: they are there for handlers and guards when its own socket sent them, once.
import { expect } from 'chai';
import { z } from 'zod';
import { route } from '../../../services/platform/http/route.ts';
import { startApp, stopApps } from './app-fixture.ts';

describe('proxyHeaders', () => {
  after(stopApps);
  const start = (from: readonly string[]) =>
    startApp({
      proxyHeaders: { names: ['remote-user', 'remote-groups'], from },
      addressOf: () => '10.0.0.1',
      routes: [
        route({
          method: 'get',
          path: '/who',
          summary: 's',
          answers: { 200: z.object({ user: z.string(), groups: z.string() }) },
          handle: ({ headers }) => ({ user: String(headers['remote-user']), groups: String(headers['remote-groups']) }),
        }),
      ],
    });
  const ask = (port: number, ...lines: readonly string[]) =>
    ['GET /who HTTP/1.1', `Host: localhost:${port}`, ...lines, 'Connection: close', '', ''].join('\r\n');

  it('are kept of an address that may set them', async () => {
    for (const from of [['127.0.0.1'], ['127.0.0.0/8', '::1'], ['0.0.0.0/0']]) {
      const { raw, port } = await start(from);
      expect(await raw(ask(port, 'Remote-User: anna', 'Remote-Groups: a,b'))).to.include('{"user":"anna","groups":"a,b"}');
    }
  });

  it('are taken away from requests of any other, whatever X-Forwarded-For says, and the log says so once', async () => {
    const { raw, port, lines } = await start(['10.0.0.1']);
    for (const forwarded of ['10.0.0.1', '10.0.0.1, 10.0.0.1'])
      expect(await raw(ask(port, 'Remote-User: anna', 'Remote-User: otto', 'Remote-Groups: a', `X-Forwarded-For: ${forwarded}`))).to.include(
        '{"user":"undefined","groups":"undefined"}',
      );
    expect(lines().filter(({ level }) => level === 'warn')).to.have.length(1);
  });

  it('are refused where one came twice, in any case of letters', async () => {
    const { raw, port } = await start(['127.0.0.1']);
    expect(await raw(ask(port, 'Remote-User: anna', 'remote-user: anna'))).to.match(/^HTTP\/1.1 400 /);
    expect(await raw(ask(port, 'Remote-User: anna', 'Remote-Groups: a', 'REMOTE-GROUPS: b'))).to.match(/^HTTP\/1.1 400 /);
  });

  it('may be missing', async () => {
    const { raw, port } = await start(['127.0.0.1']);
    expect(await raw(ask(port))).to.include('{"user":"undefined","groups":"undefined"}');
  });
});
