import { expect } from 'chai';
import { authorization, createCredentials, type Guard, headerCredential } from '../../../services/platform/http/credentials.ts';
import { Problem } from '../../../services/platform/problem.ts';
import { Secret } from '../../../services/platform/config/secret.ts';

const credentials = createCredentials([new Secret('first-token'), new Secret('second-token')]);

function refusal(guard: Guard, headers: Record<string, string>): unknown {
  try {
    void guard.check(headers);
  } catch (error) {
    if (error instanceof Problem) return { status: error.status, detail: error.detail, members: error.members, headers: error.headers };
    throw error;
  }
  return undefined;
}

describe('createCredentials', () => {
  it('accepts every valid value of the list and nothing else', () => {
    expect(['first-token', 'second-token'].map((value) => credentials.accept(value))).to.deep.equal([true, true]);
    for (const wrong of ['', 'first-toke', 'first-tokenx', 'FIRST-TOKEN', 'first-token,second-token', ' first-token']) {
      expect(credentials.accept(wrong), wrong).to.equal(false);
    }
  });

  it('accepts nothing when none is valid', () => {
    expect(createCredentials([]).accept('')).to.equal(false);
  });
});

describe('authorization', () => {
  const guard = authorization('Bearer', credentials);

  it('takes the scheme in any case', () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
      expect(refusal(guard, { authorization: `${scheme} second-token` }), scheme).to.equal(undefined);
    expect(refusal(authorization('token', credentials), { authorization: 'Token first-token' })).to.equal(undefined);
  });

  it('refuses missing, malformed and wrong credentials in one and the same way', () => {
    const wrong = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer ' },
      { authorization: 'Bearer nope' },
      { authorization: 'token first-token' },
      { authorization: 'first-token' },
    ];
    const refusals = wrong.map((headers) => refusal(guard, headers));
    for (const one of refusals) expect(one).to.deep.equal({ status: 401, detail: undefined, members: {}, headers: { 'WWW-Authenticate': 'Bearer' } });
  });
});

describe('headerCredential', () => {
  const guard = headerCredential('X-Api-Key', credentials);

  it('takes the bare value of its header', () => {
    expect(refusal(guard, { 'x-api-key': 'first-token' })).to.equal(undefined);
  });

  it('refuses two values at once, and the value in another header', () => {
    for (const headers of [{}, { 'x-api-key': 'first-token, second-token' }, { authorization: 'first-token' }])
      expect(refusal(guard, headers)).to.include({ status: 401 });
  });

  it('describes itself for the API description', () => {
    expect(guard.scheme).to.deep.equal({ type: 'apiKey', in: 'header', name: 'X-Api-Key' });
  });
});
