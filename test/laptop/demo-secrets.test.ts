// The secrets of the demo, also where a run before was broken off.
import { expect } from 'chai';
import { vaulted } from '../../services/laptop/demo-secrets.ts';
import { adminToken, manage, useService } from '../services/secrets/service.ts';

describe('the demo of secrets', () => {
  const service = useService();
  const ask = async (path: string) => (await manage(service.url, 'GET', `/web-shop${path}`)).body;
  const versions = async () => [await ask('/secrets/database-password/versions/production')].flat().length;

  it('goes on where a run before was broken off, and adds nothing twice', async () => {
    await manage(service.url, 'POST', '', { name: 'Web shop' });
    for (let run = 0; run < 2; run++) {
      await vaulted(service.url, adminToken);
      expect(await versions()).to.equal(3);
      expect([await ask('/environments')].flat()).to.have.length(3);
      expect(Object(await ask('/keys')).items).to.have.length(2);
    }
  });
});
