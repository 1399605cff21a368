// For each alert on the worker mailbox: input that makes it fire, and input close to it that does not.
const onMail = (metric: string, labels: string, values: string) => ({
  [`${metric}{${labels},namespace="signalbox",pod="mail-0",instance="10.0.0.8:9090"}`]: values,
});
const followed = (folder: string, values: string) => onMail('signalbox_mailbox_connected', `folder="${folder}"`, values);
const handed = (outcome: string, values: string) => onMail('signalbox_mail_mails_total', `door="imap",target="digest",outcome="${outcome}"`, values);

export const mailCases = [
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
