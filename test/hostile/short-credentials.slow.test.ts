// L6: credentials that can be guessed. In production no service starts with one of fewer than 16 characters.
import { expect } from 'chai';
import { deployables } from '../../services/command/deployables.ts';
import { generators } from '../../services/platform/config/settings.ts';
import { startProcess } from '../support/processes.ts';

/** Refused before anything else is looked at: there is no database. */
async function printedBy(service: string, env: Readonly<Record<string, string>>): Promise<string> {
  const process = startProcess(['serve', service], { env: { BROKER_URL_1: 'amqp://127.0.0.1:1', ...env } });
  expect(await process.exited).to.deep.equal({ code: 1, signal: null });
  return process.lines.join('\n');
}

describe('a credential of fewer than 16 characters', () => {
  for (const name of deployables.names) {
    it(`keeps ${name} from starting in production, by name`, async () => {
      const [deployable] = await deployables.load([name]);
      // Master keys have a form of their own, and signing keys 32 bytes.
      const credentials = generators([deployable?.settings ?? {}]).flatMap(([setting]) =>
        /^(Encryption__|(Jwt__|Console__Digest)Key$)/.test(setting) ? [] : [setting],
      );
      const given = (value: string) => Object.fromEntries(credentials.map((setting) => [setting, value]));
      const refused = await printedBy(name, given('x'.repeat(15)));
      for (const setting of credentials) expect(refused).to.contain(setting);
      expect(refused).not.to.contain('x'.repeat(15));
      const taken = await printedBy(name, given('x'.repeat(16)));
      for (const setting of credentials) expect(taken).not.to.contain(setting);
      const lax = await printedBy(name, { ...given('x'), APP_ENV: 'development' });
      for (const setting of credentials) expect(lax).not.to.contain(setting);
    });
  }
});
