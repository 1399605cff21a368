// The console's metrics.
import type { Metrics } from '../platform/metrics.ts';
import type { Recorded } from './access/actions.ts';

export function countActions(metrics: Metrics): (recorded: Pick<Recorded, 'area' | 'outcome'>) => void {
  const counter = metrics.counter({
    name: 'signalbox_console_actions_total',
    help: 'Logins and actions, by area and outcome: `done`, `refused`, `failed`.',
    labels: ['area', 'outcome'],
    series: [{ area: 'access', outcome: 'refused' }],
  });
  return ({ area, outcome }) => counter.inc({ area, outcome });
}
