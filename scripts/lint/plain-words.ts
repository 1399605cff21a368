// ESLint rule: comments, and strings that are text, use plain words and sentences with a subject.
import type { AST, Rule, SourceCode } from 'eslint';
import { type Fault, sentenceFaults, wordFaults } from './words.ts';

type Comment = ReturnType<SourceCode['getAllComments']>[number];
type Node = Parameters<NonNullable<Rule.NodeListener['Literal' | 'TemplateElement']>>[0] | Rule.Node;

function create(context: Rule.RuleContext): Rule.RuleListener {
  const { sourceCode } = context;
  /** Strings in tests are data, except titles and error messages. */
  const isTest = /(^|\/)test\//.test(context.filename);

  const report = (faults: readonly Fault[], start: number) => {
    for (const { index, message } of faults) context.report({ loc: sourceCode.getLocFromIndex(start + index), message });
  };
  const checkText = (node: Node, text: string, start: number) => {
    if (!text.includes(' ') || (isTest && !isTitleOrError(node))) return;
    report(/^[A-Z]/.test(text) ? sentenceFaults(text) : wordFaults(text), start);
  };
  return {
    Program() {
      for (const comments of blocksOf(sourceCode.getAllComments())) {
        const start = comments[0]?.range?.[0] ?? 0;
        const text = sourceCode.text.slice(start, comments.at(-1)?.range?.[1]);
        // Comment marks become blanks of the same length, so that positions stay right.
        report(sentenceFaults(text.replaceAll(/^[ \t]*(\/\/|\/?\*+\/?)|\*\/$/gm, (mark) => ' '.repeat(mark.length))), start);
      }
    },
    Literal(node) {
      if (typeof node.value === 'string' && node.range) checkText(node, sourceCode.text.slice(node.range[0] + 1, node.range[1] - 1), node.range[0] + 1);
    },
    TemplateElement(node) {
      if (node.range) checkText(node, node.value.raw, node.range[0] + 1);
    },
  };
}

/** Consecutive line comments are one text. */
function blocksOf(comments: readonly Comment[]): Comment[][] {
  const blocks: Comment[][] = [];
  for (const comment of comments) {
    const previous = blocks.at(-1)?.at(-1);
    if (previous?.type === 'Line' && comment.type === 'Line' && isBelow(previous.loc, comment.loc)) blocks.at(-1)?.push(comment);
    else blocks.push([comment]);
  }
  return blocks;
}

type Location = AST.SourceLocation | null | undefined;

const isBelow = (upper: Location, lower: Location): boolean =>
  !!upper && !!lower && lower.start.line === upper.start.line + 1 && lower.start.column === upper.start.column;

/** Whether the string is the title of a test or the message of an error. */
function isTitleOrError(node: Rule.Node): boolean {
  const parent: Node | null = node.type === 'TemplateElement' ? node.parent.parent : node.parent;
  if (parent?.type === 'NewExpression') return true;
  return parent?.type === 'CallExpression' && parent.callee.type === 'Identifier' && /^(it|describe|step|say|measure)/.test(parent.callee.name);
}

export const plainWords: Rule.RuleModule = { meta: { type: 'suggestion', schema: [] }, create };
