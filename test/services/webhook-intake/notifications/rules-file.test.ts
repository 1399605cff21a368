import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../../../services/platform/config/config.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import type { Rules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { followRules } from '../../../../services/webhook-intake/notifications/rules-file.ts';

const event = { source: 'forge', forge: 'github.com', payload: {}, event: 'push', action: null, repository: null, score: 5, senderClass: null };
const rule = (name: string) => `rules: [{ name: ${name}, push: [alerts] }]`;

describe('the file of notification rules', () => {
  let directory: string;
  let file: string;
  before(async () => (directory = await mkdtemp(path.join(tmpdir(), 'rules-'))));
  after(() => rm(directory, { recursive: true }));
  beforeEach(() => writeFile((file = path.join(directory, 'rules.yaml')), rule('first')));

  function follow(check?: (rules: Rules) => readonly string[]) {
    let now = 0;
    const errors: unknown[] = [];
    const metrics = createMetrics();
    const log = { info: () => undefined, error: (fields: unknown) => void errors.push(fields) };
    const rules = followRules({ file, part: 'api', log, metrics, clock: () => (now += 6000), ...(check && { check }) });
    return {
      errors,
      inUse: () => rules.match(event).map(({ rule: name }) => name),
      isCurrent: async () => /signalbox_notification_rules_current\{part="api"\} (\d)/.exec(await metrics.text())?.[1],
    };
  }

  it('is read again when it changes', async () => {
    const { inUse, isCurrent } = follow();
    expect([inUse(), await isCurrent()]).to.deep.equal([['first'], '1']);
    await writeFile(file, rule('second'));
    expect(inUse()).to.deep.equal(['second']);
  });

  it('leaves the old rules in use while it has faults or is gone, says so once in the log and in the metric, and recovers', async () => {
    const { errors, inUse, isCurrent } = follow();
    await writeFile(file, 'rules: 7');
    expect([inUse(), inUse(), await isCurrent(), errors.length]).to.deep.equal([['first'], ['first'], '0', 1]);
    expect(JSON.stringify(errors)).to.contain('rules must be a list');
    await unlink(file);
    expect([inUse(), await isCurrent(), errors.length]).to.deep.equal([['first'], '0', 2]);
    await writeFile(file, rule('first'));
    expect([inUse(), await isCurrent()]).to.deep.equal([['first'], '1']);
    await writeFile(file, rule('third'));
    expect([inUse(), await isCurrent()]).to.deep.equal([['third'], '1']);
  });

  it('counts as current again when its old text is back', async () => {
    const { inUse, isCurrent } = follow();
    await writeFile(file, 'rules: 7');
    inUse();
    await writeFile(file, rule('first'));
    expect([inUse(), await isCurrent()]).to.deep.equal([['first'], '1']);
  });

  it('is refused at the start when it has faults, or names what its reader cannot do', async () => {
    expect(() => follow(() => ['push needs a setting'])).to.throw(ConfigError, 'push needs a setting');
    await writeFile(file, 'rules: 7');
    expect(() => follow()).to.throw(ConfigError, 'rules must be a list');
  });
});
