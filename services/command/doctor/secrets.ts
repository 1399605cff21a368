// The doctor asks the secrets service for versions that expire soon.
import { Expiring } from '../../secrets/overview/contract.ts';
import { numberText } from '../figures.ts';
import type { Installation } from '../installation.ts';
import type { Check, Finding } from './finding.ts';

const subject = 'expiring secrets';
const soonDays = 14;
const mostAsked = 50;

export const secretChecks = (installation: Installation): Check[] =>
  installation.canAsk('secrets') ? [{ subject, run: () => lookAtExpiring(installation) }] : [];

async function lookAtExpiring(installation: Installation): Promise<readonly Finding[]> {
  const path = `/api/management/expiring?within=${soonDays}d&limit=${mostAsked}`;
  const { items, next } = await installation.ask('secrets', { path }, Expiring);
  const [first] = items;
  if (!first) return [{ subject, state: 'ok', detail: `none within ${soonDays} days` }];
  const { application, environment, secret, expiresAt } = first;
  const count = `${numberText(items.length)}${next === null ? '' : ' or more'}`;
  return [
    {
      subject,
      state: 'warning',
      detail: `${count} within ${soonDays} days, the first is ${secret} of ${application} in ${environment} on ${expiresAt.slice(0, 10)}`,
      toDo: 'append a new value of each; /api/management/expiring lists them',
    },
  ];
}
