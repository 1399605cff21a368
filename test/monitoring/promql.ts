// Reads of a PromQL expression what it names: selectors with their matchers, and the labels it groups by.

type Matcher = { readonly label: string; readonly operator: '=' | '!=' | '=~' | '!~'; readonly value: string };
export type Selector = { readonly metric: string; readonly matchers: readonly Matcher[] };
export type Expression = { readonly selectors: readonly Selector[]; readonly grouping: readonly string[] };
export type Labels = Readonly<Record<string, string>>;
export type Series = { readonly metric: string; readonly labels: Labels };

const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'Inf', 'NaN']);
const clause = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const selector = /(?<![\w.:])([a-zA-Z_:][\w:]*)(?:\s*\{((?:[^}"]|"(?:[^"\\]|\\.)*")*)\}|(\s*\())?/g;
const matcher = /(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g;

const isOperator = (text: string): text is Matcher['operator'] => ['=', '!=', '=~', '!~'].includes(text);

function matchersOf(text: string): Matcher[] {
  return [...text.matchAll(matcher)].flatMap(([, label = '', operator = '', value = '']) => (isOperator(operator) ? [{ label, operator, value }] : []));
}

export function readExpression(expression: string): Expression {
  const grouping = [...expression.matchAll(clause)].flatMap(([, labels = '']) => labels.split(',').map((label) => label.trim()));
  const bare = expression.replaceAll(clause, ' ').replaceAll(/\[[^\]]*\]/g, ' ');
  const selectors = [...bare.matchAll(selector)]
    .filter(([, name = '', , call]) => call === undefined && !keywords.has(name))
    .map(([, metric = '', matchers = '']) => ({ metric, matchers: matchersOf(matchers) }));
  return { selectors, grouping: grouping.filter((label) => label !== '') };
}

/** Whether it would select the series. A label that is not there is an empty one to Prometheus; here it must be there. */
export const selects = ({ metric, matchers }: Selector, series: Series): boolean =>
  series.metric === metric && matchers.every((one) => one.label in series.labels && holds(one, series.labels[one.label] ?? ''));

function holds({ operator, value }: Matcher, actual: string): boolean {
  if (operator === '=') return actual === value;
  if (operator === '!=') return actual !== value;
  return new RegExp(`^(?:${value})$`).test(actual) === (operator === '=~');
}

/** The series of a text in Prometheus' exposition format. */
export function readScrape(text: string): Series[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, metric = '', labels = ''] = /^([\w:]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
      return { metric, labels: Object.fromEntries([...labels.matchAll(matcher)].map(([, name = '', , value = '']) => [name, value])) };
    });
}
