// Settings from environment variables: declared once, read together, all faults reported at once and never with a value.
import { readFileSync } from 'node:fs';
import { codeOf } from '../errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** One setting. Kinds of settings are in settings.ts. */
export type Setting<T> = {
  readonly name: string;
  /** For the settings table: one sentence. */
  readonly summary: string;
  /** For the settings table: `integer 1–65535`, `list`, … */
  readonly shape: string;
  readonly isSecret: boolean;
  /** Throws an InvalidSetting; the text is never part of its message. */
  readonly parse: (text: string, isProduction?: boolean) => T;
  /** Used when the variable is absent or empty; a setting without it is required. */
  readonly fallback?: { readonly value: T };
  /** Used when the text is not valid or its file cannot be read; without it a fault ends the start. @param fault in words, with the name of the setting */
  readonly whenFaulty?: (fault: string) => T;
  /** Makes a value for a first installation, where one can be made. */
  readonly generate?: () => string;
  /** No client needs it: it is not shown to the one who starts a laptop. */
  readonly isInternal?: true;
};

/** Settings with a number or a name in their name: `BROKER_URL_1`, `BROKER_URL_2`, … */
export type SettingFamily = Pick<Setting<unknown>, 'name' | 'shape' | 'summary'>;

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type Values<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** The fault of one setting, in words that follow its name. */
export class InvalidSetting extends Error {}

/** Every fault of a configuration; ends the process before anything is opened. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration is not usable:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/**
 * The text of a setting: `NAME`, or the content of the file that `NAME_FILE` names (one trailing newline dropped).
 * @throws InvalidSetting when both are set, or the file cannot be read
 */
export function settingText(environment: Environment, name: string): string | undefined {
  const text = environment[name];
  const file = environment[`${name}_FILE`];
  if (!file) return text === '' ? undefined : text;
  if (text) throw new InvalidSetting(`and ${name}_FILE are both set; leave one`);
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new InvalidSetting(`cannot be read from the file in ${name}_FILE (${codeOf(error) ?? 'unreadable'})`);
  }
}

/** Whether a setting has a value of its own, in either form. */
export const isGiven = (environment: Environment, name: string): boolean => [environment[name], environment[`${name}_FILE`]].some(Boolean);

/** An environment, completed by the settings of `others` that it gives in neither form. */
export const withDefaults = (environment: Environment, others: Environment): Environment => ({ ...environment, ...notGiven(environment, others) });

/** The part of `others` that an environment gives in neither form. */
export const notGiven = <T>(environment: Environment, others: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(others).filter(([name]) => !isGiven(environment, name.replace(/_FILE$/, ''))));

function read<T>(environment: Environment, setting: Setting<T>, isProduction: boolean): T {
  try {
    const text = settingText(environment, setting.name);
    if (text) return setting.parse(text, isProduction);
  } catch (error) {
    if (!(error instanceof InvalidSetting) || !setting.whenFaulty) throw error;
    return setting.whenFaulty(`${setting.name} ${error.message}`);
  }
  if (setting.fallback) return setting.fallback.value;
  throw new InvalidSetting('is required and not set');
}

/**
 * Reads all settings of a deployable.
 * @param check what no single setting can tell, as further faults
 * @throws ConfigError with every fault
 */
export function readSettings<S extends Settings>(environment: Environment, settings: S, check: (values: Values<S>) => readonly string[] = () => []): Values<S> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  // Where APP_ENV itself is faulty, the process' settings tell it.
  const appEnv = collectFault([], 'APP_ENV', () => settingText(environment, 'APP_ENV'));
  const isProduction = appEnv?.trim().toLowerCase() !== 'development';
  for (const [key, setting] of Object.entries(settings)) {
    values[key] = collectFault(faults, setting.name, () => read(environment, setting, isProduction));
  }
  // The loop gave every key the value of its own setting, or left a fault.
  const complete = values as Values<S>;
  if (faults.length === 0) faults.push(...check(complete));
  if (faults.length > 0) throw new ConfigError(faults);
  return complete;
}

/**
 * Several readings, as one process has them.
 * @throws ConfigError with the faults of all, each once
 */
export async function readAll<const T extends readonly unknown[]>(...readings: { readonly [K in keyof T]: () => T[K] | Promise<T[K]> }): Promise<T> {
  const faults = new Set<string>();
  const values: unknown[] = [];
  for (const reading of readings) {
    try {
      values.push(await reading());
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const fault of error.faults) faults.add(fault);
    }
  }
  if (faults.size > 0) throw new ConfigError([...faults]);
  return values as unknown as T; // one value of each reading, in their order
}

/** The result of `read`; undefined, with the fault noted, when the setting `name` is faulty. */
export function collectFault<T>(faults: string[], name: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error;
    faults.push(`${name} ${error.message}`);
    return undefined;
  }
}
