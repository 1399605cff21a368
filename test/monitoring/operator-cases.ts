// For each alert on the operator: input that makes it fire, and input close to it that does not.
const of = (metric: string, labels: string, values: string, pod = 'operator-0') => ({
  [`signalbox_operator_${metric}{${labels},namespace="signalbox",pod="${pod}"}`]: values,
});
const leader = (values: string, pod = 'operator-0') => ({ [`signalbox_operator_leader{namespace="signalbox",pod="${pod}"}`]: values });
const failed = (values: string) => of('reconciles_total', 'controller="synced-secrets",outcome="failed"', values);
const depth = (values: string) => of('queue_depth', 'controller="synced-secrets"', values);
const silence = (values: string) => of('last_event_age_seconds', 'kind="SyncedSecret"', values);
const lists = (outcome: string, values: string) => of('lists_total', `kind="SyncedSecret",outcome="${outcome}"`, values);
const objects = (ready: string, reason: string, values: string) => of('objects', `kind="SyncedSecret",ready="${ready}",reason="${reason}"`, values);

const namespace = 'signalbox';

export const operatorCases = [
  {
    alert: 'SignalboxOperatorDown',
    labels: { severity: 'critical' },
    fires: { 'five minutes after the last one went': [leader('1+0x5'), '20m'] },
    silent: { 'while one runs that does not lead': [leader('0+0x60'), '20m'] },
  },
  {
    alert: 'SignalboxOperatorNoLeader',
    labels: { severity: 'critical', namespace },
    fires: { 'when none of two leads': [{ ...leader('1+0x5 0+0x30'), ...leader('0+0x60', 'operator-1') }, '10m'] },
    silent: {
      'when another one follows': [{ ...leader('1+0x5 0+0x30'), ...leader('0+0x6 1+0x30', 'operator-1') }, '20m'],
      'while nobody says anything': [leader('1+0x5'), '20m'],
    },
  },
  {
    alert: 'SignalboxOperatorReconcilesFailing',
    labels: { severity: 'warning', namespace, controller: 'synced-secrets' },
    fires: { 'while one object fails every 15 s': [failed('0+4x60'), '30m'] },
    silent: { 'when few fail, and are done later': [failed('0x5 0 2 4 6x60'), '20m'] },
  },
  {
    alert: 'SignalboxOperatorQueueNotDraining',
    labels: { severity: 'warning', namespace, controller: 'synced-secrets' },
    fires: { 'when there is always something in it': [depth('0x3 5x60'), '40m'] },
    silent: {
      'when it is empty now and then': [depth('5x9 0 5x9 0 5x9 0 5x9 0 5x9'), '40m'],
      'after it was long for a while': [depth('900x8 0x60'), '40m'],
    },
  },
  {
    alert: 'SignalboxOperatorWatchSilent',
    labels: { severity: 'warning', namespace, kind: 'SyncedSecret' },
    fires: { 'when nothing was heard for minutes': [silence('0+60x30'), '12m'] },
    silent: { 'while bookmarks come': [silence('0 60 5 60 5 60 5 60 5 60 5 60 5 60'), '12m'] },
  },
  {
    alert: 'SignalboxOperatorWatchBreaking',
    labels: { severity: 'warning', namespace, kind: 'SyncedSecret' },
    fires: {
      'when it is listed anew each minute': [lists('listed', '0+1x90'), '60m'],
      'when watch and list fail': [lists('failed', '0+6x90'), '60m'],
    },
    silent: { 'when it is listed now and then': [lists('listed', '1x10 2x10 3x10 4x10 5x10 6x10'), '60m'] },
  },
  {
    alert: 'SignalboxOperatorObjectsNotReady',
    labels: { severity: 'warning', namespace, kind: 'SyncedSecret', reason: 'NotFound' },
    fires: { 'when one is not Ready for half an hour': [objects('False', 'NotFound', '1x60'), '40m'] },
    silent: {
      'when it is Ready within half an hour': [objects('False', 'NotFound', '1x20 stale'), '40m'],
      'while all are': [objects('True', 'Synced', '9x60'), '40m'],
    },
  },
] as const;
