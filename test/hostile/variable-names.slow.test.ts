// L8: configuration entries that bear the names of what the loader, a shell or a runtime reads. Writing configuration must not be running code.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createManagementClient } from '../../services/secrets/client.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { startProcess } from '../support/processes.ts';
import { type House, startHouse } from './house.ts';

describe('configuration entries that decide what code runs', () => {
  let house: House;
  let key: string;
  let management: ReturnType<typeof createManagementClient>;
  let baseUrl: string;
  const proof = join(temporaryDirectory('proof'), 'ran');
  const evil = temporaryDirectory('evil');

  before(async () => {
    house = await startHouse({ services: ['secrets'] });
    baseUrl = `http://127.0.0.1:${house.service('secrets').port}`;
    management = createManagementClient({ baseUrl, credential: house.settings['Management__AdminApiKey'] ?? '' });
    key = (await management.createApplication({ name: 'Shop' })).plainApiKey;
    writeFileSync(join(evil, 'true'), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
  });
  after(() => house.close());

  const entries = {
    PATH: evil,
    path: evil,
    LD_PRELOAD: join(evil, 'x.so'),
    'LD:PRELOAD': evil,
    NODE_OPTIONS: `--require ${evil}`,
    BASH_ENV: join(evil, 'true'),
  };

  for (const [name, value] of Object.entries(entries)) {
    it(`keep \`secrets run\` from starting a program: ${name}`, async () => {
      await management.createConfiguration('shop', { environmentSlug: 'local', key: name, value });
      const running = startProcess(['secrets', 'run', '--environment', 'local', '--', 'true'], {
        env: { SIGNALBOX_SECRETS_URL: baseUrl, SIGNALBOX_APPLICATION_KEY: key },
      });
      expect((await running.exited).code).to.equal(125);
      expect(running.lines.join('\n')).to.contain(name).and.not.contain(value);
      expect(existsSync(proof)).to.equal(false);
      await management.deleteConfiguration('shop', { environmentSlug: 'local', key: name });
    });
  }
});
