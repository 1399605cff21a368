// UptimeRobot: a site that is down or up again, a certificate about to expire. https://help.uptimerobot.com/
import { lineAt, sharedToken, type Source, urlAt } from './source.ts';

/** By UptimeRobot's numbers. */
const alerts: ReadonlyMap<string, { readonly type: string; readonly says: string }> = new Map([
  ['1', { type: 'down', says: 'is down' }],
  ['2', { type: 'up', says: 'is up' }],
  ['3', { type: 'ssl_expiry', says: 'has a certificate that expires soon' }],
]);

const numberOf = (payload: unknown) => lineAt(payload, 'alertType') ?? '';

/** In words; a number that is not known stays one. */
const alertType = (payload: unknown): string | undefined => alerts.get(numberOf(payload))?.type ?? (numberOf(payload) || undefined);

const alertText = (payload: unknown) =>
  alerts.get(numberOf(payload))?.says ?? `has an alert: ${lineAt(payload, 'alertTypeFriendlyName') ?? alertType(payload) ?? 'unknown'}`;

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
    title: `${lineAt(payload, 'monitorFriendlyName') ?? lineAt(payload, 'monitorID') ?? 'A monitor'} ${alertText(payload)}`,
    text: lineAt(payload, 'alertDetails') ?? '',
    url: urlAt(payload, 'monitorURL'),
  }),
};
