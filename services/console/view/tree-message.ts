// A component as data, for rows that a script adds to a page: it makes elements of it, and never parses markup.
import type { ComponentChildren } from 'preact';

export type Tree = string | readonly [tag: string, attributes: Readonly<Record<string, string>>, children: readonly Tree[]];

/** @throws TypeError for a child that is a component function: those of `view/` are called, and give elements */
export function toTrees(node: ComponentChildren): Tree[] {
  if (node === null || node === undefined || typeof node === 'boolean') return [];
  if (Array.isArray(node)) return node.flatMap(toTrees);
  if (typeof node !== 'object') return [String(node)];
  if (!('type' in node) || typeof node.type !== 'string') throw new TypeError('a row must be made of elements');
  const { children, ...attributes } = node.props;
  return [[node.type, attributesOf(attributes), toTrees(children)]];
}

/** As they are written in markup: a flag is empty or absent. */
function attributesOf(props: Readonly<Record<string, unknown>>): Record<string, string> {
  const given = Object.entries(props).filter(([, value]) => value !== null && value !== undefined && value !== false && typeof value !== 'function');
  return Object.fromEntries(given.map(([name, value]) => [name, value === true ? '' : String(value)]));
}
