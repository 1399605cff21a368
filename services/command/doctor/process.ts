// The doctor asks the process beside it, on its metrics port, for what no service answers: the readiness of workers, and what is stuck.
import { Readiness } from '../../platform/health.ts';
import { fetchFrom, type Installation, serviceNames } from '../installation.ts';
import type { Check, Finding } from './finding.ts';
import { remedies } from './services.ts';

export const processChecks = ({ metricsUrl }: Installation): Check[] =>
  metricsUrl === undefined ? [] : [{ subject: 'this process', run: () => lookAtProcess(metricsUrl) }];

async function lookAtProcess(url: string): Promise<readonly Finding[]> {
  const ask = (path: string) => fetchFrom('metrics', `${url}${path}`).then((response) => response.text());
  const [readiness, metrics] = await Promise.all([ask('/health/ready'), ask('/metrics')]);
  const workers = workerFindings(Readiness.parse(JSON.parse(readiness)));
  return [...workers, ...gaugeFindings(metrics).filter(({ subject }) => !workers.some((worker) => worker.subject === subject))];
}

const isService = (name: string) => serviceNames.some((service) => service === name);

/** Services are asked themselves. Checks are named `<process>.<check>`. */
export function workerFindings({ checks }: Readiness): readonly Finding[] {
  const named = Object.entries(checks).map(([name, check]) => {
    const dot = name.indexOf('.');
    return { process: name.slice(0, dot), check: name.slice(dot + 1), ...check };
  });
  return named
    .filter(({ process, ok }) => !ok && !isService(process))
    .map(({ process, check, detail = 'failed' }) => ({
      subject: process,
      state: 'wrong',
      detail: `not ready: ${check}: ${detail}`,
      toDo: remedies[check] ?? `correct what the detail names; the log of ${process} says more`,
    }));
}

type Labels = Readonly<Record<string, string>>;
type Gauge = {
  readonly isBad: (value: number, labels: Labels) => boolean;
  readonly finding: (value: number, labels: Labels) => Finding;
};

const lateSeconds = 60;

