// How the relay and its way to the brokers are: what GET /api/health tells.
import { version } from '../platform/version.ts';
import type { Connections } from './connections/connections.ts';
import type { HealthReport } from './contract.ts';
import type { DatabaseState } from './database-state.ts';
import type { Overviews } from './usage/usage.ts';

export type HealthReporter = { report(): Promise<HealthReport> };

export type HealthReporterParts = { readonly connections: Connections; readonly overviews: Overviews; readonly database: DatabaseState };

export const createHealthReporter = ({ connections, overviews, database }: HealthReporterParts): HealthReporter => ({
  async report() {
    const { active, brokers: usages } = await overviews.recent();
    const brokers = connections.all.map(({ target: { name }, isConnected }) => ({
      broker: name,
      isActive: name === active,
      isConnected,
      limitReached: usages.some(({ broker, limitReached }) => broker === name && limitReached),
    }));
    const isDatabaseReachable = database.isUp;
    return { status: judge(brokers, isDatabaseReachable), version, brokers, isDatabaseReachable };
  },
});

function judge(brokers: HealthReport['brokers'], isDatabaseReachable: boolean): HealthReport['status'] {
  const usable = brokers.filter(({ isConnected, limitReached }) => isConnected && !limitReached);
  if (usable.length === 0) return 'Unhealthy';
  return usable.length === brokers.length && isDatabaseReachable ? 'Healthy' : 'Degraded';
}

/** Whether a client asks for plain text before JSON. RFC 9110 section 12.5.1, as far as the two types need it. */
export function prefersText(accept: string | undefined): boolean {
  const weightOf = (type: string) => {
    const ranges = (accept ?? '*/*')
      .toLowerCase()
      .split(',')
      .map((range) => range.split(';').map((part) => part.trim()));
    const specific =
      ranges.find(([name]) => name === type) ?? ranges.find(([name]) => name === `${type.split('/')[0]}/*`) ?? ranges.find(([name]) => name === '*/*');
    const quality = specific?.find((part) => part.startsWith('q='))?.slice(2) ?? '1';
    return specific ? Number(quality) : 0;
  };
  return weightOf('text/plain') > weightOf('application/json');
}
