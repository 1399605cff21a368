// ESLint rule: limits a function's own lines (without those of functions inside it), and all of its lines together.
import type { Rule } from 'eslint';
import { z } from 'zod';

const Limits = z.object({ own: z.int(), whole: z.int() });

/** A function, and the lines that functions inside it cover. */
type Open = { readonly node: Rule.Node; readonly inner: Set<number> };

function create(context: Rule.RuleContext): Rule.RuleListener {
  const { own: maxOwn, whole: maxWhole } = Limits.parse(context.options[0]);
  const { sourceCode } = context;
  const isCode = createCodeLines(sourceCode);
  const open: Open[] = [];

  const enter = (node: Rule.Node) => void open.push({ node, inner: new Set() });
  const leave = () => {
    const left = open.pop();
    if (!left?.node.loc) return;
    const { start, end } = left.node.loc;
    const lines = range(start.line, end.line).filter(isCode);
    const own = lines.filter((line) => !left.inner.has(line));
    const report = (messageId: string, count: number, max: number) => {
      if (count > max) context.report({ node: left.node, messageId, data: { lines: String(count), max: String(max) } });
    };
    report('own', own.length, maxOwn);
    report('whole', lines.length, maxWhole);
    for (const line of lines) open.at(-1)?.inner.add(line);
  };
  return {
    FunctionDeclaration: enter,
    FunctionExpression: enter,
    ArrowFunctionExpression: enter,
    'FunctionDeclaration:exit': leave,
    'FunctionExpression:exit': leave,
    'ArrowFunctionExpression:exit': leave,
  };
}

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** @returns whether a line holds code, not only a comment */
function createCodeLines(sourceCode: Rule.RuleContext['sourceCode']): (line: number) => boolean {
  const code = new Set<number>();
  for (const { loc } of sourceCode.ast.tokens) for (const line of range(loc.start.line, loc.end.line)) code.add(line);
  return (line) => code.has(line);
}

export const functionLength: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'object', properties: { own: { type: 'integer' }, whole: { type: 'integer' } }, required: ['own', 'whole'], additionalProperties: false }],
    messages: {
      own: 'This function has {{lines}} lines of its own, more than {{max}}: name a part of it.',
      whole: 'This function and those inside it have {{lines}} lines, more than {{max}}: move a part out of it.',
    },
  },
  create,
};
