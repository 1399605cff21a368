// A credential from an option or a file, which is read for each request: Kubernetes replaces the token of a pod while the program runs.
import { readFile } from 'node:fs/promises';

export type CredentialSource = {
  /** The name that messages use. */
  readonly name: string;
  readonly value: string | undefined;
  readonly file: string | undefined;
  /** The environment variable that gives the value; with `_FILE` it gives the file. */
  readonly variable?: string;
};

/** @throws when there is not exactly one of value and file */
export function createCredential({ name, value, file, variable }: CredentialSource): () => Promise<string> {
  if (value === undefined && file === undefined)
    throw new TypeError(`${name} is missing${variable === undefined ? '' : `: give it, or set ${variable} or ${variable}_FILE`}`);
  if (value !== undefined && file !== undefined) throw new TypeError(`give ${name} or the file that holds it, and not both`);
  return async () => {
    const text = (value ?? (await readFile(file ?? '', 'utf8'))).trim();
    // The error of `fetch` would quote a text that no header can hold.
    if (!/^[\x20-\x7e]+$/.test(text)) throw new TypeError(`${name} is empty, or has characters that no header can hold`);
    return text;
  };
}
