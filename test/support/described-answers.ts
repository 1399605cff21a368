// Watches the answers of all apps of this process: their headers must be those that the API description has. A test that causes another answer fails.
import { subscribe } from 'node:diagnostics_channel';
import { headersOfStatus } from '../../services/platform/http/route.ts';
import { type Answered, answeredChannel } from '../../services/platform/http/routing.ts';

let found: string[] = [];

/** The faults since the last call. */
export function takeUndescribed(): readonly string[] {
  const taken = found;
  found = [];
  return taken;
}

export function watchAnswers(): void {
  subscribe(answeredChannel, (message) => {
    const { route, status, headers } = message as Answered; // the router publishes nothing else
    const described = headersOfStatus(route, status);
    const undescribed = Object.keys(headers).filter((name) => !(name in described));
    const missing = Object.keys(described).filter((name) => typeof described[name] === 'string' && !(name in headers));
    const faults = [...undescribed.map((name) => `has no ${name}`), ...missing.map((name) => `has ${name}, which was not sent`)];
    found.push(...faults.map((fault) => `describedAnswerHeaders of ${route.operationId} ${status} ${fault}`));
  });
}

/** For all tests of a process. @throws Error after a test that caused such an answer */
export function requireDescribed(): void {
  const faults = [...new Set(takeUndescribed())];
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
