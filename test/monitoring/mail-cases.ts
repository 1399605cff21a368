// For each alert on mails, from the mailbox to the digest: input that makes it fire, and input close to it that does not.
const onMail = (metric: string, labels: string, values: string) => ({
  [`${metric}{${labels},namespace="signalbox",pod="mail-0",instance="10.0.0.8:9090"}`]: values,
});
const followed = (folder: string, values: string) => onMail('signalbox_mailbox_connected', `folder="${folder}"`, values);
const handed = (outcome: string, values: string) => onMail('signalbox_mail_mails_total', `door="imap",target="digest",outcome="${outcome}"`, values);

const onDigest = (metric: string, labels: string, values: string) => ({
  [`signalbox_digest_${metric}{${labels}namespace="signalbox",pod="digest-0",instance="10.0.0.6:9090"}`]: values,
});
const newsletters = (outcome: string, values: string) => onDigest('mails_processed_total', `outcome="${outcome}",`, values);
const newslettersWaiting = (queue: string, values: string) => onDigest('queue_messages', `queue="${queue}",`, values);

export const mailCases = [
  {
    alert: 'SignalboxDigestBrokerDisconnected',
    labels: { severity: 'critical', namespace: 'signalbox', pod: 'digest-0' },
    fires: { 'when the broker has been away for a while': [onDigest('broker_connected', '', '0+0x90'), '11m'] },
    silent: {
      'while it is connected': [onDigest('broker_connected', '', '1+0x90'), '20m'],
      'for a few minutes without it': [onDigest('broker_connected', '', '1 1 0+0x5 1+0x60'), '20m'],
    },
  },
  {
    alert: 'SignalboxNewslettersWaiting',
    labels: { severity: 'warning', namespace: 'signalbox' },
    fires: { 'when many wait for long': [newslettersWaiting('newsletter.ingest', '60+0x90'), '31m'] },
    silent: {
      'while they are taken off the queue': [newslettersWaiting('newsletter.ingest', '500-20x25 0+0x60'), '60m'],
      'of dead letters': [newslettersWaiting('newsletter.ingest.dlq', '60+0x90'), '60m'],
    },
  },
  {
    alert: 'SignalboxNewslettersRejected',
    labels: { severity: 'warning', namespace: 'signalbox' },
    fires: { 'when most are refused': [{ ...newsletters('rejected', '0+1x90'), ...newsletters('stored', '0+1x9 9+0x90') }, '60m'] },
    silent: {
      'while few of many are refused': [{ ...newsletters('rejected', '0+1x90'), ...newsletters('stored', '0+2x90') }, '60m'],
      'when two are refused': [{ ...newsletters('rejected', '0 2+0x90'), ...newsletters('stored', '0+0x90') }, '60m'],
    },
  },
  {
    alert: 'SignalboxMailboxDisconnected',
    labels: { severity: 'warning', namespace: 'signalbox', folder: 'Newsletters' },
    fires: { 'when one folder of two is not followed': [{ ...followed('Newsletters', '0+0x90'), ...followed('Homes', '1+0x90') }, '16m'] },
    silent: { 'during a reconnect': [followed('Newsletters', '1 1 0+0x5 1+0x60'), '20m'] },
  },
  {
    alert: 'SignalboxMailsNotTaken',
    labels: { severity: 'warning', namespace: 'signalbox', target: 'digest' },
    fires: { 'when the service takes none': [{ ...handed('unavailable', '0+1x90'), ...handed('taken', '7+0x90') }, '70m'] },
    silent: {
      'while some are taken': [{ ...handed('unavailable', '0+1x90'), ...handed('taken', '0+1x90') }, '90m'],
      'while none come': [{ ...handed('unavailable', '3+0x90'), ...handed('taken', '7+0x90') }, '90m'],
    },
  },
  {
    alert: 'SignalboxMailsRefused',
    labels: { severity: 'warning', namespace: 'signalbox', target: 'digest' },
    fires: { 'when several are refused': [handed('refused', '0+1x90'), '30m'] },
    silent: { 'for two': [handed('refused', '0 1 2+0x60'), '60m'] },
  },
] as const;
