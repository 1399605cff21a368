// The JSON of another service's answer, with the type that its contract gives it.
import type { z } from 'zod';
import { jsonIn } from '../json.ts';
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

type Asked = { readonly address: string; readonly service: string; /** The one that holds the address. */ readonly setting: string };

/**
 * Looks at the outer members only: a service of another release may say more or less of each item.
 * @throws Error in words when another server listens at the address
 */
export function requireAnswer<S extends Schema>(contract: S, text: string, asked: Asked): AnswerOf<S> {
  const fault = faultOf(contract, text);
  if (fault !== undefined) throw otherServer(asked, fault);
  return readAnswer(contract, text);
}

export const otherServer = ({ address, service, setting }: Asked, fault: string): Error =>
  new Error(`the answer of ${address} is not one of ${service} (${fault}): see whether ${setting} is right`);

function faultOf(contract: Schema, text: string): string | undefined {
  const value = jsonIn(text);
  if (value === undefined) return 'no JSON';
  const issue = contract.safeParse(value, { reportInput: true }).error?.issues.find(isOuter);
  return issue && [...issue.path, issue.message].join(': ');
}

/** A time is text on the wire. */
const isOuter = ({ code, path, input, ...more }: z.core.$ZodIssue): boolean =>
  path.length <= 1 && (code === 'invalid_union' || (code === 'invalid_type' && !('expected' in more && more.expected === 'date' && typeof input === 'string')));
