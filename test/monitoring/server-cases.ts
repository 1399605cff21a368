// For each alert on backups and servers: input that makes it fire, and input close to it that does not. Their metrics are those of others.
const cronJob = (metric: string, values: string, name = 'signalbox-backup') => ({
  [`kube_cronjob_${metric}{namespace="signalbox",cronjob="${name}"}`]: values,
});

const rabbitmq = (metric: string, values: string) => ({ [`rabbitmq_${metric}{namespace="signalbox",pod="rabbitmq-0"}`]: values });
const free = (percent: number) => ({
  'kubelet_volume_stats_available_bytes{namespace="signalbox",persistentvolumeclaim="data-postgres-0"}': `${percent}+0x30`,
  'kubelet_volume_stats_capacity_bytes{namespace="signalbox",persistentvolumeclaim="data-postgres-0"}': '100+0x30',
});
const filling = (severity: string) => ({ severity, namespace: 'signalbox', persistentvolumeclaim: 'data-postgres-0' });
const waiting = (values: string) => ({ 'signalbox_database_waiting{namespace="signalbox",pod="relay-0",schema="relay",pool="database"}': values });
const ownEvents = (values: string) => ({ 'signalbox_own_events_oldest_seconds{namespace="signalbox",pod="relay-0",deployable="webhook-relay"}': values });

export const serverCases = [
  {
    alert: 'SignalboxRabbitmqDown',
    labels: { severity: 'critical' },
    fires: { 'five minutes after the last one went': [rabbitmq('identity_info', '1+0x5'), '16m'] },
    silent: { 'while one runs': [rabbitmq('identity_info', '1+0x30'), '20m'] },
  },
  {
    alert: 'SignalboxRabbitmqAlarm',
    labels: { severity: 'critical', namespace: 'signalbox', pod: 'rabbitmq-0' },
    fires: {
      'at an alarm of memory': [{ ...rabbitmq('alarms_memory_used_watermark', '1+0x30'), ...rabbitmq('alarms_free_disk_space_watermark', '0+0x30') }, '5m'],
      'at an alarm of disk': [{ ...rabbitmq('alarms_memory_used_watermark', '0+0x30'), ...rabbitmq('alarms_free_disk_space_watermark', '1+0x30') }, '5m'],
    },
    silent: { without: [{ ...rabbitmq('alarms_memory_used_watermark', '0+0x30'), ...rabbitmq('alarms_free_disk_space_watermark', '0+0x30') }, '20m'] },
  },
  {
    alert: 'SignalboxVolumeFilling',
    labels: filling('warning'),
    fires: { 'below 15 %': [free(14), '20m'] },
    silent: { above: [free(16), '20m'] },
  },
  {
    alert: 'SignalboxVolumeFilling',
    labels: filling('critical'),
    fires: { 'below 5 %': [free(4), '20m'] },
    silent: { 'above 15 %': [free(16), '20m'] },
  },
  {
    alert: 'SignalboxDatabasePoolFull',
    labels: { severity: 'warning', namespace: 'signalbox', pod: 'relay-0', schema: 'relay', pool: 'database' },
    fires: { 'when somebody always waits': [waiting('3+0x30'), '20m'] },
    silent: { 'when somebody waits now and then': [waiting('3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3'), '20m'] },
  },
  {
    alert: 'SignalboxOwnEventsWaiting',
    labels: { severity: 'warning', namespace: 'signalbox', deployable: 'webhook-relay' },
    fires: { 'when the receiver has been away for an hour': [ownEvents('3600+60x30'), '20m'] },
    silent: { 'while events wait for some minutes': [ownEvents('300+0x30'), '20m'] },
  },
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
