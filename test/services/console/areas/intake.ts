// A real intake for tests of the console: its app on a real database, filled by its workers, behind a proxy that counts long polls.
import { createDashboard, tokens } from '../../webhook-intake/dashboard/ground.ts';
import { startProxy } from '../proxy.ts';

export type TestIntake = Awaited<ReturnType<typeof startIntake>>;

export async function startIntake(options: Parameters<typeof createDashboard>[0] = {}) {
  const dashboard = await createDashboard(options);
  const proxy = await startProxy(() => dashboard.url);
  let polls = 0;
  let failing = /^$/;
  proxy.meet(({ path, ended }) => {
    if (path.includes('wait=')) {
      polls += 1;
      void ended.then(() => (polls -= 1));
    }
    return failing.test(path) ? 'fail' : undefined;
  });
  return {
    ...dashboard,
    settings: { Console__IntakeUrl: proxy.url, Console__IntakeToken: tokens[0] },
    /** Requests with such a path and query are answered 500. */
    fail: (which: RegExp) => void (failing = which),
    /** How many long polls wait now. */
    polls: () => polls,
    async close() {
      proxy.close();
      await dashboard.close();
    },
  };
}
