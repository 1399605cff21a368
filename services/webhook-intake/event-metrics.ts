// The metric of what the event log was given, by source.
import type { Metrics } from '../platform/metrics.ts';

/** @param sources stand at 0 from the start. @returns counts for each event whether it was new to the log */
export function measureEvents(metrics: Metrics, sources: readonly string[]): (source: string, areNew: readonly boolean[]) => void {
  const events = metrics.counter({
    name: 'signalbox_intake_events_total',
    help: 'Events by source and by what became of them in the event log: stored, or duplicate.',
    labels: ['source', 'outcome'],
    series: sources.flatMap((source) => [
      { source, outcome: 'stored' },
      { source, outcome: 'duplicate' },
    ]),
  });
  return (source, areNew) => areNew.forEach((isNew) => events.inc({ source, outcome: isNew ? 'stored' : 'duplicate' }));
}
