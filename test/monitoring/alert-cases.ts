// For each alert: input that makes it fire, and input close to it that does not.
import { intakeCases } from './intake-cases.ts';
import { consoleCases } from './console-cases.ts';
import { mailCases } from './mail-cases.ts';
import { operatorCases } from './operator-cases.ts';
import { secretsCases } from './secrets-cases.ts';
import { serverCases } from './server-cases.ts';

type Labels = Readonly<Record<string, string>>;

export type AlertCase = {
  readonly alert: string;
  /** The rest of the sentence "<alert> fires …" or "<alert> is silent …". */
  readonly when: string;
  /** Series → its values, one a minute, as promtool writes them. */
  readonly given: Readonly<Record<string, string>>;
  readonly at: string;
  /** Labels of those that fire, without `alertname`; none when it must be silent. */
  readonly firing: readonly Labels[];
};

/** A series of a scrape target, as Prometheus labels it. */
const series = (name: string, labels: Labels) =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;

const namespace = 'signalbox';
const relayTarget = { namespace, pod: 'relay-0', instance: '10.0.0.1:9090' };
const workerTarget = { namespace, pod: 'service-0', instance: '10.0.0.2:9090' };
const secretsTarget = { namespace, pod: 'secrets-0', instance: '10.0.0.3:9090' };
const broker = 'BROKER_URL_1';
const period = '2026-01';
const always = (value: number) => `${value}+0x90`;
const rising = (by: number) => `0+${by}x90`;
const onRelay = (name: string, labels: Labels = {}) => series(name, { ...labels, ...relayTarget });
const onWorker = (name: string, labels: Labels = {}) => series(name, { worker: 'service', ...labels, ...workerTarget });
const onBookmarks = (name: string, labels: Labels = {}) => series(name, { ...labels, namespace, pod: 'bookmarks-0', instance: '10.0.0.4:9090' });
const onListings = (name: string, labels: Labels = {}) => series(name, { ...labels, namespace, pod: 'listings-0', instance: '10.0.0.5:9090' });
const onDigest = (name: string, labels: Labels = {}) => series(name, { ...labels, namespace, pod: 'digest-0', instance: '10.0.0.6:9090' });
const onSecrets = (name: string, labels: Labels = {}) => series(name, { ...labels, ...secretsTarget });
const check = (on: typeof onRelay, labels: { readonly deployable: string; readonly check: string }, value: number) => ({
  [on('signalbox_health_check_ok', labels)]: always(value),
});
const relayRuns = check(onRelay, { deployable: 'webhook-relay', check: 'spool' }, 1);
const connected = (name: string, value: string) => ({ [onRelay('signalbox_broker_connected', { broker: name })]: value });

