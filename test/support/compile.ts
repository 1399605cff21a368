// Loads all that processes of tests run, so that Node keeps it compiled for them: of a process that is killed it keeps nothing, and loading is half of what a start costs.
import { deployables } from '../../services/command/deployables.ts';

await Promise.all([
  deployables.loadAll(),
  ...Object.values(deployables.withSubcommands).map(({ load }) => load()),
  import('../../services/command/serve.ts'),
  import('../../services/install/migrate.ts'),
  import('../../services/laptop/up.ts'),
  import('pg-boss'),
]);
