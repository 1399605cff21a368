// Searches all that the secrets suites and what they started have said for what nothing may say: values, keys, tokens, ciphertexts.
import { captureLog, type CapturedLog } from '../../platform/captured-log.ts';
import { atEndOfRun } from '../../support/end-of-run.ts';
import { watchProcesses } from '../../support/processes.ts';

export type LeakWatch = {
  /**
   * Searches for it from now on, and in earlier texts.
   * @throws TypeError when it is so short that a text may hold it by chance: a search would prove nothing
   */
  hide(what: string, secret: string | Buffer): void;
  /** A value whose length is what a test is about: `hide` takes it, and nothing searches for it. */
  passOver(value: string): void;
  /** @param said read when all is over */
  listen(where: string, said: () => string): void;
  /** The name of each found secret, its place and its form; never the secret itself. */
  leaks(): string[];
};

/** No text has this many characters of another by chance; of so many bytes every form is at least as long. */
const minLength = 12;
/** A longer secret is searched for by its first bytes. */
const maxBytes = 48;

/** Raw, JSON's escapes, percent-encoded, hex, decimal bytes, base64 and base64url, these at each of the three ways to fall on bytes. */
export function formsOf(secret: string | Buffer): string[] {
  const bytes = Buffer.from(secret).subarray(0, maxBytes);
  const hex = bytes.toString('hex');
  const shifted = [0, 1, 2].map((offset) => bytes.subarray(offset, offset + 3 * Math.floor((bytes.length - offset) / 3)));
  const texts = typeof secret === 'string' ? textForms([...secret].slice(0, maxBytes).join('')) : [];
  return [...texts, hex, hex.toUpperCase(), [...bytes].join(','), ...shifted.flatMap((part) => [part.toString('base64'), part.toString('base64url')])];
}

const textForms = (text: string) => [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed())];

export function createLeakWatch(): LeakWatch {
  /** Forms by their first characters: every place of a text is looked at once, however many secrets there are. */
  const forms = new Map<string, { readonly form: string; readonly what: string }[]>();
  const known = new Set<string>();
  const passedOver = new Set<string>();
  const places: { readonly where: string; readonly said: () => string }[] = [];

  function add(form: string, what: string): void {
    if (known.has(form)) return;
    known.add(form);
    const start = form.slice(0, minLength);
    const others = forms.get(start);
    if (others) others.push({ form, what });
    else forms.set(start, [{ form, what }]);
  }

  function* leaksIn(where: string, text: string): Generator<string> {
    for (let at = 0; at <= text.length - minLength; at++)
      for (const { form, what } of forms.get(text.slice(at, at + minLength)) ?? []) if (text.startsWith(form, at)) yield `${what} in ${where}`;
  }

  return {
    hide(what, secret) {
      if (typeof secret === 'string' && passedOver.has(secret)) return;
      if (secret.length < minLength) {
        throw new TypeError(`${what} of ${secret.length} characters hides in any text: take secretValue(), or shortValue() where its length is what is tested`);
      }
      for (const form of formsOf(secret)) add(form, what);
    },
    passOver: (value) => void passedOver.add(value),
    listen: (where, said) => void places.push({ where, said }),
    leaks: () => [...new Set(places.flatMap(({ where, said }) => [...leaksIn(where, said())]))],
  };
}

/** The watch of the whole run, over every service, process and command of these suites. */
export const leakWatch = createLeakWatch();

/** A log whose lines are searched when all tests are over. */
export function watchedLog(where: string, level = 'trace'): CapturedLog {
  const captured = captureLog(level);
  leakWatch.listen(where, captured.text);
  return captured;
}

watchProcesses(({ pid, lines }, args) => leakWatch.listen(`what process ${pid} (signalbox ${args.join(' ')}) printed`, () => lines.join('\n')));

// Every service, process and command has spoken by then; what one process of the tests hides, it alone knows.
atEndOfRun(() => {
  const leaks = leakWatch.leaks();
  if (leaks.length > 0) throw new Error(['what the secrets suites hide was said:', ...leaks].join('\n'));
});