/** One configured connection. */
const usage = (name: string, used: number, limit: number) => ({
  [onRelay('signalbox_broker_active', { broker: name })]: always(name === broker ? 1 : 0),
  [onRelay('signalbox_broker_messages_used', { broker: name, period })]: always(used),
  [onRelay('signalbox_broker_messages_limit', { broker: name, period })]: always(limit),
  [onRelay('signalbox_broker_messages_remaining', { broker: name, period })]: always(limit - used),
});
/** A connection that was used this month and is no longer configured. */
const removed = {
  [onRelay('signalbox_broker_messages_used', { broker: 'BROKER_URL_9', period })]: always(1),
  [onRelay('signalbox_broker_messages_limit', { broker: 'BROKER_URL_9', period })]: always(1000),
  [onRelay('signalbox_broker_messages_remaining', { broker: 'BROKER_URL_9', period })]: always(999),
};
const leftBroker = { scheme: 'amqps', host: 'left.example', port: '5671', virtual_host: '/' };
const left = (publishedAt: number) => ({ [onRelay('signalbox_broker_left_timestamp_seconds', leftBroker)]: always(publishedAt) });
const emptied = (at: number) => ({ [onWorker('signalbox_worker_queues_emptied_timestamp_seconds', leftBroker)]: always(at) });
const deliveries = (outcome: string, values: string) => ({ [onRelay('signalbox_relay_deliveries_total', { outcome })]: values });
const replays = (outcome: string, values: string, source = 'row') => ({ [onRelay('signalbox_replays_total', { source, outcome })]: values });
const queue = (name: string, values: string) => ({ [onRelay('signalbox_broker_queue_messages', { broker, queue: name })]: values });
const notEmptyFor = (pod: string, name: string, values: string) => ({
  [series('signalbox_broker_queue_oldest_message_seconds', { broker, queue: name, ...relayTarget, pod })]: values,
});
const runs = (outcome: string, values: string) => ({ [onWorker('signalbox_worker_runs_total', { outcome })]: values });
const heartbeat = { deployable: 'listings', check: 'geocoding worker' };
const mails = (outcome: string, values: string) => ({ [onListings('signalbox_alert_mails_total', { outcome })]: values });
const requests = (status: string, values: string, route = '/Forge') => ({
  [onRelay('signalbox_http_request_duration_seconds_count', { deployable: 'webhook-relay', method: 'POST', route, status })]: values,
});
const bucket = (le: string, values: string) => ({
  [onRelay('signalbox_http_request_duration_seconds_bucket', { deployable: 'webhook-relay', method: 'POST', route: '/Forge', status: '202', le })]: values,
});
const longPolls = (le: string, values: string) => ({
  [onSecrets('signalbox_http_request_duration_seconds_bucket', { deployable: 'secrets', method: 'GET', route: '/api/management/changes', status: '200', le })]:
    values,
});
type Cases = {
  readonly alert: string;
  readonly labels: Labels;
  readonly fires: Readonly<Record<string, readonly [given: Readonly<Record<string, string>>, at: string]>>;
  readonly silent: Cases['fires'];
};

