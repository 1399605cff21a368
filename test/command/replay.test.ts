// `signalbox replay`, against a real intake.
import { expect } from 'chai';
import { createCommand } from '../../services/command/command.ts';
import { eventually } from '../support/wait.ts';
import { at, createDashboard, type Dashboard, issue, tokens } from '../services/webhook-intake/dashboard/ground.ts';

describe('signalbox replay', () => {
  let dashboard: Dashboard;
  before(async () => {
    dashboard = await createDashboard();
    const one = (deliveryId: string, seconds: number, event = 'issues') => ({ event, payload: issue(seconds), deliveryId, receivedAt: at(seconds) });
    await dashboard.deliver([one('a', 1), one('b', 2), one('c', 3, 'watch')], { only: 'events' });
  });
  after(() => dashboard.close());

  async function run(...options: readonly string[]): Promise<string[]> {
    let text = '';
    const print = (some: string) => void (text += some);
    const environment = { Console__IntakeUrl: dashboard.url, Console__IntakeToken: tokens[0] };
    await createCommand({ environment, print, writeError: print }).parseAsync(['replay', ...options], { from: 'user' });
    return text.trimEnd().split('\n');
  }
  const refusalOf = (...options: readonly string[]) => run(...options).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  const issues = () => dashboard.database.count('issues');

  it('says which events it would be, and replays none of them', async () => {
    const [count, ...ids] = await run('--event', 'issues', '--from', at(0).toISOString(), '--dry-run');
    expect([count, ids.length]).to.deep.equal(['2 events would be replayed', 2]);
    expect(await run('--delivery-id', 'a', '--dry-run')).to.deep.equal(['1 event would be replayed', ids[0]]);
    expect(await issues()).to.equal(0);
  });

  it('chooses events by the class of the sender, by score and by text', async () => {
    await dashboard.database.rows(`update events set score = case delivery_id when 'a' then 9 else 3 end, title = 'title of ' || delivery_id`);
    const chosen = async (...options: readonly string[]) => (await run(...options, '--dry-run'))[0];
    expect(await chosen('--sender-class', 'person')).to.equal('3 events would be replayed');
    expect(await chosen('--sender-class', 'bot')).to.equal('0 events would be replayed');
    expect(await chosen('--min-score', '9')).to.equal('1 event would be replayed');
    expect(await chosen('--min-score', '3', '--q', 'title of b')).to.equal('1 event would be replayed');
    expect(await refusalOf('--min-score', 'high')).to.match(/^webhook-intake answered 400 \(minScore /);
  });

  it('starts a run, which takes the events through the tables', async () => {
    const [line = ''] = await run('--event', 'issues', '--no-notify');
    expect(line).to.match(/^run [0-9a-f-]{36} replays 2 events$/);
    await eventually(async () => expect(await issues()).to.equal(2));
  });

  it('passes on why the intake refuses', async () => {
    expect(await refusalOf()).to.match(/^webhook-intake answered 400 \(from is needed, or /);
    expect(await refusalOf('--from', 'yesterday')).to.match(/^webhook-intake answered 400 \(from .*time/);
    expect(await refusalOf('--event', 'unheard')).to.match(/^webhook-intake answered 404 \(/);
    expect(await refusalOf('--resume', '019b76da-a800-7000-8000-5f3c1e2d4a6b')).to.match(/^webhook-intake answered 4\d\d \(/);
  });
});
