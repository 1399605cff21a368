// The scores of deliveries that a Gitea made, by GitHub's words for their events and actions.
import { expect } from 'chai';
import { readIdentity, translate } from '../../../../services/forges/forges.ts';
import { createScoring } from '../../../../services/webhook-relay/scoring/scoring.ts';
import { readTables } from '../../../../services/webhook-relay/scoring/tables.ts';
import { giteaDelivery } from '../../forges/deliveries.ts';

const scoring = createScoring({ tables: readTables(), ownerLogins: [], ownBotLogins: [] });

function scoreOf(name: string) {
  const { headers, payload } = giteaDelivery(name);
  const identity = readIdentity(headers);
  return scoring.score({ ...translate(identity.forge, identity, payload), eventsPerMinute: 0 });
}

describe('the score of a delivery of Gitea', () => {
  for (const review of ['review-approved', 'review-rejected', 'review-commented']) {
    it(`is that of a submitted review for ${review}`, () => {
      expect(scoreOf(review)).to.include({ eventType: 'pull_request_review', action: 'submitted', baseScore: 7, actionModifier: 0, finalScore: 7 });
    });
  }
  it('counts a changed label as labeled', () => {
    expect(scoreOf('issue-label-updated')).to.include({ baseScore: 6, actionModifier: -3, isCoreFunction: true, finalScore: 5 });
  });
  it('counts the user of its actions as a bot', () => {
    expect(scoreOf('issue-opened-by-actions')).to.include({ senderClass: 'bot', senderMultiplier: 0.6, finalScore: 4 });
  });
  it('counts new commits of a pull request as synchronize', () => {
    expect(scoreOf('pull-request-synchronized')).to.include({ action: 'synchronize', baseScore: 7, actionModifier: 0, finalScore: 7 });
  });
  it('counts a page of the wiki as GitHub counts it, whatever its action', () => {
    expect(scoreOf('wiki-edited')).to.include({ eventType: 'gollum', action: 'edited', baseScore: 2, actionModifier: 0, finalScore: 2 });
  });
  it('counts a push to the default branch', () => {
    expect(scoreOf('push-many')).to.include({ baseScore: 7, actionModifier: 1, finalScore: 8 });
  });
});