const gauges: Readonly<Record<string, Gauge>> = {
  signalbox_notification_rules_current: {
    isBad: (value) => value === 0,
    finding: () => ({
      subject: 'notifications',
      state: 'warning',
      detail: 'the file of rules was changed and has faults: the rules before it stay in use',
      toDo: 'correct the file: the log names each fault (reloading the notification rules failed)',
    }),
  },
  signalbox_own_events_oldest_seconds: {
    isBad: (value) => value > lateSeconds,
    finding: (value, { deployable }) => ({
      subject: 'own events',
      state: 'warning',
      detail: `${deployable} could not post the oldest for ${Math.round(value)} s`,
      toDo: 'see whether Events__Url answers: the log has its answer (posting an event failed)',
    }),
  },
  signalbox_digest_broker_connected: {
    isBad: (value) => value === 0,
    finding: () => ({
      subject: 'mails',
      state: 'wrong',
      detail: 'the link digest is not connected to the broker with the queue of mails: it takes none',
      toDo: 'see whether the broker of Ingest__BrokerUrl runs, and takes its user: the log of the link digest says why it is not connected',
    }),
  },
  signalbox_digest_queue_messages: {
    isBad: (value, { queue = '' }) => queue.endsWith('.dlq') && value > 0,
    finding: (value) => ({
      subject: 'mails',
      state: 'warning',
      detail: `${value} to the link digest were given up, and wait among the dead letters`,
      toDo: 'signalbox digest dead-letters has their reasons: k8s/runbooks/SignalboxNewslettersRejected.md',
    }),
  },
  signalbox_worker_connected: {
    isBad: (value) => value === 0,
    finding: (_value, { worker }) => ({
      subject: `worker ${worker}`,
      state: 'warning',
      detail: 'does not reach a broker connection: what the relay publishes there waits',
      toDo: `see whether that broker runs: the log of ${worker} says why it is not connected`,
    }),
  },
  // A process that also takes mails by SMTP stays ready without its mailbox.
  signalbox_mailbox_connected: {
    isBad: (value) => value === 0,
    finding: (_value, { folder }) => ({
      subject: 'mailbox',
      state: 'wrong',
      detail: `the folder ${folder} is not followed: its mails wait there`,
      toDo: 'correct what the log of mailbox names (following the folder failed); a change on the mail server needs no restart',
    }),
  },
  signalbox_mail_mails_total: {
    // A service that starts later than this process answers the first tries with 503.
    isBad: (value, { outcome }) => (outcome === 'refused' ? value > 0 : outcome !== 'taken' && value > 3),
    finding: (value, { door, outcome }) => ({
      subject: 'mails',
      state: 'warning',
      detail: `by ${door}, ${outcome === 'refused' ? 'refused for good' : 'not taken at a try, and tried again'} (since this process started: ${value})`,
      toDo:
        outcome === 'refused'
          ? 'k8s/runbooks/SignalboxMailsRefused.md: the log has the reason (mail refused)'
          : `see what the service answered: the log has it (${door === 'imap' ? 'mails wait' : 'mail unavailable'})`,
    }),
  },
  signalbox_secrets_expired: {
    isBad: (value) => value > 0,
    finding: (value) => ({
      subject: 'expired secrets',
      state: 'wrong',
      detail: `${value} within 7 days without a newer version: an older one is served again, or none`,
      toDo: 'append a new value of each: k8s/runbooks/SignalboxSecretsExpired.md has the command that lists them',
    }),
  },
  signalbox_secrets_reads_total: {
    isBad: (value, { outcome }) => outcome === 'refused' && value > 0,
    finding: (value) => ({
      subject: 'changed secrets',
      state: 'warning',
      detail: `a value was changed in the database past the service: it is not served (refused reads since this process started: ${value})`,
      toDo: 'k8s/runbooks/SignalboxSecretTampered.md: the log has the versionId (changed or moved)',
    }),
  },
  signalbox_secrets_token_reviews_total: {
    isBad: (value, { outcome = '' }) => outcome.endsWith('failed') && value > 0,
    finding: (value) => ({
      subject: 'tokens of pods',
      state: 'warning',
      detail: `the API server gave no usable answer (since this process started: ${value}): reads with those tokens were answered 503`,
      toDo: 'k8s/runbooks/SignalboxTokenReviewsFailing.md: the log has the reason (asking the API server about the token)',
    }),
  },
  signalbox_secrets_audit_waiting: {
    isBad: (value) => value > 5000,
    finding: (value) => ({
      subject: 'audit',
      state: 'wrong',
      detail: `${value} entries wait for the database; from 20 000 on reads of secrets are refused, and an end of this process would lose them`,
      toDo: 'restart nothing: see whether Postgres answers and has room; the log says why they are not written',
    }),
  },
  signalbox_secrets_audit_lost_total: {
    isBad: (value) => value > 0,
    finding: (value) => ({
      subject: 'audit',
      state: 'warning',
      detail: `the database refused entries (since this process started: ${value}): only the log has them`,
      toDo: 'keep its lines (audit entry refused)',
    }),
  },
  signalbox_relay_deliveries_total: {
    isBad: (value, { outcome }) => outcome === 'lost' && value > 0,
    finding: (value) => ({
      subject: 'lost deliveries',
      state: 'warning',
      detail: `${value} since this process started: neither a broker nor the disk took them, only the forge has them`,
      toDo: 'mend what is wrong here and the disk of the spool, then redeliver them at the forge; the log says why (spooling a delivery failed)',
    }),
  },
  signalbox_geocoder_failing_seconds: {
    isBad: (value) => value > lateSeconds,
    finding: (value) => ({
      subject: 'geocoder',
      state: 'warning',
      detail: `has answered nothing for ${Math.round(value)} s`,
      toDo: 'see whether it answers, and takes the key: the log has the reason (geocoder unavailable)',
    }),
  },
};

/** @param metrics in the text format of Prometheus */
export function gaugeFindings(metrics: string): readonly Finding[] {
  const found = [...metrics.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].flatMap(([, name = '', text = '', number = '']): Finding[] => {
    const gauge = gauges[name];
    const value = Number(number);
    const labels = Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', of = '']) => [label, of]));
    return gauge?.isBad(value, labels) ? [gauge.finding(value, labels)] : [];
  });
  // A gauge of two parts of a process says the same twice.
  return [...new Map(found.map((finding) => [finding.subject + finding.detail, finding])).values()];
}
