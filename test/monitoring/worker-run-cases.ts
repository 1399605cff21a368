// For each alert on runs of workers: input that makes it fire, and input close to it that does not. The intake tells of them from their records.
const lastRun = (metric: string, worker: string, values: string) => ({
  [`signalbox_worker_last_${metric}{worker="${worker}",namespace="signalbox",pod="intake-0",instance="10.0.0.7:9090"}`]: values,
});

export const workerRunCases = [
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
] as const;
