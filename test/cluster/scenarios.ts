// All scenarios, in the order in which they run: what fails early would fail the later ones, too.
import type { Scenario } from './scenario.ts';
import { accounts } from './scenarios/accounts.ts';
import { apply } from './scenarios/apply.ts';
import { backup } from './scenarios/backup.ts';
import { cronJobs } from './scenarios/cron-jobs.ts';
import { docs } from './scenarios/docs.ts';
import { flows } from './scenarios/flows.ts';
import { helm3, helm4 } from './scenarios/helm.ts';
import { install } from './scenarios/install.ts';
import { listings } from './scenarios/listings.ts';
import { nodes } from './scenarios/nodes.ts';
import { operator } from './scenarios/operator.ts';
import { operatorRemoval } from './scenarios/operator-removal.ts';
import { outage } from './scenarios/outage.ts';
import { highAvailability, presets } from './scenarios/presets.ts';
import { quorum } from './scenarios/quorum.ts';
import { rolling } from './scenarios/rolling.ts';
import { rotation } from './scenarios/rotation.ts';
import { routes } from './scenarios/routes.ts';
import { spool } from './scenarios/spool.ts';

export const scenarios: readonly Scenario[] = [
  install,
  routes,
  flows,
  rolling,
  outage,
  spool,
  quorum,
  helm4,
  helm3,
  apply,
  cronJobs,
  listings,
  backup,
  presets,
  highAvailability,
  nodes,
  operator,
  rotation,
  accounts,
  operatorRemoval,
  docs,
];
