// UptimeRobot: a site that is down or up again, a certificate about to expire. https://help.uptimerobot.com/
import { lineAt, sharedToken, type Source, urlAt } from './source.ts';

/** UptimeRobot's numbers. */
const alertTypes: Readonly<Record<string, string>> = { 1: 'down', 2: 'up', 3: 'ssl_expiry' };

const saidOf = new Map([
  ['down', 'is down'],
  ['up', 'is up'],
  ['ssl_expiry', 'has a certificate that expires soon'],
]);

/** In words; a number that is not known stays one. */
function alertType(payload: unknown): string | undefined {
  const number = lineAt(payload, 'alertType') ?? '';
  return Object.hasOwn(alertTypes, number) ? alertTypes[number] : number || undefined;
}

const said = (payload: unknown) =>
  saidOf.get(alertType(payload) ?? '') ?? `has an alert: ${lineAt(payload, 'alertTypeFriendlyName') ?? alertType(payload) ?? 'unknown'}`;

export const uptimerobot: Source = {
  name: 'uptimerobot',
  vendor: 'UptimeRobot',
  verification: sharedToken,
  takesForms: true,
  example: {
    body: {
      monitorID: 77001,
      monitorURL: 'https://signals.example/',
      monitorFriendlyName: 'Signals',
      alertType: 2,
      alertDetails: 'HTTP 200 - OK',
      alertDateTime: 1767225660,
    },
  },
  read: ({ payload }) => ({
    event: alertType(payload),
    // A monitor may be down and up again within the same second.
    key: [lineAt(payload, 'monitorID'), lineAt(payload, 'alertType'), lineAt(payload, 'alertDateTime')],
    isFailure: alertType(payload) !== 'up',
  }),
  notice: (payload) => ({
    title: `${lineAt(payload, 'monitorFriendlyName') ?? lineAt(payload, 'monitorID') ?? 'A monitor'} ${said(payload)}`,
    text: lineAt(payload, 'alertDetails') ?? '',
    url: urlAt(payload, 'monitorURL'),
  }),
};
