// Signatures of Standard Webhooks, by an example that its libraries publish.
import { expect } from 'chai';
import { Secret } from '../../../services/platform/config/secret.ts';
import { createStandardVerifier, signStandard } from '../../../services/platform/http/standard-webhooks.ts';

const signed = { id: 'msg_loFOjxBNrRLzqYUf', timestamp: 1731705121, body: '{"event_type":"ping","data":{"success":true}}' };
const whsec = new Secret('whsec_plJ3nmyCDGBKInavdOK15jsl');

describe('signStandard', () => {
  it('signs id, time and body by the key that whsec_ writes in base64', () => {
    expect(signStandard([whsec], signed)).to.deep.equal({
      'webhook-id': 'msg_loFOjxBNrRLzqYUf',
      'webhook-timestamp': '1731705121',
      'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    });
  });

  it('gives one signature for each secret, in their order', () => {
    const signatures = signStandard([new Secret('another key'), whsec], signed)['webhook-signature']?.split(' ');
    expect(signatures).to.have.length(2);
    expect(signatures?.[1]).to.equal('v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=');
    expect(signatures?.[0]).not.to.equal(signatures?.[1]);
  });
});

describe('createStandardVerifier', () => {
  const at = (seconds: number) => () => new Date((signed.timestamp + seconds) * 1000);
  const body = Buffer.from(signed.body);
  const headers = {
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestamp),
    'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  };
  const isValid = createStandardVerifier([new Secret('a key that is being replaced'), whsec], at(0));

  it('accepts the example that the libraries of the specification publish', () => {
    expect(isValid(body, headers)).to.equal('valid');
  });

  it('accepts what our own signer makes, by any of several secrets on either side', () => {
    const ours = new Secret('a key as plain text');
    const signing = { ...signed, body: 'Zażółć 🚦' };
    for (const by of [[ours], [new Secret('unknown to the receiver'), ours]])
      expect(createStandardVerifier([whsec, ours], at(0))(Buffer.from(signing.body), signStandard(by, signing))).to.equal('valid');
    expect(createStandardVerifier([whsec], at(0))(Buffer.from(signing.body), signStandard([ours], signing))).to.equal('wrong');
  });

  it('finds the valid one among several signatures, and passes over those of other versions', () => {
    const valid = headers['webhook-signature'];
    for (const several of [`v1,AAAA ${valid}`, `v1a,abc= ${valid} v1,`, `${valid} v2,x`])
      expect(isValid(body, { ...headers, 'webhook-signature': several }), several).to.equal('valid');
    for (const none of ['', valid.slice(3), valid.replace('v1', 'v2'), `v1,${valid}`, 'v1,', 'v1, ', valid.slice(0, -4), `${'v1,AAAA '.repeat(100)}${valid}`])
      expect(isValid(body, { ...headers, 'webhook-signature': none }), none).to.equal('wrong');
  });

  it('refuses another id, time or body, and a header that is missing', () => {
    expect(isValid(Buffer.from(`${signed.body} `), headers)).to.equal('wrong');
    expect(isValid(body, { ...headers, 'webhook-id': 'msg_another' })).to.equal('wrong');
    expect(isValid(body, { ...headers, 'webhook-timestamp': String(signed.timestamp + 1) })).to.equal('wrong');
    for (const name of Object.keys(headers)) expect(isValid(body, { ...headers, [name]: undefined }), name).to.equal('wrong');
  });

  it('tells a time more than five minutes from now in either direction, and refuses one that is no number', () => {
    for (const [seconds, accepted] of [
      [300, 'valid'],
      [-300, 'valid'],
      [301, 'late'],
      [-301, 'late'],
    ] as const)
      expect(createStandardVerifier([whsec], at(seconds))(body, headers), String(seconds)).to.equal(accepted);
    for (const timestamp of ['', 'now', '-1', '1e9', '1731705121.0', ' 1731705121', 'NaN'])
      expect(
        createStandardVerifier([whsec], at(0))(body, { ...headers, ...signStandard([whsec], signed), 'webhook-timestamp': timestamp }),
        timestamp,
      ).to.equal('wrong');
  });
});
