import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { deployables } from '../../services/command/deployables.ts';

// Both are named by hand, so that one word of the command loads no deployable that it does not start.
describe('what can be run', () => {
  it('knows every deployable by the name of its folder', async () => {
    const all = await deployables.loadAll();
    expect(all.map(({ name }) => name)).to.deep.equal(deployables.names);
    expect(readdirSync(join(import.meta.dirname, '../../services'))).to.include.members([...deployables.names]);
  });

  it('knows every worker of every deployable', async () => {
    const all = await deployables.loadAll();
    expect(deployables.workerNames).to.have.members([...all.flatMap(({ workers = {} }) => Object.keys(workers)), 'mailbox']);
    for (const name of deployables.workerNames) expect((await deployables.loadWorker(name)).worker).to.have.property('once');
  });

  it('names the workers that there are when asked for another', async () => {
    const failure: unknown = await deployables.loadWorker('nobody').catch((error: unknown) => error);
    expect(String(failure)).to.equal(
      "Error: there is no worker 'nobody'; there are: service, database-service, cleanup, maintenance, digest, geocoding, dead-links, mailbox",
    );
  });
});
