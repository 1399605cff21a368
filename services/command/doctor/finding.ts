// Findings of the doctor: one line for each thing that it asked.
import { ConfigError } from '../../platform/config/config.ts';

/** `unknown`: it could not be asked from here. */
export type State = 'ok' | 'warning' | 'wrong' | 'unknown';

export type Finding = {
  readonly subject: string;
  readonly state: State;
  readonly detail: string;
  readonly toDo?: string;
  /** How far a clock is ahead of this machine's; findings about clocks have it. */
  readonly aheadMs?: number;
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

const differenceText = (aheadMs: number, other: string) =>
  `its clock is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other}`;

/** @param aheadMs how far the other clock is ahead */
export function clockFinding(subject: string, aheadMs: number): Finding {
  const detail = differenceText(aheadMs, 'this one');
  const toDo = 'let both machines follow a time server, such as chrony or systemd-timesyncd';
  if (Math.abs(aheadMs) <= clockLimits.warningMs) return { subject, state: 'ok', detail: 'clocks agree', aheadMs };
  return { subject, state: Math.abs(aheadMs) > clockLimits.wrongMs ? 'wrong' : 'warning', detail, toDo, aheadMs };
}

/** Leaves out clocks that agree with this machine's; where all others differ from it by the same, its own is the suspect, in one finding. */
export function withoutRightClocks(findings: readonly Finding[]): readonly Finding[] {
  const clocks = findings.flatMap((finding) => (finding.aheadMs === undefined ? [] : [{ ...finding, aheadMs: finding.aheadMs }]));
  const others = findings.filter(({ aheadMs }) => aheadMs === undefined);
  const differing = clocks.filter(({ state }) => state !== 'ok');
  const [first] = differing.toSorted((a, b) => Math.abs(b.aheadMs) - Math.abs(a.aheadMs));
  const isOwn = clocks.length > 1 && first && clocks.every(({ aheadMs }) => Math.abs(aheadMs - first.aheadMs) <= clockLimits.warningMs);
  if (!isOwn || differing.length < clocks.length) return [...others, ...differing];
  const { state } = clockFinding('', -first.aheadMs);
  const names = clocks.map(({ subject }) => subject).join(', ');
  const own: Finding = {
    subject: 'this machine',
    state,
    detail: differenceText(-first.aheadMs, `those of ${names}, which agree`),
    toDo: 'let this machine, or theirs, follow a time server, such as chrony or systemd-timesyncd',
    aheadMs: -first.aheadMs,
  };
  return [...others, own];
}
