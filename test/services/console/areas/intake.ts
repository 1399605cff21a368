// A real intake for tests of the console: its app on a real database, filled by its workers, behind a proxy that counts long polls.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { freePort } from '../../../support/wait.ts';
import { createDashboard, tokens } from '../../webhook-intake/dashboard/ground.ts';

export type TestIntake = Awaited<ReturnType<typeof startIntake>>;

export async function startIntake(options: Parameters<typeof createDashboard>[0] = {}) {
  const dashboard = await createDashboard(options);
  let polls = 0;
  let failing = /^$/;
  const proxy = createServer((asked, answered) => {
    const { method, url = '', headers } = asked;
    const isPoll = url.includes('wait=');
    if (isPoll) polls += 1;
    if (failing.test(url)) return void answered.writeHead(500).end();
    answered.once('close', () => (polls -= Number(isPoll)));
    const forwarded = request(dashboard.url + url, { method, headers }, (answer) => {
      answered.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(answered);
    });
    answered.once('close', () => forwarded.destroy());
    forwarded.on('error', () => answered.destroy());
    asked.pipe(forwarded);
  });
  const port = await freePort();
  proxy.listen(port, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    ...dashboard,
    settings: { Console__IntakeUrl: `http://127.0.0.1:${port}`, Console__IntakeToken: tokens[0] },
    /** Requests with such a path and query are answered 500. */
    fail: (which: RegExp) => void (failing = which),
    /** How many long polls wait now. */
    polls: () => polls,
    async close() {
      proxy.closeAllConnections();
      proxy.close();
      await dashboard.close();
    },
  };
}
