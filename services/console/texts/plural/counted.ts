// Texts that depend on a number: one form for each plural category of the language.

/** `#` is the place of the number. A language has `other` and whichever further categories CLDR gives it. */
export type Forms = { readonly other: string } & Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;

export type Counted = (count: number) => string;

/** @param tag of the language, for its plural rules and its digits */
export function countedIn(tag: string): (forms: Forms) => Counted {
  const rules = new Intl.PluralRules(tag);
  const digits = new Intl.NumberFormat(tag);
  return (forms) => (count) => (forms[rules.select(count)] ?? forms.other).replaceAll('#', () => digits.format(count));
}
