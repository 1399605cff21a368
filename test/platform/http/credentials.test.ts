import { expect } from 'chai';
import { anyOf, authorization, byCredential, credentialRefused, type Guard, headerGuard, isOneOf } from '../../../services/platform/http/credentials.ts';
import { Secret } from '../../../services/platform/config/secret.ts';

const tokens = [new Secret('first-token'), new Secret('second-token')];

async function refusal(guard: Guard, headers: Record<string, string>): Promise<unknown> {
  if (await guard.check(headers, '')) return undefined;
  const { status, detail, members, headers: answered } = credentialRefused(guard);
  return { status, detail, members, headers: answered };
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

  it('takes the scheme in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
      expect(await refusal(guard, { authorization: `${scheme} second-token` }), scheme).to.equal(undefined);
    expect(await refusal(authorization('token', tokens), { authorization: 'Token first-token' })).to.equal(undefined);
  });

  it('refuses missing, malformed and wrong credentials in one and the same way', async () => {
    const wrong = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer ' },
      { authorization: 'Bearer nope' },
      { authorization: 'token first-token' },
      { authorization: 'first-token' },
    ];
    const refusals = await Promise.all(wrong.map((headers) => refusal(guard, headers)));
    for (const one of refusals)
      expect(one).to.deep.equal({
        status: 401,
        detail: 'The credential is missing or wrong. Send `Authorization: Bearer <value>`.',
        members: {},
        headers: { 'WWW-Authenticate': 'Bearer' },
      });
  });

  it('tells the holders of several tokens apart without telling the tokens, the same in every process', async () => {
    const idOf = async (valid: readonly Secret[], token: string) => (await authorization('Bearer', valid).check({ authorization: `Bearer ${token}` }, ''))?.id;
    const [first, second] = [await idOf(tokens, 'first-token'), await idOf(tokens, 'second-token')];
    expect(first)
      .to.match(/^[0-9a-f]{8}$/)
      .and.to.not.equal(second);
    expect(await idOf(tokens.toReversed(), 'first-token')).to.equal(first);
  });
});

describe('anyOf', () => {
  const guard = anyOf(
    authorization('Bearer', tokens, { name: 'person', description: '' }),
    headerGuard([new Secret('machine-key')], 'X-Api-Key', { description: '' }),
  );

  it('accepts the credential of any of its guards, and says whose it was', async () => {
    expect(await guard.check({ authorization: 'Bearer first-token' }, '')).to.include({ credential: 'person' });
    expect(await guard.check({ 'x-api-key': 'machine-key' }, '')).to.include({ credential: 'x-api-key' });
    expect(await guard.check({ authorization: 'Bearer wrong', 'x-api-key': 'machine-key' }, '')).to.include({ credential: 'x-api-key' });
  });

  it('refuses in one way that names them all', async () => {
    for (const headers of [{}, { authorization: 'Bearer machine-key' }, { 'x-api-key': 'first-token' }])
      expect(await refusal(guard, headers)).to.deep.equal({
        status: 401,
        detail: 'The credential is missing or wrong. Send `Authorization: Bearer <value>` or `X-Api-Key: <value>`.',
        members: {},
        headers: { 'WWW-Authenticate': 'Bearer, X-Api-Key' },
      });
  });
});

describe('a credential of the console', () => {
  const own = new Secret('the own credential');
  const ofConsole = [new Secret('the credential of the console')];
  const guard = authorization('Bearer', [own], { description: '', ofConsole });
  const actorOf = async (credential: string, actor?: string) => {
    const headers = { authorization: `Bearer ${credential}`, ...(actor !== undefined && { 'x-signalbox-actor': actor }) };
    const principal = await guard.check(headers, '');
    return principal ? (principal.actor ?? null) : undefined;
  };

  it('is valid beside the others, and names the person that the console asks for', async () => {
    expect(await actorOf('the credential of the console', '%C3%89amon%2C%20admin')).to.equal('Éamon, admin');
    expect(await actorOf('the credential of the console')).to.equal(null);
    expect(await actorOf('another one', 'admin')).to.equal(undefined);
  });

  it('is the only one with which the header is believed', async () => {
    expect(await actorOf('the own credential', 'admin')).to.equal(null);
  });

  it('names none by a header that is malformed, too long, or holds what a log would break at', async () => {
    for (const actor of ['', '%zz', '%ff', 'a b', 'é', 'x'.repeat(601)]) expect(await actorOf('the credential of the console', actor), actor).to.equal(null);
    expect(await actorOf('the credential of the console', 'a%0Ab')).to.equal('a b');
  });

  it('is the same principal for all its people, each with requests of its own', async () => {
    const as = async (actor: string) => guard.check({ authorization: 'Bearer the credential of the console', 'x-signalbox-actor': actor }, '');
    const [one, other] = [await as('one'), await as('other')];
    if (!one || !other) throw new Error('the credential is not valid');
    expect(one.id).to.equal(other.id);
    expect(byCredential(one, '')).not.to.equal(byCredential(other, ''));
  });
});
