// files/services.yaml says of each service and worker what its code says: its schema, what it reads from a Secret, its broker.
import { expect } from 'chai';
import { readCatalogue } from './catalogue.ts';
import { deployables } from '../../services/command/deployables.ts';
import type { Environment } from '../../services/platform/config/config.ts';

const loaded = await deployables.loadAll();
const catalogue = await readCatalogue();

/** All names that a configuration reads, since it reports all faults at once. */
async function namesRead(read: (environment: Environment) => unknown): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const environment = new Proxy<Record<string, string>>({}, { get: (_, name) => void names.add(String(name)) });
  await Promise.resolve()
    .then(() => read(environment))
    .catch(() => undefined);
  return names;
}

/** Settings that the chart composes from its own passwords. */
const composed = ['DATABASE_URL', 'REDIS_URL', 'Ingest__BrokerUrl'];

for (const { name, migrations, settings, workers = {}, read } of loaded) {
  describe(`the catalogue of the chart: ${name}`, () => {
    const secrets = Object.values(settings).filter((setting) => setting.isSecret && !composed.includes(setting.name));
    const facts = catalogue[name] ?? {};

    it('has its schema and its workers', () => {
      expect(facts.schema).to.equal(migrations.schema);
      expect(Object.keys(facts.workers ?? {})).to.have.members(Object.keys(workers));
    });

    it('has what it counts requests with, and what it keeps files or rules in', async () => {
      const names = await namesRead(read);
      expect(facts.redis ?? false).to.equal(names.has('REDIS_URL'));
      expect(facts.spool ?? false).to.equal(names.has('FailedPayloads__Directory'));
      expect(facts.notificationRules ?? false).to.equal(names.has('Notifications__RulesFile'));
      expect(facts.sources ?? false).to.equal(names.has('Sources__File'));
    });

    const parts = [
      { what: 'the service', own: facts, readPart: read },
      ...Object.entries(workers).map(([worker, part]) => ({ what: `worker ${worker}`, own: facts.workers?.[worker] ?? {}, readPart: part.read })),
    ];
    for (const { what, own, readPart } of parts)
      it(`has the secrets that ${what} reads, the optional ones by themselves, and its broker`, async () => {
        const names = await namesRead(readPart);
        const namesOf = (isOptional: boolean) =>
          secrets.filter((setting) => names.has(setting.name) && Boolean(setting.fallback ?? setting.whenFaulty) === isOptional).map((setting) => setting.name);
        expect(own.credentials ?? []).to.have.members(namesOf(false));
        expect(own.optionalCredentials ?? []).to.have.members(namesOf(true));
        const numbered = names.has('Broker__EnvironmentFile') ? 'BROKER_URL_1' : undefined;
        expect(own.events ?? false).to.equal(names.has('Events__Url'));
        expect(own.broker).to.equal(names.has('Ingest__BrokerUrl') ? 'Ingest__BrokerUrl' : numbered);
      });
  });
}

describe('the catalogue of the chart', () => {
  it('has every service, and no other', () => {
    expect(Object.keys(catalogue)).to.have.members([...deployables.names, 'mail']);
  });

  it('has the secrets that the worker mailbox reads', async () => {
    const { mail } = catalogue;
    const { settings } = await deployables.loadMailbox();
    const secrets = Object.values(settings).filter(({ isSecret }) => isSecret);
    expect(mail?.optionalCredentials).to.have.members(secrets.map(({ name }) => name));
    expect(mail).not.to.have.property('credentials');
    expect(Object.values(settings).map(({ name }) => name)).to.include.members(Object.keys(mail?.reaches ?? {}));
  });
});
