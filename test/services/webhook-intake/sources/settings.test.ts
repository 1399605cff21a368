// The settings of direct sources: one for each, all optional, and lists for rotation.
import { expect } from 'chai';
import { ConfigError } from '../../../../services/platform/config/config.ts';
import { readServiceConfig, settings } from '../../../../services/webhook-intake/config.ts';
import * as sources from '../../../../services/webhook-intake/sources/sources.ts';

const required = { DATABASE_URL: 'postgres://host/db', Intake__AccessTokens: 'a-token-of-some-length' };

describe('settings of direct sources', () => {
  it('are one for each source, named after it', () => {
    const names = Object.values(settings).flatMap(({ name }) => (/^Sources__.*Secrets$/.test(name) ? [name] : []));
    expect(names).to.have.length(Object.values(sources).length);
    expect(names).to.include.members(['Sources__DeepsourceSecrets', 'Sources__DockerhubSecrets', 'Sources__UptimerobotSecrets']);
  });

  it('leave out a source without a secret', async () => {
    expect((await readServiceConfig(required)).sources).to.deep.equal([]);
    const { sources: configured } = await readServiceConfig({ ...required, Sources__SentrySecrets: 'newest-secret-of-all,one-that-leaves-soon' });
    expect(configured.map(({ source, secrets }) => [source.name, secrets.map((secret) => secret.reveal())])).to.deep.equal([
      ['sentry', ['newest-secret-of-all', 'one-that-leaves-soon']],
    ]);
  });

  it('refuse a secret that can be guessed, without telling it, beside the other faults', async () => {
    const faults = await readServiceConfig({ Sources__CodacySecrets: 'guess' }).catch((error: unknown) => error);
    expect(faults).to.be.instanceOf(ConfigError);
    expect(String(faults))
      .to.match(/Sources__CodacySecrets must have at least 16 characters/)
      .and.match(/DATABASE_URL is required/)
      .and.not.match(/guess/);
  });
});
