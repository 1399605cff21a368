// The headers that a delivery is read by, and the message that is published.
import { expect } from 'chai';
import { version } from '../../../services/platform/version.ts';
import { identify, senderLogin, toMessage } from '../../../services/webhook-relay/deliveries.ts';
import type { Score } from '../../../services/webhook-relay/scoring/scoring.ts';

const score: Score = {
  eventType: 'issues',
  action: 'opened',
  senderLogin: 'octocat',
  baseScore: 6,
  actionModifier: 1,
  baseCalculatedScore: 7,
  senderMultiplier: 1,
  finalScore: 7,
  description: 'issues.opened by octocat: base 6 +1, person ×1',
  isCoreFunction: true,
  senderClass: 'person',
};

describe('identity of a delivery', () => {
  it("takes the relay's own id for a missing delivery id, and 0 for a missing hook or target", () => {
    expect(identify({}, 'own')).to.deep.include({ event: '', deliveryId: 'own', hookId: '0', targetId: '0', targetType: '' });
  });
});

describe('message of a delivery', () => {
  const receivedAt = new Date('2026-01-02T03:04:05.678Z');
  const body = Buffer.from('{"a":1}');
  const named = { 'x-github-event': 'issues', 'x-github-delivery': 'd-1', 'x-github-hook-id': '7', 'x-github-hook-installation-target-id': '8' };
  const identity = identify(named, 'own');
  const sent = { action: 'opened', installation: { id: 42 }, sender: { html_url: 'https://github.com/octocat' } };
  const build = (traceparent?: string, payload: unknown = sent) => {
    const headers = { ...named, ...(traceparent !== undefined && { traceparent }) };
    return toMessage({ id: '0190a5c0-1111-7222-8333-444455556666', receivedAt, body, headers, identity }, payload, score);
  };

  it('carries the raw bytes, the id, the event, the score as priority and the time', () => {
    const { headers: _, ...message } = build();
    expect(message).to.deep.equal({
      id: '0190a5c0-1111-7222-8333-444455556666',
      type: 'issues',
      body,
      contentType: 'application/json',
      priority: 7,
      timestamp: receivedAt,
    });
  });
  it('carries every documented header', () => {
    const { traceparent: _, ...headers } = build().headers;
    expect(headers).to.deep.equal({
      'x-delivery-id': 'd-1',
      'x-hook-id': '7',
      'x-target-id': '8',
      'x-target-type': '',
      'x-forge': 'github',
      'x-forge-id': 'github.com',
      'x-event': 'issues',
      'x-original-event': 'issues',
      'x-action': 'opened',
      'x-original-action': 'opened',
      'x-sender': 'octocat',
      'x-sender-class': 'person',
      'x-core-function': 'true',
      'x-installation-id': '42',
      'x-received-at': '2026-01-02T03:04:05.678Z',
      'x-relay-version': version,
      'x-score-description': score.description,
    });
  });
  it('begins a trace with the id of the delivery', () => {
    expect(build().headers['traceparent']).to.match(/^00-0190a5c0111172228333444455556666-[0-9a-f]{16}-01$/);
  });
  it('goes on with the trace of the sender, with a span of its own', () => {
    const given = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
    expect(build(given).headers['traceparent'])
      .to.match(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-00$/)
      .and.not.equal(given);
  });
  it('begins a trace of its own where the given one is malformed', () => {
    expect(build(`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`).headers['traceparent']).to.match(/^00-0190a5c0/);
  });
  it('has an empty installation id and sender where the payload names none', () => {
    for (const odd of [null, 7, [], { installation: null }, { installation: { id: {} }, sender: { login: 3 } }]) {
      expect(build(undefined, odd).headers['x-installation-id']).to.equal('');
      expect(senderLogin(odd)).to.equal('');
    }
  });
  it('has names that a row of Postgres and a header hold, whatever the payload says', () => {
    const long = 'x'.repeat(100_000);
    expect(build(undefined, { installation: { id: long } }).headers['x-installation-id']).to.have.length(255);
    const odd = { installation: { id: 'a\0b' }, sender: { login: 'half \ud83d' }, action: '\ude00\0' };
    expect(build(undefined, odd).headers['x-installation-id']).to.equal('a\ufffdb');
    expect(senderLogin(odd)).to.equal('half \ufffd');
  });
});
