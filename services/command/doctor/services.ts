// The doctor asks each service for its readiness, version and time.
import { z } from 'zod';
import { describeError } from '../../platform/errors.ts';
import { Readiness } from '../../platform/health.ts';
import { version } from '../../platform/version.ts';
import { fetchFrom, type Installation, type ServiceName, serviceNames } from '../installation.ts';
import { certificateFinding } from './certificates.ts';
import { type Check, clockFinding, type Finding } from './finding.ts';

const askElsewhere =
  'ask a pod of the console, which knows the services that its pages show, or a pod of the service itself, such as service/signalbox-secrets';

export function serviceChecks(installation: Installation): Check[] {
  const known = serviceNames.flatMap((service) => {
    const url = installation.urlOf(service);
    return url === undefined ? [] : [{ service, url }];
  });
  const unknown = serviceNames.filter((service) => installation.urlOf(service) === undefined);
  const notAsked: Check = {
    subject: 'services',
    run: () => Promise.resolve([{ subject: 'services', state: 'unknown', detail: `no address is known here of ${unknown.join(', ')}`, toDo: askElsewhere }]),
  };
  return [...known.map(({ service, url }) => ({ subject: service, run: () => look(service, url) })), ...(unknown.length > 0 ? [notAsked] : [])];
}

async function look(service: ServiceName, url: string): Promise<readonly Finding[]> {
  const asked = Date.now();
  const response = await fetchFrom(service, `${url}/health/ready`);
  const answered = Date.now();
  const readiness = Readiness.safeParse(await response.json().catch(() => undefined));
  if (!readiness.success)
    return [
      {
        subject: service,
        state: 'wrong',
        detail: `${url} answers ${response.status} and no readiness`,
        toDo: 'correct the address of the service, or the proxy in front of it',
      },
    ];
  const date = Date.parse(response.headers.get('date') ?? '');
  // The header has whole seconds, and was written between the two times.
  const clock = Number.isNaN(date) ? [] : [clockFinding(service, differenceOf(date, asked, answered))];
  const others = await Promise.all([
    orUnknown(service, 'version', versionOf(service, url)),
    ...(url.startsWith('https:') ? [orUnknown(service, 'certificate', certificateFinding(service, url))] : []),
  ]);
  return [readinessFinding(service, url, readiness.data), ...clock, ...others.flat()];
}

/** One of these that fails must not hide the readiness. */
const orUnknown = (subject: string, what: string, asked: Promise<Finding | readonly Finding[]>) =>
  asked.catch((error: unknown): Finding => ({ subject, state: 'unknown', detail: `its ${what} could not be asked: ${describeError(error)}` }));

/** How far a clock is ahead that showed `date`, to the second, at some time between the two. */
export function differenceOf(date: number, asked: number, answered: number): number {
  if (date > answered) return date - answered;
  return date + 999 < asked ? date + 999 - asked : 0;
}

/** By the name of the check in `/health/ready`. */
export const remedies: Readonly<Record<string, string>> = {
  schema: 'see whether Postgres runs, then read the log of `signalbox migrate` (in a cluster of the Job migrate): it brings the schema to this release',
  database: 'see whether Postgres runs, has connections left and room on its volume',
  spool: 'see whether the volume of the spool answers and has room, and give each relay a folder of its own',
  brokers: 'wait some seconds: a relay that starts waits for its broker connections',
  'master keys': 'mend Encryption__MasterKeys as the detail says, from the copy of the credentials, and restart the service',
  'geocoding worker': 'see whether the worker geocoding runs, and what its log says: in a cluster its CronJob must not be suspended',
  stopping: 'the service is being stopped; ask again',
};

function readinessFinding(service: ServiceName, url: string, { status, checks }: Readiness): Finding {
  if (status === 'ready') return { subject: service, state: 'ok', detail: `ready at ${url}` };
  const failing = Object.entries(checks).filter(([, { ok }]) => !ok);
  const [name = ''] = failing[0] ?? [];
  const detail = `not ready: ${failing.map(([check, { detail: why = 'failed' }]) => `${check}: ${why}`).join('; ')}`;
  return { subject: service, state: 'wrong', detail, toDo: remedies[name] ?? `read the log of ${service}: its lines \`not ready\` name the check` };
}

const Described = z.object({ info: z.object({ version: z.string() }) });

async function versionOf(service: ServiceName, url: string): Promise<readonly Finding[]> {
  const response = await fetchFrom(service, `${url}/swagger/v1/swagger.json`);
  const described = Described.safeParse(await response.json().catch(() => undefined));
  if (!described.success || described.data.info.version === version) return [];
  const detail = `runs version ${described.data.info.version}, this command is of ${version}`;
  return [{ subject: service, state: 'warning', detail, toDo: 'finish the upgrade or the rollback: all services of an installation have one version' }];
}
