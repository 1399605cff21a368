// Which headers of a rejected delivery are kept with their value.
import { expect } from 'chai';
import { shownHeaders } from '../../../../services/webhook-relay/rejected/shown-headers.ts';

describe('the headers of a rejected delivery', () => {
  const shown = {
    host: 'relay.example',
    'user-agent': 'GitHub-Hookshot/044aadd',
    'content-type': 'application/json',
    'content-length': '7',
    'x-github-event': 'push',
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-github-hook-id': '292430182',
    'x-forwarded-for': '192.0.2.7, 10.0.0.1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  };
  for (const [name, value] of Object.entries(shown)) {
    it(`keep ${name}`, () => expect(shownHeaders({ [name]: value })).to.deep.equal({ [name]: value }));
  }

  const hidden = {
    'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    'x-hub-signature': 'sha1=7d38cdd689735b008b3c702edd92eea23791c5f6',
    'x-gitea-signature': '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    authorization: 'Bearer abc',
    'proxy-authorization': 'Basic YTpi',
    cookie: 'a=b',
    'x-gitlab-token': 'abc',
    'x-api-key': 'abc',
    'x-source-token': 'abc',
    'x-webhook-secret': 'abc',
    'content-digest': 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:',
    'x-amz-content-sha256': 'abc',
    'x-forwarded-client-cert': 'By=spiffe://a;Hash=468ed33be74eee6556d90c0149c1309e9ba61d6425303443c0748a02dd8de688',
    'x-custom': 'Bearer abc',
    'x-other': '757107EA0EB2509FC211221CCE984B8A37570B6D7586C22C46F4379C8B043E17',
    'x-third': 'eyJhbGciOiJIUzI1NiJ9.e30.abc',
  };
  for (const [name, value] of Object.entries(hidden)) {
    it(`say of ${name} only that it was there`, () => expect(shownHeaders({ [name]: value })).to.deep.equal({ [name]: '[hidden]' }));
  }

  it('are kept as one value where a name comes several times', () => {
    expect(shownHeaders({ 'x-note': ['one', 'two'], via: undefined })).to.deep.equal({ 'x-note': 'one, two', via: '' });
  });
});
