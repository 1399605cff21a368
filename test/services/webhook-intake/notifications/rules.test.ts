import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../../../services/platform/config/config.ts';
import { type Matchable, parseRules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { readRules } from '../../../../services/webhook-intake/notifications/rules-file.ts';
import { expectLinearTime } from '../../../support/linear-time.ts';

const event: Matchable = {
  source: 'forge',
  forge: 'forge.example.test',
  event: 'issues',
  action: 'opened',
  repository: 'railway/signals',
  score: 6,
  senderClass: 'person',
  payload: { issue: { number: 7, locked: false, milestone: null, user: { login: 'Ada' }, labels: [{ name: 'signal' }, { name: 'bug' }], 'a/b': 'slash' } },
};
const ruleWhen = (when: string) => parseRules(`rules: [{ name: one, smtp: [ada@example.org], when: ${when} }]`);
const matches = (when: string, other: Partial<Matchable> = {}) => ruleWhen(when).match({ ...event, ...other }).length === 1;
const faultsOf = (text: string): readonly string[] => {
  try {
    parseRules(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
};

describe('notification rules', () => {
  it('match every event where they name no condition', () => {
    expect(parseRules('rules: [{ name: all, push: [alerts] }]').match({ ...event, action: null, repository: null, senderClass: null })).to.deep.equal([
      { rule: 'all', recipients: [{ channel: 'push', recipient: 'alerts' }] },
    ]);
  });

  it('match on the source', () => expect([matches('{ source: forge }'), matches('{ source: [sentry, snyk] }')]).to.deep.equal([true, false]));
  it('match on the forge', () =>
    expect([matches('{ forge: "*.example.test" }'), matches('{ forge: github.com }'), matches('{ forge: "*" }', { forge: null })]).to.deep.equal([
      true,
      false,
      false,
    ]));
  it('match on members of the payload', () => {
    const holding = ['/issue/user/login: ada', '/issue/labels/*/name: [bug, fault]', '/issue/labels/0/name: s*', '/issue/number: 7', '/issue/locked: false'];
    for (const condition of [...holding, '/issue/milestone: null', '/issue/a~1b: slash'])
      expect(matches(`{ payload: { ${condition} } }`), condition).to.equal(true);
    const failing = [
      '/issue/user/login: bob',
      '/issue/labels/*/name: fault',
      '/issue/labels/2/name: "*"',
      '/issue/number: "7"',
      '/issue/locked: true',
      '/nothing: "*"',
    ];
    for (const condition of failing) expect(matches(`{ payload: { ${condition} } }`), condition).to.equal(false);
    expect(matches('{ payload: { /issue/number: 7, /issue/locked: true } }')).to.equal(false);
    expect(faultsOf('rules: [{ name: one, push: [a], when: { payload: { issue: x } } }]').join()).to.contain('must be a JSON pointer');
  });
  it('match sentences whatever slashes they have, and names up to the slash', () => {
    const titled = (title: string) => ({ payload: { issue: { title } } });
    const about = (pattern: string) => `{ payload: { /issue/title: '${pattern}' } }`;
    for (const pattern of ['*broken*', '*and/or*', '*/or lamp', 'The signal*'])
      expect(matches(about(pattern), titled('The signal is broken and/or lamp')), pattern).to.equal(true);
    expect(matches(about('*signal'), titled('The signal is broken and/or lamp'))).to.equal(false);
    expect([matches(about('refs/heads/*'), titled('refs/heads/red/lamp')), matches(about('refs/heads/**'), titled('refs/heads/red/lamp'))]).to.deep.equal([
      false,
      true,
    ]);
  });
  it('take a name of any length in the time of its length', () =>
    expectLinearTime((parts) => matches('{ repository: "railway/*-*-*-*" }', { repository: `railway/${'-'.repeat(parts * 12_500)}` })));
  it('match on the event', () => expect([matches('{ event: [push, issue*] }'), matches('{ event: issue }')]).to.deep.equal([true, false]));
  it('match on the action', () => {
    expect([matches('{ action: opened }'), matches('{ action: closed }'), matches('{ action: "*" }', { action: null })]).to.deep.equal([true, false, false]);
  });
  it('match on the repository, in any letter case', () => {
    expect([matches('{ repository: Railway/* }'), matches('{ repository: other/* }'), matches('{ repository: "*/*" }', { repository: null })]).to.deep.equal([
      true,
      false,
      false,
    ]);
  });
  it('match on the minimum score', () => expect([matches('{ minimumScore: 6 }'), matches('{ minimumScore: 7 }')]).to.deep.equal([true, false]));
  it('match on the class of the sender', () => {
    expect([
      matches('{ senderClass: [owner, person] }'),
      matches('{ senderClass: bot }'),
      matches('{ senderClass: bot }', { senderClass: null }),
    ]).to.deep.equal([true, false, false]);
  });
  it('match only where every condition holds', () => expect(matches('{ event: issues, minimumScore: 7 }')).to.equal(false));

  it('name no recipient twice in one rule, whatever the letter case of an address', () => {
    const rules = parseRules('rules: [{ name: one, smtp: [Ada@example.org, ada@example.org], push: [a, a] }]');
    expect(rules.match(event)[0]?.recipients).to.deep.equal([
      { channel: 'smtp', recipient: 'ada@example.org' },
      { channel: 'push', recipient: 'a' },
    ]);
  });

  it('are refused with the place and the reason of every fault', () => {
    const faults = faultsOf(`
rules:
  - { name: one, smtp: [nobody], when: { minimumScore: 11, colour: red } }
  - { name: "two\\n", push: [a/b] }
  - { name: three }
`);
    for (const place of [
      'rules[0].smtp[0] must be a mail address',
      'rules[0].when.minimumScore must be',
      'rules[0].when',
      'colour',
      'rules[1].name',
      'rules[1].push[0]',
      'rules[2] must have a recipient in smtp, push or webhook',
    ]) {
      expect(faults.join('\n')).to.contain(place);
    }
    for (const fault of faults) expect(fault).to.match(/^Notifications__RulesFile: /);
  });

  it('are refused with a pattern of more than 200 characters, which would take long to match', () => {
    const fault = (length: number) => faultsOf(`rules: [{ name: a, push: [x], when: { repository: '${'-'.repeat(length)}' } }]`).join();
    expect(fault(200)).to.equal('');
    expect(fault(201)).to.contain('rules[0].when.repository');
  });

  it('are refused when two have one name, an address holds a line end or a password, or there are none', () => {
    expect(faultsOf('rules: [{ name: a, push: [x] }, { name: a, push: [y] }]').join()).to.contain('rules must have a name of its own');
    expect(faultsOf('rules: [{ name: a, smtp: ["ada@example.org\\nBcc: eve@example.org"] }]').join()).to.contain('rules[0].smtp[0]');
    expect(faultsOf('rules: [{ name: a, webhook: ["https://ada:secret@receiver.test/"] }]').join()).to.equal(
      'Notifications__RulesFile: rules[0].webhook[0] must be a URL of http or https without user and password',
    );
    expect(faultsOf('').join()).to.contain('the file must be a map');
    expect(faultsOf('{}').join()).to.contain('rules is required');
  });

  it('tell the line of what is not YAML, and nothing of its content', () => {
    expect(faultsOf('rules:\n  - "password: secret')).to.satisfy(
      ([fault]: string[]) => fault?.includes('is not YAML at line 2') === true && !fault.includes('secret'),
    );
    expect(faultsOf(`a: &a [x, x]\n${[...'bcdefghij'].map((name, n) => `${name}: &${name} [${`*${'abcdefghij'[n]},`.repeat(9)}]`).join('\n')}`)[0]).to.contain(
      'is not YAML',
    );
  });

  it('are read as the pages have them', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../../docs/notifications.md'), 'utf8');
    const examples = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
    expect(examples).to.not.be.empty;
    for (const example of examples) {
      const rules = parseRules(example);
      const told = (one: Partial<Matchable>) => rules.match({ ...event, ...one }).map(({ rule }) => rule);
      expect(told({ event: 'secret_scanning_alert', action: 'created', score: 5 })).to.deep.equal(['security']);
      expect(told({ source: 'vercel', event: 'deployment.error', action: null, repository: null, senderClass: null, score: 8 })).to.deep.equal([
        'builds that failed',
      ]);
      expect(told({ score: 8 })).to.deep.equal(['what people do']);
    }
  });

  it('are none without a file, and a file that is not there is refused', () => {
    expect(readRules(undefined).match(event)).to.deep.equal([]);
    expect(() => readRules('/nowhere/rules.yaml')).to.throw(ConfigError, 'cannot be read (ENOENT)');
  });
});
