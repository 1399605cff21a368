// A real intake for tests of the console: its app on a real database, filled by its workers, behind a proxy that counts long polls.
import { createDashboard, issue, tokens } from '../../webhook-intake/dashboard/ground.ts';
import { startProxy } from '../proxy.ts';

/** The delivery of an issue that was opened. */
export const opened = (number: number, title = `Issue ${number}`, about: object = {}) => ({
  event: 'issues',
  payload: issue(number, { title, html_url: `https://github.com/railway/signals/issues/${number}` }, about),
  deliveryId: `delivery-${number}`,
});
/** The ids of the rows of a page. */
export const rowsIn = (text: string) => [...text.matchAll(/data-row="([^"]+)"/g)].map(([, id]) => id);

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
    /** The id of the stored event, by that of its delivery. */
    async idOf(deliveryId: string): Promise<string> {
      const [row] = await dashboard.database.rows<{ id: string }>('select id from events where delivery_id = $1', [deliveryId]);
      return row?.id ?? '';
    },
    /** How many long polls wait now. */
    polls: () => polls,
    async close() {
      proxy.close();
      await dashboard.close();
    },
  };
}
