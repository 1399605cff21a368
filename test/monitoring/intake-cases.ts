// For each alert on runs of workers and on notifications: input that makes it fire, and input close to it that does not.
// The intake reports runs from their records.
const lastRun = (metric: string, worker: string, values: string) => ({
  [`signalbox_worker_last_${metric}{worker="${worker}",namespace="signalbox",pod="intake-0",instance="10.0.0.7:9090"}`]: values,
});
const intake = (metric: string, label: string, values: string, pod = 'intake-0') => ({ [`${metric}{${label},namespace="signalbox",pod="${pod}"}`]: values });
const ofMail = (metric: string, values: string, pod?: string) => intake(`signalbox_outbox_${metric}`, 'channel="smtp"', values, pod);
const rules = (values: string) => intake('signalbox_notification_rules_current', 'part="worker"', values);

export const intakeCases = [
  {
    alert: 'SignalboxWorkerRunFailed',
    labels: { severity: 'warning', namespace: 'signalbox', worker: 'cleanup' },
    fires: { 'when its last run has been a failed one for an hour': [lastRun('run_failed', 'cleanup', '1+0x90'), '61m'] },
    silent: { 'when the next run succeeds': [lastRun('run_failed', 'cleanup', '1+0x20 0+0x80'), '70m'] },
  },
  {
    alert: 'SignalboxWorkerNotRun',
    labels: { severity: 'warning', namespace: 'signalbox', worker: 'maintenance' },
    fires: { 'after two hours of maintenance': [lastRun('success_timestamp_seconds', 'maintenance', '0+0x200'), '135m'] },
    silent: {
      'of cleanup within a day': [lastRun('success_timestamp_seconds', 'cleanup', '0+0x1500'), '23h'],
      'while maintenance succeeds': [lastRun('success_timestamp_seconds', 'maintenance', '0+60x200'), '190m'],
    },
  },
  {
    alert: 'SignalboxNotificationsWaiting',
    labels: { severity: 'warning', namespace: 'signalbox', channel: 'smtp' },
    fires: { 'when the oldest has waited for more than an hour': [ofMail('oldest_seconds', '0+60x120'), '72m'] },
    silent: { 'beyond the cap of an hour, which is usual': [ofMail('oldest_seconds', '0+60x59 0+60x60'), '110m'] },
  },
  {
    alert: 'SignalboxNotificationsFailed',
    labels: { severity: 'warning', namespace: 'signalbox', channel: 'smtp' },
    fires: {
      'at the first one that is given up': [ofMail('failed', '0x10 1x60'), '11m'],
      'when there are more than before, and one replica was not scraped since': [
        { ...ofMail('failed', '3x10 4x10'), ...ofMail('failed', '3x20', 'intake-1') },
        '15m',
      ],
    },
    silent: {
      'at those of long ago': [ofMail('failed', '0x10 5x100'), '80m'],
      'when cleanup deletes some': [ofMail('failed', '5x20 3x60'), '30m'],
    },
  },
  {
    alert: 'SignalboxNotificationRulesFaulty',
    labels: { severity: 'warning', namespace: 'signalbox', pod: 'intake-0', part: 'worker' },
    fires: { 'while the file has faults': [rules('1 1 0x30'), '8m'] },
    silent: { 'when the file is mended soon': [rules('1 0 0 1x30'), '9m'] },
  },
] as const;
