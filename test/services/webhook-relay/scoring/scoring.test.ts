// The rules of the score: every row of the specification's tables, the sender's part, and what hostile payloads do to it.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { z } from 'zod';
import { createScoring } from '../../../../services/webhook-relay/scoring/scoring.ts';
import { readTables } from '../../../../services/webhook-relay/scoring/tables.ts';

const scoring = createScoring({ tables: readTables(), ownerLogins: ['Octocat'], ownBotLogins: ['release-bot[bot]', 'ci-user'] });
const score = (event: string, payload: unknown, eventsPerMinute = 0) => scoring.score({ event, payload, eventsPerMinute });

// As the specification writes them, so that the data file is held against it and not against itself.
const basePoints: Readonly<Record<number, string>> = {
  10: 'secret_scanning_alert',
  9: 'installation, public, repository_advisory',
  8: 'issue_comment, release, code_scanning_alert, dependabot_alert, repository_vulnerability_alert, installation_repositories',
  7: 'pull_request, pull_request_review, push, repository, merge_group, branch_protection_rule, repository_ruleset, deploy_key, deployment_review, deployment_protection_rule, github_app_authorization, personal_access_token_request',
  6: 'issues, pull_request_review_comment, deployment_status, security_advisory, member, organization, marketplace_purchase, meta, workflow_dispatch, repository_dispatch',
  5: 'workflow_run, deployment, create, delete, commit_comment, discussion, package, registry_package, org_block, membership, ping, sponsorship',
  4: 'discussion_comment, pull_request_review_thread, team, team_add, repository_import, never_seen_before',
  3: 'check_run, check_suite, fork, sub_issues, issue_dependencies',
  2: 'workflow_job, status, label, milestone, page_build, gollum, project, project_card, project_column, projects_v2, projects_v2_item, projects_v2_status_update',
  1: 'star, watch',
};

const actionPoints: Readonly<Record<string, string>> = {
  '2': 'requested_action, rerequested, publicly_leaked, publicized, release.published',
  '1': 'opened, reopened, created, published, ready_for_review, completed, pull_request.closed, installation.deleted, installation.suspend',
  '0': 'closed, deleted, synchronize, review_requested, submitted, never_seen_before',
  '-1': 'queued, waiting, assigned, release.created',
  '-2': 'edited, requested, unassigned, locked, unlocked, converted_to_draft',
  '-3': 'labeled, unlabeled, milestoned, demilestoned, pinned, unpinned, in_progress, resolved, dismissed, fixed',
  '-4': 'issue_comment.edited, issue_comment.deleted',
};

describe('the base score', () => {
  for (const [points, events] of Object.entries(basePoints)) {
    for (const event of events.split(', ')) {
      it(`of ${event} is ${points}`, () => expect(score(event, {}).baseScore).to.equal(Number(points)));
    }
  }
});

describe("the action's modifier", () => {
  for (const [points, entries] of Object.entries(actionPoints)) {
    for (const entry of entries.split(', ')) {
      const [event, action] = entry.includes('.') ? entry.split('.') : ['fork', entry];
      it(`of ${entry} is ${points}`, () => expect(score(event ?? '', { action }).actionModifier).to.equal(Number(points)));
    }
  }

  it('is 0 when the payload names no action', () => {
    expect(score('push', {})).to.include({ action: '', actionModifier: 0 });
  });
});

