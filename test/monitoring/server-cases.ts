// For each alert on backups and servers: input that makes it fire, and input close to it that does not. Their metrics are those of others.
const cronJob = (metric: string, values: string, name = 'signalbox-backup') => ({
  [`kube_cronjob_${metric}{namespace="signalbox",cronjob="${name}"}`]: values,
});

export const serverCases = [
  {
    alert: 'SignalboxBackupOld',
    labels: { severity: 'warning', namespace: 'signalbox', cronjob: 'signalbox-backup' },
    // Time begins at 0 here: two days ago is a negative one.
    fires: {
      'when none has succeeded for two days': [{ ...cronJob('status_last_successful_time', '-173000+0x30'), ...cronJob('created', '-900000+0x30') }, '20m'],
      'when none has ever succeeded': [cronJob('created', '-173000+0x30'), '20m'],
    },
    silent: {
      'when one succeeded yesterday': [{ ...cronJob('status_last_successful_time', '-90000+0x30'), ...cronJob('created', '-900000+0x30') }, '20m'],
      'of another CronJob': [cronJob('created', '-900000+0x30', 'signalbox-restore'), '20m'],
    },
  },
] as const;
