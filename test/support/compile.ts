// Loads all code that processes of tests run, so that Node caches it compiled: a killed process writes no cache, and loading is half of the time of a start.
import { deployables } from '../../services/command/deployables.ts';

await Promise.all([
  deployables.loadAll(),
  ...Object.values(deployables.withSubcommands).map(({ load }) => load()),
  import('../../services/command/serve.ts'),
  import('../../services/install/migrate.ts'),
  import('../../services/laptop/up.ts'),
  import('pg-boss'),
]);