describe('the hints of a payload', () => {
  const push = (ref: string, deleted = false) => ({ ref, deleted, repository: { default_branch: 'main' } });
  const rows: readonly [name: string, event: string, payload: unknown, points: number][] = [
    ...['failure', 'timed_out', 'action_required', 'startup_failure'].map(
      (conclusion) => [`a run concluded ${conclusion}`, 'workflow_run', { workflow_run: { conclusion } }, 2] as [string, string, unknown, number],
    ),
    ['a job concluded failure', 'workflow_job', { workflow_job: { conclusion: 'failure' } }, 2],
    ['a check run concluded timed_out', 'check_run', { check_run: { conclusion: 'timed_out' } }, 2],
    ['a check suite concluded failure, completed', 'check_suite', { action: 'completed', check_suite: { conclusion: 'failure' } }, 3],
    ['a run concluded success', 'workflow_run', { workflow_run: { conclusion: 'success' } }, 0],
    ['a status in state failure', 'status', { state: 'failure' }, 2],
    ['a status in state error', 'status', { state: 'error' }, 2],
    ['a status in state pending', 'status', { state: 'pending' }, 0],
    ['a deployment in state error', 'deployment_status', { deployment_status: { state: 'error' } }, 2],
    ['an issue in a state called failure', 'issues', { state: 'failure', issues: { state: 'failure' } }, 0],
    ['a push to the default branch', 'push', push('refs/heads/main'), 1],
    ['a push to another branch', 'push', push('refs/heads/mainline'), 0],
    ['a push to a tag named like the default branch', 'push', push('refs/tags/main'), 0],
    ['a push that deletes a branch', 'push', push('refs/heads/old', true), -2],
    ['a pull request closed and merged', 'pull_request', { action: 'closed', pull_request: { merged: true } }, 2],
    ['a pull request closed without merging', 'pull_request', { action: 'closed', pull_request: { merged: false } }, 1],
    ['a merged pull request that is labeled', 'pull_request', { action: 'labeled', pull_request: { merged: true } }, -3],
  ];
  for (const [name, event, payload, points] of rows) {
    it(`bring ${name} to ${points}`, () => expect(score(event, payload).actionModifier).to.equal(points));
  }
});

describe("the sender's part", () => {
  const from = (login: string, type = 'User') => ({ sender: { login, type } });

  it('ranks owners above people, people above bots, and own bots last', () => {
    expect(score('fork', from('octocat'))).to.include({ senderClass: 'owner', senderMultiplier: 1.2 });
    expect(score('fork', from('somebody'))).to.include({ senderClass: 'person', senderMultiplier: 1 });
    expect(score('fork', from('dependabot[bot]'))).to.include({ senderClass: 'bot', senderMultiplier: 0.6 });
    expect(score('fork', from('renovate', 'Bot'))).to.include({ senderClass: 'bot', senderMultiplier: 0.6 });
    expect(score('fork', from('Release-Bot[bot]', 'Bot'))).to.include({ senderClass: 'own-bot', senderMultiplier: 0.4 });
    expect(score('fork', from('ci-user'))).to.include({ senderClass: 'own-bot', senderMultiplier: 0.4 });
  });

  for (const [rate, factor] of [
    [0, 1],
    [0.99, 1],
    [1, 0.85],
    [4.99, 0.85],
    [5, 0.7],
    [1e9, 0.7],
  ] as const) {
    it(`weighs a person with ${rate} events a minute by ${factor}`, () => {
      expect(score('fork', from('somebody'), rate).senderMultiplier).to.equal(factor);
      expect(scoring.frequencyFactor(rate)).to.equal(factor);
    });
  }

  it('rounds the product of both factors to two decimals, and keeps it at 0.3 or above', () => {
    expect(score('fork', from('octocat'), 1).senderMultiplier).to.equal(1.02);
    expect(score('fork', from('dependabot[bot]'), 1).senderMultiplier).to.equal(0.51);
    expect(score('fork', from('ci-user'), 1).senderMultiplier).to.equal(0.34);
    expect(score('fork', from('ci-user'), 5).senderMultiplier).to.equal(0.3);
  });

  for (const event of ['secret_scanning_alert', 'dependabot_alert', 'repository_vulnerability_alert', 'security_advisory', 'repository_advisory']) {
    it(`does not let a bot lower ${event}, but lets its frequency`, () => {
      expect(score(event, from('dependabot[bot]')).senderMultiplier).to.equal(1);
      expect(score(event, from('ci-user')).senderMultiplier).to.equal(1);
      expect(score(event, from('dependabot[bot]'), 5).senderMultiplier).to.equal(0.7);
    });
  }

  it('is 1, of a person, when there is no sender', () => {
    expect(score('fork', {}, 100)).to.include({ senderLogin: '', senderClass: 'person', senderMultiplier: 1 });
    expect(score('fork', { sender: { type: 'Bot' } }, 100)).to.include({ senderLogin: '', senderClass: 'person', senderMultiplier: 1 });
  });
});

