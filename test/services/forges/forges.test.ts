// Which forge a delivery comes from, and what its headers tell.
import { expect } from 'chai';
import { forgeIdOf, forgeOfKind, recognise, readIdentity, repositoryOf } from '../../../services/forges/forges.ts';
import { github } from '../../../services/forges/github.ts';
import { giteaDelivery } from './deliveries.ts';

describe('recognise', () => {
  const forgejo = { 'x-forgejo-event': 'push', 'x-gitea-event': 'push', 'x-github-event': 'push' };

  it('takes GitHub where only the headers of GitHub, the neutral ones or none came', () => {
    for (const headers of [{ 'x-github-event': 'push' }, { 'x-forge-event': 'push' }, {}]) expect(recognise(headers).kind).to.equal('github');
  });
  it('takes Gitea for its headers beside those of GitHub', () => {
    expect(recognise(giteaDelivery('push-many').headers).kind).to.equal('gitea');
  });
  it('takes Forgejo for its headers beside those of Gitea and GitHub', () => {
    expect(recognise(forgejo).kind).to.equal('forgejo');
  });
  it('takes Forgejo for an event that is empty, as those of packages are', () => {
    expect(recognise({ ...forgejo, 'x-forgejo-event': '' }).kind).to.equal('forgejo');
  });
});

describe('forgeOfKind', () => {
  it('finds each forge by its kind, and GitHub for any other', () => {
    for (const kind of ['github', 'gitea', 'forgejo']) expect(forgeOfKind(kind).kind).to.equal(kind);
    for (const kind of ['gitlab', '', undefined, 'constructor']) expect(forgeOfKind(kind).kind).to.equal('github');
  });
});

describe('readIdentity', () => {
  for (const forge of ['github', 'forge', 'gitea', 'forgejo']) {
    it(`reads x-${forge}-event and x-${forge}-delivery`, () => {
      expect(readIdentity({ [`x-${forge}-event`]: 'push', [`x-${forge}-delivery`]: 'd-1' })).to.deep.include({ event: 'push', deliveryId: 'd-1' });
    });
  }
  for (const forge of ['github', 'forge']) {
    it(`reads hook and target of x-${forge}-…`, () => {
      const headers = { [`x-${forge}-hook-id`]: '7', [`x-${forge}-hook-installation-target-id`]: '8', [`x-${forge}-hook-installation-target-type`]: 'user' };
      expect(readIdentity(headers)).to.deep.include({ hookId: '7', targetId: '8', targetType: 'user' });
    });
  }
  it('takes the first that is present', () => {
    expect(readIdentity({ 'x-gitea-event': 'b', 'x-github-event': 'a', 'x-forgejo-event': 'c' }).event).to.equal('a');
  });
  it('reads the finer word of Gitea beside the event', () => {
    expect(readIdentity(giteaDelivery('review-approved').headers)).to.deep.include({
      event: 'pull_request_approved',
      eventType: 'pull_request_review_approved',
      targetType: 'repository',
      hookId: '',
    });
  });
  it('has empty texts for headers that are missing', () => {
    const none = { forge: github, event: '', eventType: '', deliveryId: '', hookId: '', targetId: '', targetType: '', host: '' };
    expect(readIdentity({})).to.deep.equal(none);
  });
  it('cuts what is too long for a message or a row', () => {
    const headers = { 'x-github-event': 'e'.repeat(5000), 'x-github-delivery': 'd'.repeat(5000) };
    const { event, deliveryId } = readIdentity(headers);
    expect([event.length, deliveryId.length]).to.deep.equal([100, 255]);
  });
});

describe('forgeIdOf', () => {
  const page = (host: string) => ({ html_url: `https://${host}/acme` });

  it("is the host of the repository's page, so that two Giteas are two forges", () => {
    const ids = ['two-forges-1', 'two-forges-2'].map((name) => forgeIdOf(forgeOfKind('gitea'), giteaDelivery(name).payload));
    expect(ids).to.deep.equal(['forge.example.test', 'other-forge.example.test']);
  });
  it('keeps the port', () => {
    expect(forgeIdOf(github, { repository: page('forge.example.test:3000') })).to.equal('forge.example.test:3000');
    expect(forgeIdOf(forgeOfKind('forgejo'), { run: { repository: page('fj.example.test') } })).to.equal('fj.example.test');
  });
  it('prefers the header of GitHub Enterprise to pages other than that of the repository', () => {
    expect(forgeIdOf(github, { repository: page('one.test'), sender: page('two.test') }, 'three.test')).to.equal('one.test');
    expect(forgeIdOf(github, { sender: page('two.test') }, 'Three.test')).to.equal('three.test');
  });
  it('is the host of any page that the payload names where there is no repository', () => {
    for (const payload of [
      { organization: page('f.test') },
      { installation: { account: page('f.test') } },
      { account: page('f.test') },
      { sender: page('f.test') },
    ])
      expect(forgeIdOf(github, payload)).to.equal('f.test');
  });
  it('is the kind where nothing tells the host', () => {
    const odd = [null, 7, {}, { repository: null }, { repository: { html_url: 'no url' } }, { sender: { html_url: `https://${'a'.repeat(300)}/` } }];
    for (const payload of odd) expect(forgeIdOf(forgeOfKind('gitea'), payload, '')).to.equal('gitea');
  });
});

describe('repositoryOf', () => {
  it('is the full name', () => {
    expect(repositoryOf({ repository: { full_name: 'acme/widget' } })).to.equal('acme/widget');
  });
  it('is cut at 200 characters, and is text that Postgres stores', () => {
    expect(repositoryOf({ repository: { full_name: '-'.repeat(5000) } })).to.have.length(200);
    expect(repositoryOf({ repository: { full_name: 'a\0b' } })).to.equal('a\ufffdb');
  });
  it('is undefined where the payload names none', () => {
    for (const payload of [null, [], {}, { repository: { full_name: '' } }, { repository: { full_name: 7 } }])
      expect(repositoryOf(payload)).to.equal(undefined);
  });
});
