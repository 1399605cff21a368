// How configuration keys and secrets are named in a program's environment.
import type { ConsumerConfiguration } from '../contract.ts';

export type Variables = Readonly<Record<string, string>>;
export type WantedSecret = { readonly name: string; readonly variable: string };
export type FetchedSecret = WantedSecret & { readonly value: string };

/** `Logging:Level` → `Logging__Level`, as .NET reads it back; whatever else no variable can hold → `_`. */
export function variableOf(key: string): string {
  const name = key.replaceAll(':', '__').replace(/[^A-Za-z0-9_]/gu, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `NAME` or `NAME=VARIABLE`; a name that holds `=` needs the second form. */
export function readWanted(text: string): WantedSecret {
  const at = text.lastIndexOf('=');
  if (at === -1) return { name: text, variable: variableOf(text) };
  const variable = text.slice(at + 1);
  if (!variablePattern.test(variable)) throw new Error(`--secret ${text}: what follows = must be a name of letters, digits and _, not beginning with a digit`);
  return { name: text.slice(0, at), variable };
}

/** @throws Error when two things would be one variable, or when a value cannot be in an environment; never with a value */
export function toVariables(configurations: readonly ConsumerConfiguration[], secrets: readonly FetchedSecret[]): Variables {
  const sources = [
    ...configurations.map(({ key, value }) => ({ variable: variableOf(key), source: `configuration entry '${key}'`, value })),
    ...secrets.map(({ name, variable, value }) => ({ variable, source: `secret '${name}'`, value })),
  ];
  const taken = new Map<string, string>();
  for (const { variable, source, value } of sources) {
    const other = taken.get(variable);
    if (other !== undefined) throw new Error(`${other} and ${source} would both be the variable ${variable}`);
    if (value.includes('\0')) throw new Error(`${source} holds a NUL character, which no variable can hold`);
    taken.set(variable, source);
  }
  return Object.fromEntries(sources.map(({ variable, value }) => [variable, value]));
}
