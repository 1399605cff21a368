// The JSON of another service's answer, with the type that its contract gives it.
import type { z } from 'zod';
import type { Schema } from './route.ts';

/** A value as JSON has it: a time is text. */
export type OnWire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly OnWire<Item>[]
    : T extends object
      ? { readonly [Member in keyof T]: OnWire<T[Member]> }
      : T;

/** An answer of this schema once it is sent. */
export type AnswerOf<S extends Schema> = OnWire<z.input<S>>;

/** An answer is not checked again: its service made it by the same contract. @throws SyntaxError when it is no JSON */
export const readAnswer = <S extends Schema>(_contract: S, text: string): AnswerOf<S> => (text === '' ? undefined : JSON.parse(text)) as AnswerOf<S>; // the contract of both sides
