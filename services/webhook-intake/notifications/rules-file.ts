// The rules in use: those of the file, read again when it changes. A file with faults leaves them as they are.
import { ConfigError } from '../../platform/config/config.ts';
import { readFileOf } from '../../platform/config/yaml-file.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { noRules, parseRules, type Rules, rulesSetting } from './rules.ts';

type FollowParts = {
  readonly file: string | undefined;
  /** Which part of the process follows it. */
  readonly part: 'api' | 'worker';
  /** @returns the faults of rules that can be read */
  readonly check?: (rules: Rules) => readonly string[];
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly metrics: Metrics;
  readonly clock?: () => number;
};

/** The file is checked when rules are matched, and at scrapes: Kubernetes swaps a symbolic link two levels up, which file events do not show. */
const lookEveryMs = 5000;

/** @throws ConfigError that names every place in the file that cannot be used, and what was expected there */
export function followRules({ file, part, check = () => [], log, metrics, clock = Date.now }: FollowParts): Pick<Rules, 'match'> {
  if (file === undefined) return noRules;
  let text: string | undefined = readText(file);
  let rules = checked(parseRules(text), check);
  let faults = '';
  let lookAt = clock() + lookEveryMs;

  function look(path: string): void {
    if (clock() < lookAt) return;
    lookAt = clock() + lookEveryMs;
    try {
      const now = readText(path);
      if (now === text) return;
      text = now;
      rules = checked(parseRules(now), check);
      faults = '';
      log.info({ file, part }, 'notification rules reloaded');
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      text = undefined;
      if (error.message !== faults) log.error({ file, part, faults: error.faults }, 'reloading the notification rules failed, the old rules stay in use');
      faults = error.message;
    }
  }

  metrics.gauge({
    name: 'signalbox_notification_rules_current',
    help: 'Whether the notification rules in use are those of the file; 0 while the file has faults.',
    labels: ['part'],
    collect(reading) {
      look(file);
      reading.set({ part }, faults === '' ? 1 : 0);
    },
  });
  return {
    match(event) {
      look(file);
      return rules.match(event);
    },
  };
}

/** The rules in the file now. @throws ConfigError as above */
export const readRules = (file: string | undefined): Rules => (file === undefined ? noRules : parseRules(readText(file)));

const readText = (file: string) => readFileOf(rulesSetting, file);

function checked(rules: Rules, check: (rules: Rules) => readonly string[]): Rules {
  const faults = check(rules);
  if (faults.length > 0) throw new ConfigError(faults);
  return rules;
}
