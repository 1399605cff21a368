// The words and beginnings of sentences that comments, messages and pages avoid, each with what to write instead.

export type Fault = { readonly index: number; readonly message: string };

const words: readonly (readonly [RegExp, string])[] = [
  [/\bwho(m|so)?ever\b/gi, 'name the person or the program: caller, operator, client'],
  [/\b(some|no)body\b/gi, 'name the person or the program, or say "no one"; a thing is "none"'],
  [/\b(is|are|was|were|be|been|being|gets?|got) (never |not |also |only |then )?told\b(?! apart)/gi, 'say who reports what, or what a log or an answer says'],
  [/\b(stands for|stood for|standing)\b/gi, 'say what it is or means'],
  [/\bat hand\b/gi, 'say which, or leave it out'],
  [/\b(and|or) the like\b/gi, 'name the others, or leave it out'],
  [/\b(bells?|lanes?|patience|setbacks?|verdicts?|gathering)\b/gi, "use the field's own term"],
];

const beginning =
  /(?<=^[\s>*-]*|[.!?:]["')]*\s+|\n\s*\n[\s>*-]*|\n\s*(?:[*-]|\d+\.) +)(Of|What|Those|That of|One that|One who|By it|By whom|To whom|With whom|From whom)\b(?!')/g;

/** A question may begin with "What". */
const isQuestion = (text: string, index: number) => /^[^.!?]*\?/s.test(text.slice(index));

/** The words to avoid in a text, whatever kind of text it is; `code in backticks` is left out. */
export function wordFaults(text: string): Fault[] {
  const prose = withoutCode(text);
  return words.flatMap(([pattern, instead]) => [...prose.matchAll(pattern)].map(({ index, 0: found }) => ({ index, message: `"${found}": ${instead}` })));
}

/** As `wordFaults`, and sentences that begin without a subject. */
export function sentenceFaults(text: string): Fault[] {
  const prose = withoutCode(text);
  const beginnings = [...prose.matchAll(beginning)].filter(({ index, 0: found }) => found !== 'What' || !isQuestion(prose, index));
  const faults = beginnings.map(({ index, 0: found }) => ({ index, message: `a sentence begins with "${found}": begin with its subject` }));
  return [...wordFaults(text), ...faults].sort((left, right) => left.index - right.index);
}

/** Keeps the length, so that an index is one of the text. */
const withoutCode = (text: string) => text.replaceAll(/`[^`\n]*`/g, (code) => '`'.repeat(code.length));
