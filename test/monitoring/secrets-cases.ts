// For each alert on the secrets service: input that makes it fire, and input close to it that does not.
const target = 'namespace="signalbox",pod="secrets-0",instance="10.0.0.3:9090"';
const onSecrets = (name: string, labels: Readonly<Record<string, string>> = {}) =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}",`)
    .join('')}${target}}`;
const check = (labels: { readonly deployable: string; readonly check: string }, value: number) => ({
  [onSecrets('signalbox_health_check_ok', labels)]: always(value),
});
const always = (value: number) => `${value}+0x90`;
const rising = (by: number) => `0+${by}x90`;
const namespace = 'signalbox';

export const secretsCases = [
  {
    alert: 'SignalboxSecretsDown',
    labels: { severity: 'critical', deployable: 'secrets' },
    fires: {
      'while only the relay runs': [
        { 'signalbox_health_check_ok{deployable="webhook-relay",check="spool",namespace="signalbox",pod="relay-0"}': always(1) },
        '6m',
      ],
    },
    silent: { 'while one runs, though unready': [check({ deployable: 'secrets', check: 'schema' }, 0), '20m'] },
  },
  {
    alert: 'SignalboxSecretsUnready',
    labels: { severity: 'critical', namespace, pod: 'secrets-0', check: 'master keys' },
    fires: {
      'when a master key is wrong': [
        {
          [onSecrets('signalbox_health_check_ok', { deployable: 'secrets', check: 'master keys' })]: always(0),
          [onSecrets('signalbox_health_check_ok', { deployable: 'secrets', check: 'schema' })]: always(1),
        },
        '6m',
      ],
    },
    silent: { 'while it stops': [check({ deployable: 'secrets', check: 'stopping' }, 0), '20m'] },
  },
  {
    alert: 'SignalboxSecretTampered',
    labels: { severity: 'critical', namespace },
    fires: { 'at the first read that is refused': [{ [onSecrets('signalbox_secrets_reads_total', { outcome: 'refused' })]: '0 0 1+0x30' }, '5m'] },
    silent: { 'at reads of what is not there': [{ [onSecrets('signalbox_secrets_reads_total', { outcome: 'not-found' })]: rising(5) }, '20m'] },
  },
  {
    alert: 'SignalboxTokenReviewsFailing',
    labels: { severity: 'critical', namespace, pod: 'secrets-0' },
    fires: {
      'while reviews get no answer': [
        {
          [onSecrets('signalbox_secrets_token_reviews_total', { outcome: 'failed' })]: rising(1),
          [onSecrets('signalbox_secrets_token_reviews_total', { outcome: 'accepted' })]: rising(9),
        },
        '12m',
      ],
      'while the signing keys cannot be read': [{ [onSecrets('signalbox_secrets_token_reviews_total', { outcome: 'keys-failed' })]: rising(1) }, '12m'],
    },
    silent: {
      'after a short outage': [{ [onSecrets('signalbox_secrets_token_reviews_total', { outcome: 'failed' })]: '0 0 9+0x60' }, '12m'],
      'after two failures, minutes apart': [{ [onSecrets('signalbox_secrets_token_reviews_total', { outcome: 'failed' })]: '0 0 1+0x2 2+0x30' }, '8m'],
      'while tokens of strangers are refused': [{ [onSecrets('signalbox_secrets_token_reviews_total', { outcome: 'refused' })]: rising(9) }, '20m'],
    },
  },
  {
    alert: 'SignalboxAuditBehind',
    labels: { severity: 'warning', namespace, pod: 'secrets-0' },
    fires: { 'when thousands wait': [{ [onSecrets('signalbox_secrets_audit_waiting')]: always(5001) }, '6m'] },
    silent: { 'at a burst that is written': [{ [onSecrets('signalbox_secrets_audit_waiting')]: '0 9000 9000 0+0x30' }, '2m'] },
  },
  {
    alert: 'SignalboxAuditLost',
    labels: { severity: 'critical', namespace, pod: 'secrets-0' },
    fires: { 'at the first one': [{ [onSecrets('signalbox_secrets_audit_lost_total')]: '0 0 1+0x30' }, '5m'] },
    silent: { 'while all are written': [{ [onSecrets('signalbox_secrets_audit_lost_total')]: always(0) }, '20m'] },
  },
  {
    alert: 'SignalboxSecretsExpiring',
    labels: { severity: 'warning', namespace },
    fires: { 'when a version expires soon': [{ [onSecrets('signalbox_secrets_expiring')]: always(1) }, '61m'] },
    silent: { 'while none does': [{ [onSecrets('signalbox_secrets_expiring')]: always(0) }, '90m'] },
  },
  {
    alert: 'SignalboxSecretsExpired',
    labels: { severity: 'critical', namespace },
    fires: { 'when a version has expired': [{ [onSecrets('signalbox_secrets_expired')]: always(2) }, '6m'] },
    silent: { 'while none has': [{ [onSecrets('signalbox_secrets_expired')]: always(0) }, '20m'] },
  },
] as const;
