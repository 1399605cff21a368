import { randomBytes, scryptSync } from 'node:crypto';
import { expect } from 'chai';
import { createPasswordCheck } from '../../services/platform/password.ts';

/** Cheaper than those of `hashPassword`: beside other tests five of these may take longer than a client waits. */
function cheapHash(password: string): string {
  const [salt, N] = [randomBytes(16), 2 ** 14];
  return ['scrypt', N, 1, 1, salt.toString('base64url'), scryptSync(password, salt, 32, { N, r: 1, p: 1 }).toString('base64url')].join(':');
}

describe('createPasswordCheck', () => {
  it('compares one password of a client at a time, so that its tries hold up no other client', async () => {
    const isRight = createPasswordCheck();
    const hash = cheapHash('right');
    let tried = 0;
    const tries = Array.from({ length: 5 }, (_, number) => isRight({ password: `wrong ${number}`, client: '192.0.2.1' }, [hash]).then(() => (tried += 1)));
    expect(await isRight({ password: 'right', client: '192.0.2.2' }, [hash])).to.equal(true);
    expect(tried, 'tries of the other client before it').to.be.below(4);
    await Promise.all(tries);
    expect(tried).to.equal(5);
  });
});