describe('the final score', () => {
  it('clamps the points to 1 and 10 before the sender counts', () => {
    expect(score('star', { action: 'labeled' })).to.include({ baseCalculatedScore: 1, finalScore: 1 });
    expect(score('release', { action: 'published', sender: { login: 'dependabot[bot]' } })).to.include({ baseCalculatedScore: 10, finalScore: 6 });
    expect(score('public', { action: 'publicized', sender: { login: 'octocat' } })).to.include({ baseCalculatedScore: 10, finalScore: 10 });
  });

  it('rounds half up', () => {
    const halves = { ...readTables(), base: { fork: 5, star: 3 }, classes: { owner: 1, person: 0.5, bot: 0.49, 'own-bot': 0.4 } };
    const { score: scoreHalves } = createScoring({ tables: halves, ownerLogins: [], ownBotLogins: [] });
    const finalScore = (event: string, login: string) => scoreHalves({ event, payload: { sender: { login } }, eventsPerMinute: 0 }).finalScore;
    expect(finalScore('fork', 'somebody')).to.equal(3); // 2.5
    expect(finalScore('star', 'a-person')).to.equal(2); // 1.5
    expect(finalScore('fork', 'dependabot[bot]')).to.equal(2); // 2.45
  });

  it('of a core function is at least 5 for people and 4 for bots', () => {
    expect(score('issues', { action: 'labeled', sender: { login: 'somebody' } })).to.include({ isCoreFunction: true, finalScore: 5 });
    expect(score('issues', { action: 'labeled', sender: { login: 'dependabot[bot]' } })).to.include({ isCoreFunction: true, finalScore: 4 });
    expect(score('issues', { action: 'labeled', sender: { login: 'ci-user' } }, 9)).to.include({ isCoreFunction: true, finalScore: 4 });
    expect(score('label', { action: 'deleted', sender: { login: 'somebody' } })).to.include({ isCoreFunction: false, finalScore: 2 });
  });

  for (const event of 'create, delete, issue_comment, issues, pull_request, push, repository, installation, installation_repositories, member, release, workflow_run'.split(
    ', ',
  )) {
    it(`counts ${event} as a core function`, () => expect(score(event, {}).isCoreFunction).to.equal(true));
  }
});

describe('the description of a score', () => {
  it('tells the whole sum', () => {
    expect(score('pull_request', { action: 'opened', sender: { login: 'dependabot[bot]' } }).description).to.equal(
      'pull_request.opened by dependabot[bot]: base 7 +1, bot ×0.6',
    );
  });

  it('leaves out what there is not, and says when the core floor raised it', () => {
    expect(score('ping', {}).description).to.equal('ping: base 5 +0, person ×1');
    expect(score('issues', { action: 'labeled', sender: { login: 'somebody' } }).description).to.equal(
      'issues.labeled by somebody: base 6 -3, person ×1, core at least 5',
    );
  });
});