const relayCases: readonly Cases[] = [
  {
    alert: 'SignalboxRelayDown',
    labels: { severity: 'critical', deployable: 'webhook-relay' },
    fires: { 'five minutes after the last relay went': [{ [Object.keys(relayRuns)[0] ?? '']: '1+0x5' }, '20m'] },
    silent: {
      'while one runs': [relayRuns, '20m'],
      'during a restart of three minutes': [{ [Object.keys(relayRuns)[0] ?? '']: '1 1 stale _ _ 1+0x30' }, '4m'],
    },
  },
  {
    alert: 'SignalboxNoActiveBroker',
    labels: { severity: 'critical', namespace },
    fires: { 'when no connection is configured': [relayRuns, '6m'] },
    silent: { 'when one is active': [{ ...relayRuns, ...usage(broker, 1, 10) }, '20m'] },
  },
  {
    alert: 'SignalboxNoBrokerConnected',
    labels: { severity: 'critical', namespace, pod: 'relay-0' },
    fires: { 'when every connection is away': [{ ...connected(broker, always(0)), ...connected('BROKER_URL_2', always(0)) }, '3m'] },
    silent: { 'while one of two stands': [{ ...connected(broker, always(0)), ...connected('BROKER_URL_2', always(1)) }, '20m'] },
  },
  {
    alert: 'SignalboxRelayDatabaseDown',
    labels: { severity: 'critical', namespace, pod: 'relay-0' },
    fires: { 'two minutes after it went': [{ [onRelay('signalbox_relay_database_up')]: '1+0x5 0+0x30' }, '9m'] },
    silent: { 'when it comes back within two minutes': [{ [onRelay('signalbox_relay_database_up')]: '1+0x5 0 1+0x30' }, '9m'] },
  },
  {
    alert: 'SignalboxBrokerDisconnected',
    labels: { severity: 'warning', namespace, pod: 'relay-0', broker },
    fires: { 'for the one that is away': [{ ...connected(broker, always(0)), ...connected('BROKER_URL_2', always(1)) }, '11m'] },
    silent: { 'during a reconnect': [connected(broker, '1 0 0 0 1+0x30'), '3m'] },
  },
  {
    alert: 'SignalboxAllBrokersAtLimit',
    labels: { severity: 'critical', namespace },
    fires: { 'whatever a removed connection has left': [{ ...usage(broker, 10, 10), ...usage('BROKER_URL_2', 20, 20), ...removed }, '2m'] },
    silent: { 'while one has room': [{ ...usage(broker, 10, 10), ...usage('BROKER_URL_2', 19, 20) }, '20m'] },
  },
  {
    alert: 'SignalboxAllBrokersNearLimit',
    labels: { severity: 'critical', namespace },
    fires: { 'below 5 % of all': [{ ...usage(broker, 100, 100), ...usage('BROKER_URL_2', 92, 100), ...removed }, '6m'] },
    silent: {
      'while one of two is empty': [{ ...usage(broker, 99, 100), ...usage('BROKER_URL_2', 0, 100) }, '20m'],
      'when nothing is left, which SignalboxAllBrokersAtLimit says': [usage(broker, 100, 100), '20m'],
    },
  },
  {
    alert: 'SignalboxBrokerLimitReached',
    labels: { severity: 'warning', namespace, broker, period },
    fires: { 'for the one at its limit': [{ ...usage(broker, 10, 10), ...usage('BROKER_URL_2', 1, 20) }, '2m'] },
    silent: {
      'one message before': [usage(broker, 9, 10), '20m'],
      'for one that is drained by a limit of nothing': [{ ...usage(broker, 0, 0), ...usage('BROKER_URL_2', 1, 20) }, '20m'],
    },
  },
  {
    alert: 'SignalboxBrokerNearLimit',
    labels: { severity: 'info', namespace, broker, period },
    fires: { 'from 80 % on': [usage(broker, 80, 100), '16m'] },
    silent: { 'below 80 %': [usage(broker, 79, 100), '30m'], 'at the limit': [usage(broker, 100, 100), '30m'] },
  },
  {
    alert: 'SignalboxBrokerNearLimit',
    labels: { severity: 'warning', namespace, broker, period },
    fires: { 'from 95 % on, as a warning': [usage(broker, 95, 100), '30m'] },
    silent: { 'for a limit of nothing': [usage(broker, 0, 0), '30m'] },
  },
  {
    alert: 'SignalboxBrokerNotConfirming',
    labels: { severity: 'warning', namespace, broker },
    fires: {
      'when one of five tries fails': [
        {
          [onRelay('signalbox_broker_publishes_total', { broker })]: rising(40),
          [onRelay('signalbox_broker_publish_failures_total', { broker, outcome: 'unpublished' })]: rising(10),
        },
        '25m',
      ],
    },
    silent: {
      'when one of a hundred fails': [
        {
          [onRelay('signalbox_broker_publishes_total', { broker })]: rising(99),
          [onRelay('signalbox_broker_publish_failures_total', { broker, outcome: 'unknown' })]: rising(1),
        },
        '25m',
      ],
    },
  },
  {
    alert: 'SignalboxDeliveriesSpooled',
    labels: { severity: 'warning', namespace },
    fires: { 'while deliveries are spooled': [deliveries('spooled', rising(2)), '25m'] },
    silent: { 'once they are published again': [{ ...deliveries('spooled', '0 5 9 9+0x90'), ...deliveries('published', rising(9)) }, '40m'] },
  },
  {
    alert: 'SignalboxSpoolNotDraining',
    labels: { severity: 'warning', namespace, pod: 'relay-0' },
    fires: { 'when the oldest waits for more than a quarter of an hour': [{ [onRelay('signalbox_spool_oldest_age_seconds')]: rising(60) }, '22m'] },
    silent: { 'while the spool turns over': [{ [onRelay('signalbox_spool_oldest_age_seconds')]: '0+100x8 0+100x8 0+100x8 0+100x8' }, '30m'] },
  },
  {
    alert: 'SignalboxReplayFailing',
    labels: { severity: 'warning', namespace, source: 'row' },
    fires: { 'when every try fails': [{ ...replays('unavailable', rising(3)), ...replays('published', always(7)) }, '40m'] },
    silent: { 'when some succeed': [{ ...replays('unavailable', rising(3)), ...replays('published', rising(1)) }, '40m'] },
  },
  {
    alert: 'SignalboxDeliveryRefused',
    labels: { severity: 'warning', namespace, source: 'file', outcome: 'refused' },
    fires: { 'at the first refusal': [replays('refused', '0 0 0 1+0x30', 'file'), '10m'] },
    silent: { 'while there is none': [replays('refused', always(0), 'file'), '30m'] },
  },
  {
    alert: 'SignalboxDeliveryRefused',
    labels: { severity: 'warning', namespace, source: 'row', outcome: 'corrupt' },
    fires: { 'at the first row that nobody can read': [{ ...replays('corrupt', '0 0 0 1+0x30'), ...replays('published', rising(3)) }, '10m'] },
    silent: { 'while rows can be read or may be later': [{ ...replays('corrupt', always(0)), ...replays('failed', rising(1)) }, '30m'] },
  },
  {
    alert: 'SignalboxRefusedKept',
    labels: { severity: 'warning', namespace, pod: 'relay-0' },
    fires: { 'while one lies there': [{ [onRelay('signalbox_spool_refused_files')]: always(1) }, '16m'] },
    silent: { 'when somebody moves it back soon': [{ [onRelay('signalbox_spool_refused_files')]: '1+0x10 0+0x30' }, '10m'] },
  },
  {
    alert: 'SignalboxDeliveryLost',
    labels: { severity: 'critical', namespace },
    fires: { 'at the first one': [deliveries('lost', '0 0 0 1+0x30'), '5m'] },
    silent: { 'while they are spooled': [{ ...deliveries('lost', always(0)), ...deliveries('spooled', rising(9)) }, '30m'] },
  },
  {
    alert: 'SignalboxQueueNotConsumed',
    labels: { severity: 'critical', namespace, broker, queue: 'forge' },
    fires: { 'when a queue only grows': [queue('forge', rising(1)), '65m'], 'when it stays': [queue('forge', always(5)), '65m'] },
    silent: {
      'when it is emptied by a job every quarter of an hour': [queue('forge', '0+1x14 1+1x14 1+1x14 1+1x14 1+1x14 1+1x14'), '80m'],
      'for dead letters': [queue('forge.dead', always(5)), '65m'],
    },
  },
  {
    alert: 'SignalboxQueueBacklog',
    labels: { severity: 'warning', namespace, broker, queue: 'forge-database' },
    fires: { 'above a thousand': [queue('forge-database', always(1001)), '16m'] },
    silent: { 'while it is worked off in ten minutes': [queue('forge-database', '5000-500x10 0+0x30'), '7m'] },
  },
  {
    alert: 'SignalboxQueueStarving',
    labels: { severity: 'warning', namespace, broker, queue: 'forge' },
    fires: { 'after an hour without an empty queue': [notEmptyFor('relay-0', 'forge', '0+60x90'), '70m'] },
    silent: {
      'within the hour': [notEmptyFor('relay-0', 'forge', '0+60x90'), '59m'],
      'when one of two relays has found it empty': [{ ...notEmptyFor('relay-0', 'forge', '0+60x90'), ...notEmptyFor('relay-1', 'forge', always(30)) }, '80m'],
      'for what was given up': [notEmptyFor('relay-0', 'forge.dead', '0+60x90'), '80m'],
    },
  },
  {
    alert: 'SignalboxDeadLetters',
    labels: { severity: 'warning', namespace, broker },
    fires: { 'for a single one': [queue('forge.dead', always(1)), '16m'] },
    silent: { 'for what waits in the other queues': [{ ...queue('forge.dead', always(0)), ...queue('forge', always(9)) }, '30m'] },
  },
];

