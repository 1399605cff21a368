import { expect } from 'chai';
import { noticeOf } from '../../../../services/webhook-intake/forge/service-worker.ts';
import { examples } from '../deliveries.ts';

const told = { event: 'pull_request', action: 'opened', repository: 'railway/signals', sender: 'ada' };

describe('the notice of a forge event', () => {
  it('tells what happened where, who did it, and where to read on', () => {
    const pull = { number: 7, title: 'Repair the points', body: 'They were stuck.', state: 'open', html_url: 'https://forge.test/7' };
    expect(noticeOf(told, { pull_request: pull })).to.deep.equal({
      title: '[railway/signals] pull_request opened #7: Repair the points',
      text: 'By ada\nState: open\nThey were stuck.',
      url: 'https://forge.test/7',
    });
  });

  it('tells the words of a comment, under the title of what it is about', () => {
    const payload = { issue: { number: 3, title: 'Red', body: 'old' }, comment: { body: 'new', html_url: 'https://forge.test/c' } };
    const notice = noticeOf({ ...told, event: 'issue_comment', action: 'created' }, payload);
    expect(notice).to.deep.equal({ title: '[railway/signals] issue_comment created #3: Red', text: 'By ada\nnew', url: 'https://forge.test/c' });
  });

  it('tells a push by the first line of its last commit', () => {
    const payload = { ref: 'refs/heads/red', head_commit: { message: 'Subject\n\nBody' }, compare: 'https://forge.test/compare' };
    const notice = noticeOf({ ...told, event: 'push', action: null }, payload);
    expect(notice).to.include({ title: '[railway/signals] push: Subject', url: 'https://forge.test/compare' });
  });

  const named: readonly (readonly [event: string, payload: object, called: string, url: string | null])[] = [
    ['dependabot_alert', { alert: { html_url: 'https://f.test/a', security_advisory: { summary: 'Leak' } } }, 'Leak', 'https://f.test/a'],
    [
      'code_scanning_alert',
      { alert: { html_url: 'https://f.test/a', rule: { description: 'Bad query' } }, ref: 'refs/heads/red' },
      'Bad query',
      'https://f.test/a',
    ],
    ['secret_scanning_alert', { alert: { secret_type_display_name: 'A token' } }, 'A token', null],
    ['package', { package: { name: 'lamp', html_url: 'https://f.test/p' } }, 'lamp', 'https://f.test/p'],
    ['fork', { forkee: { name: 'signals', full_name: 'ada/signals', html_url: 'https://f.test/ada/signals' } }, 'ada/signals', 'https://f.test/ada/signals'],
    ['member', { member: { login: 'bea', html_url: 'https://f.test/bea' } }, 'bea', 'https://f.test/bea'],
    ['status', { context: 'ci/lamps', target_url: 'https://ci.test/1', state: 'failure' }, 'ci/lamps', 'https://ci.test/1'],
    ['check_suite', { check_suite: { head_branch: 'red' } }, 'red', null],
    ['installation_repositories', { installation: { html_url: 'https://f.test/i' } }, '', 'https://f.test/i'],
  ];
  for (const [event, payload, called, url] of named) {
    it(`names and links what ${event} is about`, () => {
      const notice = noticeOf({ ...told, event, action: null }, payload);
      expect(notice).to.include({ title: `[railway/signals] ${event}${called && `: ${called}`}`, url });
    });
  }

  it('has a title for every event of the forge', () => {
    for (const { event, payload } of examples) expect(noticeOf({ ...told, event }, payload).title).to.contain(event);
  });

  it('takes any payload', () => {
    for (const payload of [null, [], 'text', 1, { comment: 1, issue: [], pull_request: { title: {}, number: 'x' } }]) {
      expect(noticeOf({ ...told, repository: null, sender: null }, payload)).to.deep.equal({ title: 'pull_request opened', text: '', url: null });
    }
  });
});
