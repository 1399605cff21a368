// Warns about unknown settings when a process starts, and suggests the setting that was probably meant.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Environment } from '../platform/config/config.ts';
import type { Log } from '../platform/log.ts';

/** The names of all settings, generated, since a process loads only its own declarations. */
const knownNames = () => z.array(z.string()).parse(JSON.parse(readFileSync(new URL('setting-names.json', import.meta.url), 'utf8')));

type Unknown = { readonly name: string; readonly suggestion: string | undefined };

const groupOf = (name: string) => name.split('__', 1)[0]?.toLowerCase() ?? '';

/** With more differences it is another name. */
const mostDifferences = 3;

/** Names such as `Scoring__File` and `TrustedProxies`. */
const ourForm = /__|^[A-Z][a-z]+[A-Z][a-z]+$/;

/**
 * Finds unknown variables in our form that resemble a setting or share its group (`Scoring__…`); all others belong to other programs.
 * @param known the names of all settings
 */
export function findUnknownSettings(environment: Environment, known: readonly string[]): Unknown[] {
  const exact = new Set(known);
  const groups = new Set(known.map(groupOf));
  const given = Object.keys(environment).map((name) => name.replace(/_FILE$/, ''));
  return [...new Set(given)]
    .filter((name) => ourForm.test(name) && !exact.has(name))
    .flatMap((name) => {
      const suggestion = closest(name, known);
      return suggestion !== undefined || groups.has(groupOf(name)) ? [{ name, suggestion }] : [];
    });
}

function closest(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const near = known.map((one) => ({ one, differences: differencesOf(lower, one.toLowerCase()) })).filter(({ differences }) => differences <= mostDifferences);
  return near.sort((a, b) => a.differences - b.differences)[0]?.one;
}

/** How many characters are inserted, left out or replaced: the Levenshtein distance. */
function differencesOf(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > mostDifferences) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const leftOut = (row[j + 1] ?? 0) + 1;
      const inserted = (next[j] ?? 0) + 1;
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(leftOut, inserted, replaced));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Logs one line for each. */
export function warnOfUnknownSettings(environment: Environment, log: Log): void {
  for (const { name, suggestion } of findUnknownSettings(environment, knownNames()))
    log.warn({ setting: name }, `unknown setting ${name}${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`);
}
