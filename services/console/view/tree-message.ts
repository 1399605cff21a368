// A component as data, for rows that a script adds to a page: it makes elements of it, and never parses markup.
import { type Attributes, type ComponentChildren, VNode } from './elements.ts';

export type Tree = string | readonly [tag: string, attributes: Readonly<Record<string, string>>, children: readonly Tree[]];

export function toTrees(node: ComponentChildren): Tree[] {
  if (node === null || node === undefined || typeof node === 'boolean') return [];
  if (typeof node !== 'object') return [String(node)];
  if (!(node instanceof VNode)) return node.flatMap(toTrees);
  return [[node.tag, attributesOf(node.attributes ?? {}), node.children.flatMap(toTrees)]];
}

/** As they are written in markup: a flag is empty or absent. */
function attributesOf(attributes: Attributes): Record<string, string> {
  const given = Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined && value !== false);
  return Object.fromEntries(given.map(([name, value]) => [name, value === true ? '' : String(value)]));
}
