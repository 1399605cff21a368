// All scenarios, in the order in which they run: what fails early would fail the later ones, too.
import type { Scenario } from './scenario.ts';
import { install } from './scenarios/install.ts';
import { outage } from './scenarios/outage.ts';
import { rolling } from './scenarios/rolling.ts';
import { routes } from './scenarios/routes.ts';

export const scenarios: readonly Scenario[] = [install, routes, rolling, outage];
