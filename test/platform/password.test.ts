import { expect } from 'chai';
import { createPasswordCheck, hashPassword } from '../../services/platform/password.ts';

describe('createPasswordCheck', () => {
  it('compares one password of a client at a time, so that its tries hold up no other client', async () => {
    const isRight = createPasswordCheck();
    const hash = await hashPassword('right');
    let tried = 0;
    const tries = Array.from({ length: 5 }, (_, number) => isRight({ password: `wrong ${number}`, client: '192.0.2.1' }, [hash]).then(() => (tried += 1)));
    expect(await isRight({ password: 'right', client: '192.0.2.2' }, [hash])).to.equal(true);
    expect(tried, 'tries of the other client before it').to.be.below(4);
    await Promise.all(tries);
    expect(tried).to.equal(5);
  });
});
