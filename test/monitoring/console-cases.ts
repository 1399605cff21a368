// For each alert on the console: input that makes it fire, and input close to it that does not.
const refused = (service: string, values: string) => ({
  [`signalbox_console_credential_refused{service="${service}",namespace="signalbox",pod="console-0",instance="10.0.0.9:9090"}`]: values,
});

const runs = 'signalbox_health_check_ok{deployable="console",check="schema",namespace="signalbox",pod="console-0",instance="10.0.0.9:9090"}';

export const consoleCases = [
  {
    alert: 'SignalboxConsoleDown',
    labels: { severity: 'critical', deployable: 'console' },
    fires: { 'five minutes after the last console went': [{ [runs]: '1+0x5' }, '20m'] },
    silent: {
      'while one runs': [{ [runs]: '1+0x90' }, '20m'],
      'during a restart of three minutes': [{ [runs]: '1 1 stale _ _ 1+0x30' }, '4m'],
    },
  },
  {
    alert: 'SignalboxConsoleCredentialRefused',
    labels: { severity: 'warning', namespace: 'signalbox', service: 'secrets' },
    fires: { 'when one service of two refuses it': [{ ...refused('secrets', '1+0x90'), ...refused('bookmarks', '0+0x90') }, '16m'] },
    silent: { 'during a rolling restart': [refused('secrets', '0 1+0x8 0+0x60'), '20m'] },
  },
] as const;
