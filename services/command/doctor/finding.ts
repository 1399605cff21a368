// Findings of the doctor: one line for each thing that it asked.
import { ConfigError } from '../../platform/config/config.ts';

/** `unknown`: it could not be asked from here. */
export type State = 'ok' | 'warning' | 'wrong' | 'unknown';

export type Finding = {
  readonly subject: string;
  readonly state: State;
  readonly detail: string;
  readonly toDo?: string;
};

/** A question that takes its time, and may fail; one that fails must not hide the others. */
export type Check = { readonly subject: string; readonly run: () => Promise<readonly Finding[]> };

/** One for each faulty setting. @throws `error` itself when it is none of the configuration */
export function settingFindings(error: unknown): readonly Finding[] {
  if (!(error instanceof ConfigError)) throw error;
  return error.faults.map((fault) => ({ subject: 'settings', state: 'wrong', detail: fault, toDo: 'correct it: what it names is not asked until then' }));
}

/** Clocks that differ by more break what depends on time: tokens of the console by a minute, signatures of events by five. */
export const clockLimits = { warningMs: 5000, wrongMs: 60_000 };

/** @param differenceMs how far the other clock is ahead */
export function clockFinding(subject: string, differenceMs: number): Finding {
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  const detail = `its clock is ${seconds} s ${differenceMs > 0 ? 'ahead of' : 'behind'} this one`;
  const toDo = 'let both machines follow a time server, such as chrony or systemd-timesyncd';
  if (Math.abs(differenceMs) <= clockLimits.warningMs) return { subject, state: 'ok', detail: 'clocks agree' };
  return { subject, state: Math.abs(differenceMs) > clockLimits.wrongMs ? 'wrong' : 'warning', detail, toDo };
}