describe('a hostile payload', () => {
  const bare: unknown = Object.create(null);
  const oddities: readonly unknown[] = [
    bare,
    null,
    undefined,
    true,
    0,
    Number.MAX_VALUE,
    NaN,
    '',
    'text',
    [],
    [[]],
    [null],
    { action: 7 },
    { action: null },
    { action: ['opened'] },
    { action: { toString: null } },
    { sender: 'octocat' },
    { sender: [] },
    { sender: { login: 5 } },
    { sender: { login: {}, type: [] } },
    { repository: 5, ref: 7, deleted: 'yes' },
    { pull_request: [], action: 'closed' },
    { workflow_run: { conclusion: {} } },
    JSON.parse('{"__proto__":{"action":"opened"},"constructor":{"conclusion":"failure"},"sender":{"__proto__":null}}'),
    { action: 'opened', sender: bare },
  ];
  for (const event of ['push', 'pull_request', 'status', 'deployment_status', 'workflow_run', 'constructor', '__proto__', 'toString', '']) {
    it(`is scored all the same as ${event || 'an event without a name'}`, () => {
      for (const payload of oddities) {
        const { finalScore, senderLogin, action } = score(event, payload, Number.NaN);
        expect(finalScore).to.be.within(1, 10);
        expect([senderLogin, action].every((name) => typeof name === 'string')).to.equal(true);
      }
    });
  }

  it('cannot make names longer than 255 characters', () => {
    const long = 'x'.repeat(1_000_000);
    const { eventType, action, senderLogin, description } = score(long, { action: long, sender: { login: long } });
    expect([eventType.length, action.length, senderLogin.length]).to.deep.equal([255, 255, 255]);
    expect(description).to.have.length.below(1000);
  });

  it('has no name that Postgres could not hold', () => {
    const { action, senderLogin, description } = score('issues', { action: 'opened\0', sender: { login: 'half \ud83d' } });
    expect([action, senderLogin]).to.deep.equal(['opened\ufffd', 'half \ufffd']);
    expect(description).to.contain('issues.opened\ufffd by half \ufffd');
  });
});

const Examples = z.array(z.object({ name: z.string(), examples: z.array(z.unknown()) }));

function readDeliveries(): { event: string; payload: unknown }[] {
  const text = readFileSync(new URL(import.meta.resolve('@octokit/webhooks-examples')), 'utf8');
  return Examples.parse(JSON.parse(text)).flatMap(({ name, examples }) => examples.map((payload) => ({ event: name, payload })));
}

describe('the score of the 329 published examples', () => {
  const deliveries = readDeliveries();
  const nobody = { ownerLogins: [], ownBotLogins: [] };

  it('is spread as the specification says, by base, action, hints and bot factor alone', () => {
    const tables = { ...readTables(), coreFloor: { people: 1, bots: 1 } };
    const scoring = createScoring({ tables, ...nobody });
    const counts = Array.from({ length: 10 }, () => 0);
    for (const delivery of deliveries) {
      const { finalScore } = scoring.score({ ...delivery, eventsPerMinute: 0 });
      counts[finalScore - 1] = (counts[finalScore - 1] ?? 0) + 1;
    }
    expect(deliveries).to.have.length(329);
    expect(counts).to.deep.equal([18, 31, 40, 40, 60, 47, 35, 32, 18, 8]);
  });

  it('is an integer from 1 to 10 that agrees with its own parts, at any rate and with every class', () => {
    const scoring = createScoring({ tables: readTables(), ownerLogins: ['Codertocat'], ownBotLogins: ['github-actions[bot]'] });
    for (const delivery of deliveries) {
      for (const eventsPerMinute of [0, 3, 300]) {
        const score = scoring.score({ ...delivery, eventsPerMinute });
        const product = Math.round(score.baseCalculatedScore * score.senderMultiplier * 100) / 100;
        const ranked = Math.min(10, Math.max(1, Math.floor(product + 0.5)));
        const floor = !score.isCoreFunction ? 1 : score.senderClass.endsWith('bot') ? 4 : 5;
        expect(score.finalScore, score.description).to.equal(Math.max(ranked, floor));
        expect(score.baseCalculatedScore).to.equal(Math.min(10, Math.max(1, score.baseScore + score.actionModifier)));
        expect(score.senderMultiplier).to.be.within(0.3, 1.2);
      }
    }
  });
});
