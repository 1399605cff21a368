// Metrics of the operator.
import type { Metrics } from '../platform/metrics.ts';

export type OperatorMetrics = ReturnType<typeof createOperatorMetrics>;

/** The number of objects of a kind with the same condition. */
export type ObjectCount = { readonly kind: string; readonly ready: string; readonly reason: string; readonly count: number };

type State = {
  readonly isLeading: () => boolean;
  /** By controller. */
  readonly depths: () => Readonly<Record<string, number>>;
  /** Seconds by kind. */
  readonly eventAges: () => Readonly<Record<string, number>>;
  readonly objects: () => readonly ObjectCount[];
};

export function createOperatorMetrics(metrics: Metrics, { isLeading, depths, eventAges, objects }: State) {
  metrics.gauge({
    name: 'signalbox_operator_leader',
    help: '1 in the process that leads.',
    labels: [],
    collect: (gauge) => gauge.set(isLeading() ? 1 : 0),
  });
  metrics.gauge({
    name: 'signalbox_operator_queue_depth',
    help: 'Objects that wait to be reconciled.',
    labels: ['controller'],
    collect: (gauge) => Object.entries(depths()).forEach(([controller, depth]) => gauge.set({ controller }, depth)),
  });
  metrics.gauge({
    name: 'signalbox_operator_last_event_age_seconds',
    help: 'Since a watch was last heard of; bookmarks come about once a minute.',
    labels: ['kind'],
    collect: (gauge) => Object.entries(eventAges()).forEach(([kind, age]) => gauge.set({ kind }, age)),
  });
  metrics.gauge({
    name: 'signalbox_operator_objects',
    help: 'Objects by their condition Ready and its reason, as the leader knows them.',
    labels: ['kind', 'ready', 'reason'],
    collect: (gauge) => objects().forEach(({ count, ...labels }) => gauge.set(labels, count)),
  });
  return {
    reconciles: metrics.counter({ name: 'signalbox_operator_reconciles_total', help: 'Reconciles, by outcome.', labels: ['controller', 'outcome'] }),
    durations: metrics.histogram({ name: 'signalbox_operator_reconcile_duration_seconds', help: 'How long reconciles took.', labels: ['controller'] }),
    lists: metrics.counter({
      name: 'signalbox_operator_lists_total',
      help: 'Lists of a kind, and watches and lists that failed.',
      labels: ['kind', 'outcome'],
    }),
  };
}