const otherCases: readonly Cases[] = [
  {
    alert: 'SignalboxIntakeDown',
    labels: { severity: 'critical', deployable: 'webhook-intake' },
    fires: { 'while only the relay runs': [relayRuns, '6m'] },
    silent: { 'while one runs': [check(onWorker, { deployable: 'webhook-intake', check: 'database' }, 1), '20m'] },
  },
  {
    alert: 'SignalboxWorkerFailing',
    labels: { severity: 'critical', namespace, worker: 'service' },
    fires: { 'when every batch fails': [{ ...runs('failed', rising(12)), ...runs('succeeded', always(40)) }, '35m'] },
    silent: { 'when a batch fails among others': [{ ...runs('failed', rising(1)), ...runs('succeeded', rising(20)) }, '35m'] },
  },
  {
    alert: 'SignalboxWorkerMessageOld',
    labels: { severity: 'warning', namespace, pod: 'service-0', worker: 'service' },
    fires: { 'when a delivery is in hand for long': [{ [onWorker('signalbox_worker_oldest_message_seconds')]: rising(60) }, '27m'] },
    silent: { 'at a delivery that was spooled for long, once': [{ [onWorker('signalbox_worker_oldest_message_seconds')]: '0 5000 5000 0+0x30' }, '2m'] },
  },
  {
    alert: 'SignalboxWorkerDisconnected',
    labels: { severity: 'warning', namespace, pod: 'service-0', worker: 'service', broker },
    fires: { 'when it is away': [{ [onWorker('signalbox_worker_connected', { broker })]: always(0) }, '11m'] },
    silent: { 'while it is away for three minutes': [{ [onWorker('signalbox_worker_connected', { broker })]: '0 0 0 0 1+0x30' }, '3m'] },
  },
  {
    alert: 'SignalboxBrokerLeftBehind',
    labels: { severity: 'warning', namespace, ...leftBroker },
    fires: {
      'when no worker has ever seen it': [left(1000), '16m'],
      'when its queues were empty before the last message only': [{ ...left(1000), ...emptied(900) }, '16m'],
    },
    silent: {
      'when its queues were empty since': [{ ...left(1000), ...emptied(1100) }, '60m'],
      'while it is configured': [emptied(900), '60m'],
    },
  },
  {
    alert: 'SignalboxBookmarksDown',
    labels: { severity: 'critical', deployable: 'bookmarks' },
    fires: { 'while only the relay runs': [relayRuns, '6m'] },
    silent: { 'while one runs, though unready': [check(onBookmarks, { deployable: 'bookmarks', check: 'schema' }, 0), '20m'] },
  },
  {
    alert: 'SignalboxManyDeadLinks',
    labels: { severity: 'warning', namespace },
    fires: { 'when sixty died within a day': [{ [onBookmarks('signalbox_bookmarks_dead')]: '10+0x1440 70+0x120' }, '1510m'] },
    silent: {
      'while there are many, and no more than yesterday': [{ [onBookmarks('signalbox_bookmarks_dead')]: '500+0x1560' }, '1510m'],
      'when some died within a day': [{ [onBookmarks('signalbox_bookmarks_dead')]: '10+0x1440 30+0x120' }, '1510m'],
    },
  },
  {
    alert: 'SignalboxDigestDown',
    labels: { severity: 'critical', deployable: 'link-digest' },
    fires: { 'while only the relay runs': [relayRuns, '6m'] },
    silent: { 'while one runs, though unready': [check(onDigest, { deployable: 'link-digest', check: 'schema' }, 0), '20m'] },
  },
  {
    alert: 'SignalboxListingsDown',
    labels: { severity: 'critical', deployable: 'listings' },
    fires: { 'while only the relay runs': [relayRuns, '6m'] },
    silent: { 'while one runs': [check(onWorker, { deployable: 'listings', check: 'schema' }, 1), '20m'] },
  },
  {
    alert: 'SignalboxGeocodingStopped',
    labels: { severity: 'critical', namespace, pod: 'listings-0' },
    fires: { 'when the worker has not run for a while': [{ [onListings('signalbox_health_check_ok', heartbeat)]: always(0) }, '4m'] },
    silent: {
      'while it runs': [{ [onListings('signalbox_health_check_ok', heartbeat)]: always(1) }, '20m'],
      'in the minutes before its first run': [{ [onListings('signalbox_health_check_ok', heartbeat)]: '0 0 1+0x30' }, '3m'],
    },
  },
  {
    alert: 'SignalboxGeocoderFailing',
    labels: { severity: 'warning', namespace },
    fires: { 'when it has not answered for an hour': [{ [onListings('signalbox_geocoder_failing_seconds')]: '0+60x90' }, '60m'] },
    silent: {
      'while it answers': [{ [onListings('signalbox_geocoder_failing_seconds')]: always(0) }, '60m'],
      'after ten minutes without an answer': [{ [onListings('signalbox_geocoder_failing_seconds')]: '0+60x90' }, '10m'],
    },
  },
  {
    alert: 'SignalboxAlertMailsFailing',
    labels: { severity: 'warning', namespace },
    fires: { 'when most mails fail': [{ ...mails('failed', rising(1)), ...mails('created', '0+1x9 9+0x90') }, '60m'] },
    silent: {
      'while few of many fail': [{ ...mails('failed', rising(1)), ...mails('created', rising(2)) }, '60m'],
      'when two mails fail': [{ ...mails('failed', '0 2+0x90'), ...mails('created', always(0)) }, '60m'],
    },
  },
  {
    alert: 'SignalboxUnready',
    labels: { severity: 'warning', namespace, pod: 'relay-0', deployable: 'webhook-relay', check: 'schema' },
    fires: { 'for a schema that is never migrated': [check(onRelay, { deployable: 'webhook-relay', check: 'schema' }, 0), '11m'] },
    silent: { 'for the secrets service, which has its own': [check(onSecrets, { deployable: 'secrets', check: 'schema' }, 0), '20m'] },
  },
  {
    alert: 'SignalboxHttpErrors',
    labels: { severity: 'warning', namespace, deployable: 'webhook-relay' },
    fires: { 'when a tenth is 5xx': [{ ...requests('202', rising(90)), ...requests('503', rising(10)) }, '20m'] },
    silent: {
      'when it is 4xx': [{ ...requests('202', rising(50)), ...requests('401', rising(50)) }, '30m'],
      'when it is a probe of an unready pod': [{ ...requests('202', rising(9)), ...requests('503', rising(9), '/health/ready') }, '30m'],
    },
  },
  {
    alert: 'SignalboxHttpSlow',
    labels: { severity: 'warning', namespace, deployable: 'webhook-relay' },
    fires: { 'when many take long': [{ ...bucket('2.5', rising(90)), ...bucket('5', rising(100)), ...bucket('+Inf', rising(100)) }, '30m'] },
    silent: {
      'when few do': [{ ...bucket('2.5', rising(999)), ...bucket('5', rising(1000)), ...bucket('+Inf', rising(1000)) }, '30m'],
      'when polls of the change feed wait': [{ ...longPolls('2.5', rising(0)), ...longPolls('10', rising(0)), ...longPolls('+Inf', rising(10)) }, '30m'],
    },
  },
];

const all: readonly Cases[] = [...relayCases, ...otherCases, ...intakeCases, ...mailCases, ...consoleCases, ...secretsCases, ...serverCases, ...operatorCases];
export const alertCases: readonly AlertCase[] = all.flatMap(({ alert, labels, fires, silent }) => [
  ...Object.entries(fires).map(([when, [given, at]]) => ({ alert, when, given, at, firing: [labels] })),
  ...Object.entries(silent).map(([when, [given, at]]) => ({ alert, when, given, at, firing: [] })),
]);
