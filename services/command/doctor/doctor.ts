// `signalbox doctor`: asks services, brokers, database, certificates and disk at the same time, and prints what is wrong and what to do.
import { type Environment, readSettings } from '../../platform/config/config.ts';
import { describeError } from '../../platform/errors.ts';
import { visible } from '../../platform/process/table.ts';
import { withTimeout } from '../../platform/time.ts';
import { wrap } from '../figures.ts';
import { installationSettings, readInstallation, Refused, Unanswered } from '../installation.ts';
import { brokerChecks } from './brokers.ts';
import { type Check, type Finding, settingFindings, type State, withoutRightClocks } from './finding.ts';
import { notificationChecks } from './notifications.ts';
import { processChecks } from './process.ts';
import { secretChecks } from './secrets.ts';
import { serverChecks, serverSettings } from './servers.ts';
import { serviceChecks } from './services.ts';

/** Longer than each question of a check may take. */
const checkMs = 25_000;

type Output = { readonly print: (text: string) => void; readonly json: boolean };

/** @returns whether nothing is wrong; a warning is nothing wrong */
export async function doctor(given: Environment, { print, json }: Output): Promise<boolean> {
  const { environment, faults } = withoutFaulty(given);
  const installation = readInstallation(environment);
  const checks = [
    ...serviceChecks(installation),
    ...brokerChecks(installation),
    ...notificationChecks(installation),
    ...processChecks(installation),
    ...secretChecks(installation),
    ...(await serverChecks(environment)),
  ];
  const findings = withoutRightClocks([...faults, ...(await Promise.all(checks.map((check) => findingsOf(check)))).flat()]);
  const isWell = findings.every(({ state }) => state !== 'wrong');
  print(json ? `${JSON.stringify({ ok: isWell, findings })}\n` : textOf(findings));
  return isWell;
}

/** Leaves out each setting that cannot be read, so that it does not hide what the others name. */
function withoutFaulty(given: Environment): { readonly environment: Environment; readonly faults: readonly Finding[] } {
  const environment = { ...given };
  const faults = Object.values({ ...installationSettings, ...serverSettings }).flatMap((setting) => {
    try {
      readSettings(given, { setting });
      return [];
    } catch (error) {
      environment[setting.name] = environment[`${setting.name}_FILE`] = undefined;
      return settingFindings(error);
    }
  });
  return { environment, faults };
}

export const findingsOf = ({ subject, run }: Check, ms: number = checkMs): Promise<readonly Finding[]> =>
  withTimeout<readonly Finding[]>(
    run().catch((error: unknown) => [{ subject, state: 'wrong', detail: describeError(error), ...remedyOf(error) }]),
    ms,
    () => [{ subject, state: 'wrong', detail: `no answer within ${ms / 1000} s` }],
  );

/** Services answer 503 while their database does not answer. */
function remedyOf(error: unknown): Pick<Finding, 'toDo'> {
  if (error instanceof Unanswered) return { toDo: 'see whether it runs: `kubectl get pods`, or the terminal of `npm start`; else its log says why it ended' };
  if (!(error instanceof Refused) || error.status < 500) return {};
  if (error.status === 503) return { toDo: 'see whether the Postgres of that service runs and has connections left' };
  return { toDo: 'read the log of that service: an error line of this moment says why' };
}

const width = 100;
const stateWidth = 9;

/** The worst comes last, where the eye is when the command ends. */
const order: readonly State[] = ['ok', 'unknown', 'warning', 'wrong'];

export function textOf(findings: readonly Finding[]): string {
  const subjectWidth = Math.max(...findings.map(({ subject }) => subject.length)) + 2;
  const indent = stateWidth + subjectWidth;
  const under = ' '.repeat(indent);
  const lines = findings
    .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
    .flatMap(({ subject, state, detail, toDo }) => {
      const [first = '', ...more] = wrap(visible(detail), width - indent);
      const remedy = toDo === undefined ? [] : wrap(`to do: ${visible(toDo)}`, width - indent);
      return [`${state.padEnd(stateWidth)}${subject.padEnd(subjectWidth)}${first}`, ...[...more, ...remedy].map((line) => under + line)];
    });
  const counts = order.toReversed().flatMap((state) => {
    const some = findings.filter((finding) => finding.state === state).length;
    return some > 0 ? [`${some} ${state === 'warning' && some > 1 ? 'warnings' : state}`] : [];
  });
  return [...lines, '', counts.join(', '), ''].join('\n');
}
