// The runbook for a fault that a page shows: the page that an alert on the same fault names.
import type { Problem } from '../platform/problem.ts';
import { Problems, type ServiceName } from './contract.ts';
import type { Runbook } from './view/states.ts';

const down: Readonly<Record<ServiceName, string>> = {
  relay: 'SignalboxRelayDown',
  intake: 'SignalboxIntakeDown',
  digest: 'SignalboxDigestDown',
  secrets: 'SignalboxSecretsDown',
  bookmarks: 'SignalboxBookmarksDown',
  listings: 'SignalboxListingsDown',
};
const alerts: ReadonlyMap<string, string> = new Map([
  [Problems.serviceSlow.type, 'SignalboxHttpSlow'],
  [Problems.serviceFailed.type, 'SignalboxHttpErrors'],
  [Problems.busy.type, 'SignalboxUnready'],
  [Problems.credentialRefused.type, 'SignalboxConsoleCredentialRefused'],
]);

const isService = (name: unknown): name is ServiceName => typeof name === 'string' && Object.hasOwn(down, name);

/** @param base `Console__RunbookUrl`: the address of the files of this repository */
export function runbookOf({ kind, status, members: { service } }: Problem, base: string | undefined): Runbook | undefined {
  // Without a service it is the console itself that fails: 503 while its database is away.
  const own = status === 503 ? 'SignalboxUnready' : status === 500 ? 'SignalboxHttpErrors' : undefined;
  const alert = isService(service) ? (alerts.get(kind.type) ?? (kind.type === Problems.serviceAway.type ? down[service] : undefined)) : own;
  if (alert === undefined) return undefined;
  const page = `k8s/runbooks/${alert}.md`;
  return { page, ...(base !== undefined && { href: `${base.replace(/\/*$/, '/')}${page}` }) };
}
