import { expect } from 'chai';
import { readTarget } from '../../services/install/settings.ts';
import { ConfigError } from '../../services/platform/config/config.ts';

const secrets = { schemas: ['secrets'] };

describe('the target of a migration', () => {
  const faults = async (environment: Record<string, string>): Promise<readonly string[]> => {
    try {
      await readTarget(environment, secrets);
    } catch (error) {
      if (error instanceof ConfigError) return error.faults;
      throw error;
    }
    return [];
  };

  for (const [what, env, expected] of [
    ['none', {}, ['DATABASE_URL or POSTGRES_URL is required and not set']],
    [
      'both',
      { DATABASE_URL: 'postgres://me@127.0.0.1:1/one', POSTGRES_URL: 'postgres://127.0.0.1:1/one' },
      ['DATABASE_URL and POSTGRES_URL are both set; leave one'],
    ],
    ['a user', { POSTGRES_URL: 'postgres://me:hush@127.0.0.1/one' }, ['POSTGRES_URL must name no user: users have settings of their own']],
    ['no database', { POSTGRES_URL: 'postgres://127.0.0.1:1' }, ['POSTGRES_URL must name a host and a database, as in postgres://host:5432/signalbox']],
    ['no password of a role', { POSTGRES_URL: 'postgres://127.0.0.1/one' }, ['POSTGRES_SECRETS_PASSWORD is required and not set']],
    [
      'a password that Postgres would normalise, and one in a file that is not there',
      { POSTGRES_URL: 'postgres://127.0.0.1/one', POSTGRES_SECRETS_PASSWORD: 'grün', POSTGRES_ADMIN_PASSWORD_FILE: '/nowhere/password' },
      [
        'POSTGRES_ADMIN_PASSWORD cannot be read from the file in POSTGRES_ADMIN_PASSWORD_FILE (ENOENT)',
        'POSTGRES_SECRETS_PASSWORD must be of printable ASCII characters',
      ],
    ],
    [
      'a name of a role that is made here',
      { POSTGRES_URL: 'postgres://127.0.0.1/one', POSTGRES_SECRETS_PASSWORD: 'a', POSTGRES_SECRETS_USER: 'app', POSTGRES_ADMIN_PASSWORD: 'a' },
      ['POSTGRES_SECRETS_USER: roles that are made here have the names of their schemas'],
    ],
  ] as const)
    it(`is refused: ${what}`, async () => {
      expect(await faults(env)).to.deep.equal(expected);
    });

  it('has a user for each schema, whatever characters are in a password', async () => {
    const environment = { POSTGRES_URL: 'postgres://db:5433/one?sslmode=require', POSTGRES_SECRETS_PASSWORD: 'p@ss/w:rd%', POSTGRES_ADMIN_PASSWORD: '#' };
    const target = await readTarget(environment, secrets);
    if (target.kind !== 'roles') throw new TypeError('a server with roles was given');
    const { adminUrl, server, database } = target;
    expect({ adminUrl, server, database, url: target.urlOf('secrets') }).to.deep.equal({
      adminUrl: 'postgres://postgres:%23@db:5433/one?sslmode=require',
      server: 'db:5433',
      database: 'one',
      url: 'postgres://secrets:p%40ss%2Fw%3Ard%25@db:5433/one?sslmode=require',
    });
  });

  it('has the name that an administrator gave to a role', async () => {
    const target = await readTarget({ POSTGRES_URL: 'postgres://db/one', POSTGRES_SECRETS_PASSWORD: 'a', POSTGRES_SECRETS_USER: 'app-secrets' }, secrets);
    expect(target.kind === 'roles' && target.urlOf('secrets')).to.equal('postgres://app-secrets:a@db/one');
  });

  it('wants the password of the role of dumps where it makes that role, and not else', async () => {
    const environment = { POSTGRES_URL: 'postgres://db/one', POSTGRES_SECRETS_PASSWORD: 'a' };
    const wanted = { schemas: ['secrets'], withBackup: true };
    const target = await readTarget(environment, wanted);
    expect(target.kind === 'roles' && [...target.passwords.keys()]).to.deep.equal(['secrets']);
    const asAdmin = readTarget({ ...environment, POSTGRES_ADMIN_PASSWORD: 'a' }, wanted);
    expect(await asAdmin.catch((error: unknown) => (error instanceof ConfigError ? error.faults : error))).to.deep.equal([
      'POSTGRES_BACKUP_PASSWORD is required and not set',
    ]);
  });
});
