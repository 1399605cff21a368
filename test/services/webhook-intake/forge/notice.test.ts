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
    ['merge_group', { merge_group: { head_commit: { message: 'Merge 7\n\nBody' } } }, 'Merge 7', null],
    ['sub_issues', { sub_issue: { title: 'Lamp', html_url: 'https://f.test/2' }, parent_issue: { title: 'Signal' } }, 'Lamp', 'https://f.test/2'],
    ['issue_dependencies', { blocked_issue: { title: 'Lamp' }, blocking_issue: { title: 'Wire' } }, 'Lamp', null],
    ['secret_scanning_alert_location', { alert: { secret_type: 'a_token', html_url: 'https://f.test/a' } }, 'a_token', 'https://f.test/a'],
    ['repository_vulnerability_alert', { alert: { affected_package_name: 'lamp', external_reference: 'https://n.test/1' } }, 'lamp', 'https://n.test/1'],
    ['security_advisory', { security_advisory: { summary: 'Leak', references: [{ url: 'https://f.test/g' }] } }, 'Leak', 'https://f.test/g'],
    ['repository_ruleset', { repository_ruleset: { name: 'main', _links: { html: { href: 'https://f.test/r' } } } }, 'main', 'https://f.test/r'],
    ['page_build', { build: { status: 'errored', error: { message: 'No such theme' } } }, 'No such theme', null],
    ['deployment_protection_rule', { environment: 'production' }, 'production', null],
    ['organization', { membership: { user: { login: 'bea', html_url: 'https://f.test/bea' } } }, 'bea', 'https://f.test/bea'],
    ['org_block', { blocked_user: { login: 'bea', html_url: 'https://f.test/bea' } }, 'bea', 'https://f.test/bea'],
    ['projects_v2', { projects_v2: { title: 'Plan' } }, 'Plan', null],
    ['personal_access_token_request', { personal_access_token_request: { token_name: 'lamps' } }, 'lamps', null],
  ];
  for (const [event, payload, called, url] of named) {
    it(`names and links what ${event} is about`, () => {
      const notice = noticeOf({ ...told, event, action: null }, payload);
      expect(notice).to.include({ title: `[railway/signals] ${event}${called && `: ${called}`}`, url });
    });
  }

  const accounts: readonly (readonly [title: string, payload: object])[] = [
    ['[railway] team edited: lamps', { organization: { login: 'railway' }, team: { name: 'lamps' } }],
    ['[railway] team edited', { installation: { account: { login: 'railway' } } }],
    ['[railways] team edited', { enterprise: { slug: 'railways' } }],
    ['[railway] team edited: lamp', { package: { name: 'lamp', owner: { login: 'railway' } } }],
  ];
  for (const [title, payload] of accounts) {
    it(`names the account of an event without a repository: ${title}`, () =>
      expect(noticeOf({ event: 'team', action: 'edited', repository: null, sender: 'ada' }, payload)).to.include({ title, text: 'By ada' }));
  }

  const texts: readonly (readonly [text: string, payload: object])[] = [
    ['By ada\nMember: bea', { team: { name: 'lamps' }, member: { login: 'bea' } }],
    ['By ada\nFormerly: lamps', { changes: { repository: { name: { from: 'lamps' } } } }],
    ['By ada\nFormerly: bea', { changes: { owner: { from: { user: { login: 'bea' } } } } }],
    ['By ada\nFormerly: tram', { changes: { login: { from: 'tram' } } }],
    ['By ada\nVersion: 1.2', { package: { name: 'lamp', version: '1.2' } }],
    ['By ada\nVersion: 1.3', { registry_package: { name: 'lamp', package_version: { version: '1.3' } } }],
    ['By ada\nState: errored', { build: { status: 'errored', error: {} } }],
  ];
  for (const [text, payload] of texts) {
    it(`tells ${text.split('\n')[1]}`, () => expect(noticeOf(told, payload).text).to.equal(text));
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
