// A credential in memory: it never prints, and leaves its box only by name.
import { inspect } from 'node:util';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The plain value; the call sites of this method are all there is to audit. */
  reveal(): string {
    return this.#value;
  }

  toJSON(): string {
    return '[hidden]';
  }

  toString(): string {
    return '[hidden]';
  }

  [inspect.custom](): string {
    return '[hidden]';
  }
}
