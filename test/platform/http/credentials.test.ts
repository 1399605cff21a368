import { expect } from 'chai';
import { authorization, type Guard, isOneOf } from '../../../services/platform/http/credentials.ts';
import { Problem } from '../../../services/platform/problem.ts';
import { Secret } from '../../../services/platform/config/secret.ts';

const tokens = [new Secret('first-token'), new Secret('second-token')];

function refusal(guard: Guard, headers: Record<string, string>): unknown {
  try {
    void guard.check(headers, '');
  } catch (error) {
    if (error instanceof Problem) return { status: error.status, detail: error.detail, members: error.members, headers: error.headers };
    throw error;
  }
  return undefined;
}

describe('isOneOf', () => {
  it('accepts every valid value of the list and nothing else', () => {
    const accepts = isOneOf(tokens);
    expect(['first-token', 'second-token'].map(accepts)).to.deep.equal([true, true]);
    for (const wrong of ['', 'first-toke', 'first-tokenx', 'FIRST-TOKEN', 'first-token,second-token', ' first-token'])
      expect(accepts(wrong), wrong).to.equal(false);
  });

  it('accepts nothing when none is valid', () => {
    expect(isOneOf([])('')).to.equal(false);
  });
});

describe('authorization', () => {
  const guard = authorization('Bearer', tokens);

  it('takes the scheme in any case', () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
      expect(refusal(guard, { authorization: `${scheme} second-token` }), scheme).to.equal(undefined);
    expect(refusal(authorization('token', tokens), { authorization: 'Token first-token' })).to.equal(undefined);
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
    for (const one of refusals)
      expect(one).to.deep.equal({
        status: 401,
        detail: 'The credential is missing or wrong. Send `Authorization: Bearer <value>`.',
        members: {},
        headers: { 'WWW-Authenticate': 'Bearer' },
      });
  });
});
