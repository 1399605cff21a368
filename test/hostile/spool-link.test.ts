// L1: a link in the spool folder that leads elsewhere. The spool must not empty the folder behind it.
import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryDirectory } from '../support/guard.ts';
import { eventually } from '../support/wait.ts';
import { type House, startHouse } from './house.ts';

describe('a link among the folders of the spool', () => {
  const victim = temporaryDirectory('victim');
  const precious = [join(victim, 'precious.txt'), join(victim, '1.tmp'), join(victim, 'sub/also.txt')];
  let house: House;
  before(async () => {
    mkdirSync(join(victim, 'sub'));
    for (const path of precious) writeFileSync(path, 'kept');
    const hourAgo = Date.now() / 1000 - 3600;
    utimesSync(victim, hourAgo, hourAgo);
    const prepare = (spool: string) => symlinkSync(victim, join(spool, 'process-evil'));
    house = await startHouse({ services: ['webhook-relay'], prepare });
  });
  after(() => house.close());

  it('is not followed when the relay takes its folder over', async () => {
    // It has taken it over once it is the owner.
    await eventually(() => existsSync(join(house.spoolDirectory, 'owner.lock')));
    expect(precious.filter((path) => !existsSync(path))).to.deep.equal([]);
  });
});
