// Signatures of Standard Webhooks, by an example that its libraries publish.
import { expect } from 'chai';
import { Secret } from '../../../services/platform/config/secret.ts';
import { signStandard } from '../../../services/platform/http/standard-webhooks.ts';

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
