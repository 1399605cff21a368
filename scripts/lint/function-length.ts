// ESLint rule: a function's own lines. Those of the functions inside it are theirs, so a factory or a `describe` is as long as its own statements.
import type { Rule } from 'eslint';

/** The lines that a function covers, and those of them that functions inside it cover. */
type Open = { readonly node: Rule.Node; readonly inner: Set<number> };

function create(context: Rule.RuleContext): Rule.RuleListener {
  const max = Number(context.options[0]);
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
    if (own.length > max) context.report({ node: left.node, messageId: 'long', data: { lines: String(own.length), max: String(max) } });
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

/** Neither blank nor nothing but a comment. */
function createCodeLines(sourceCode: Rule.RuleContext['sourceCode']): (line: number) => boolean {
  const code = new Set<number>();
  for (const { loc } of sourceCode.ast.tokens) for (const line of range(loc.start.line, loc.end.line)) code.add(line);
  return (line) => code.has(line);
}

export const functionLength: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'integer', minimum: 1 }],
    messages: { long: 'This function has {{lines}} lines of its own, more than {{max}}: name a part of it.' },
  },
  create,
};
