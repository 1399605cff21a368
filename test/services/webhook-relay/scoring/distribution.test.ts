// The score of every example delivery that the forge's own library publishes.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { z } from 'zod';
import { createScoring } from '../../../../services/webhook-relay/scoring/scoring.ts';
import { readTables } from '../../../../services/webhook-relay/scoring/tables.ts';

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
