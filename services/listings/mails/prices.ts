// Reads the rent for a month out of text: not what was asked before, what else is paid, or what a saved search allows. Pure.

/** Signs and codes of currencies, each with its code. A `$` alone is the American one, behind other letters that of none. */
const currencies: readonly (readonly [sign: RegExp, code: string])[] = [
  [/€|\bEUR(?![a-z])|\beuros?\b/i, 'EUR'],
  [/£|\bGBP(?![a-z])/i, 'GBP'],
  [/\bCHF(?![a-z])/i, 'CHF'],
  [/zł|\bPLN(?![a-z])/i, 'PLN'],
  [/\bAU?\$|\bAUD(?![a-z])/i, 'AUD'],
  [/\bCA?\$|\bCAD(?![a-z])/i, 'CAD'],
  [/\bNZ\$|\bNZD(?![a-z])/i, 'NZD'],
  [/\bR\$|\bBRL(?![a-z])/i, 'BRL'],
  [/₹|\bINR(?![a-z])/i, 'INR'],
  [/(?<![a-z])(?:US)?\$|\bUSD(?![a-z])/i, 'USD'],
];
const currency = `(?:${currencies.map(([sign]) => sign.source).join('|')})`;

/** Three groups at most: without a bound, a row of numbers costs the square of its length. */
const digits = String.raw`\d{1,3}(?:[,.\s'’]\d{3}){1,3}`;
const whole = String.raw`(?<whole>${digits}|\d+)`;
const cents = String.raw`(?<cents>[.,](?:\d{1,2}|-))?(?![.,]?\d)`;
/** An amount or a range of two, whose lower end counts; the currency stands before or after. */
const rangeEnd = String.raw`(?:(?:\s?${currency})?\s*(?:-|to|and|bis|und|auf|à|et|a|y|e|tot|en)\s*${currency}?\s?(?<end>${digits}|\d[\d.,]*)\b)?`;
const amount = String.raw`(?:${currency}\s?${whole}${cents}${rangeEnd}|(?<![\d.,€£$])${whole}${cents}${rangeEnd}\s?${currency})\+?`;
const kind = String.raw`(?:\s*(?:rent|kalt(?:miete)?|warm(?:miete)?|miete|cc|hc)\b)?`;
const per = String.raw`${kind}\s*\(?(?:per|a|each|every|pro|je|im|par|por|al|/|p\.?/?)\s*`;
const every = (unit: string, adverb: string) =>
  new RegExp(
    String.raw`${amount}(?:${per}(?:${unit})|${kind}\s*\(?(?:${adverb})\b)|\b(?:${adverb}|(?:rent )?(?:per|pro|par|por|al) (?:${unit}))(?: rent| price)?[\s:|=]*${amount}`,
    'giu',
  );
const monthly = every(
  String.raw`(?:calendar\s+)?(?:month|mth|mo|c\.?\s?m|m|monat|mois|mes|mês|mese|maand|mnd|miesiąc|mies|mc)(?!\p{L})`,
  'monthly|monatlich|mtl|mensuel(?:s|les?)?|mensual(?:es)?|mensili?|mensal|mensais|maandelijks',
);
const weekly = every(String.raw`(?:week|wk|w|woche|semaine|semana|settimana)(?!\p{L})`, 'weekly|wöchentlich');
const german = '(?:netto|brutto|gesamt|grund|kalt|warm)*miete';
const labelBehind = String.raw`kalt|warm|${german}|cc|hc|c\.c\.|charges comprises|hors charges|zzgl\.? ?(?:nk|nebenkosten)|inkl\.? ?(?:nk|nebenkosten)`;
/** A rent without a period is that of a month; the word for it stands before, behind, or alone in the line below. */
const labelled = new RegExp(
  String.raw`\b(?:rent|${german}|loyer|alquiler|affitto|canone|huur(?:prijs)?|aluguel|renda)\b[\s:|=]*${amount}(?!\s*(?:per|a|/|pro|par|por|al)?\s*(?:night|day|year|annum|yearly|annual|sqm|m²|m2\b|sq\.?\s?(?:ft|m)\b|square|person|room|head))` +
    String.raw`|${amount}(?:[^\S\n]*\(?(?:${labelBehind})(?!\p{L})|[^\S\n]*\n[^\S\n]*(?:${german}|loyer)[^\S\n]*(?=\n|$))`,
  'giu',
);

/** Before a former price, the bound of a saved search, a difference, or what is paid once. */
const isOther = new RegExp(
  String.raw`\b(?:${[
    String.raw`was|were|previous(?:ly)?|former(?:ly)?|original(?:ly)?|before|(?:reduced|down|dropped|lowered|decreased|cut|changed|fell) from|(?:old|former|previous|original|last) (?:price|rent)`,
    'statt|bisher(?:ige miete)?|vorher|früher|au lieu de|auparavant|antes|anziché|prima',
    String.raw`up to|max(?:imum)?\.?(?: price| rent)?|under|below|less than|at most|budget(?: of)?|bis zu|jusqu['’]à|hasta|fino a`,
    '(?:reduced|dropped|lowered|decreased|cut|cheaper|less|lower|down|fell) by|sav(?:e|es|ing|ings)(?: of)?|discount(?: of)?',
    '(?:deposit|kaution|caution|fianza|cauzione|waarborg|booking fee|admin fee|agency fee)(?: of)?',
  ].join('|')})[\s:|=]*(?:of\s+)?$`,
  'i',
);

const extras = String.raw`(?:parking|car ?park|garage|car ?space|stellplatz|tiefgarage|bills?|storage|service charges?|utilit(?:y|ies)|pets?|pet (?:fee|rent)|heating|electricity|gas|internet|broadband|wi-?fi|water|cleaning|gym|maintenance|management fees?|insurance|laundry|nebenkosten|heizkosten|charges)`;
const gap = String.raw`[^\S\n]*`;
/** Before what else is paid, on its line. */
const isExtra = new RegExp(
  String.raw`\b${extras}(?: (?:space|spot|fee|charge|cost|rate)s?)?${gap}(?:[:=]|\b(?:is|are|costs?|approx(?:imately)?|about|around|ca|of)\b\.?(?: about)?)${gap}$`,
  'i',
);
/** Before what may be paid beside the rent; it may as well be an amenity: "with parking for €1,850 per month". */
const isBeside = new RegExp(
  `(?:${[
    String.raw`\b${extras}(?:${gap}(?:[|·•,;:(+-]|\b(?:spaces?|spot|fees?|charges?|costs?|available|optional|extra|additional|on request|at|for|from|only|just)\b)){0,5}${gap}`,
    String.raw`(?:^|\n)${gap}(?:\w+${gap})?${extras}(?: (?:space|spot|fee|charge|cost)s?)?${gap}[:|]?\s*`,
    String.raw`(?:\+|\bplus|\badditional|\bextra|\ban?other)${gap}`,
  ].join('|')})$`,
  'i',
);
const isForExtra = new RegExp(String.raw`^${gap}(?:(?:for|towards)${gap}(?:the |a |your |one )?(?:\w+ )?${extras}\b|\(${gap}${extras}${gap}\))`, 'i');
/** Behind a former price or a difference. */
const isFormer = /^\s*(?:\(\s*(?:previously|formerly|before|old(?: price| rent)?)\s*\)|(?:less|cheaper|lower|off|saved)\b)/i;
/** Behind a former price, with the amount that follows it: an arrow alone is that of a link, and a small amount the difference. */
const arrow = new RegExp(String.raw`^\s*(?:→|->|=>|➜|➔|➞|⟶|⇒|›|»|↓|⬇|▼|↘)\ufe0f?\s*(?:now\s*:?\s*)?${currency}?\s?(\d[\d.,]*)`, 'iu');

/** Parking and bills cost less, and hardly any rent does. */
const leastDoubtful = 250;

const anyCurrency = new RegExp(currency, 'i');
/** Whether a text names an amount of money. */
export const hasPrice = (text: string): boolean => anyCurrency.test(text) && /\d/.test(text);

export type Rent = { readonly value: number; readonly currency: string | undefined };

/** The first rent above 0: a month's, else a week's for as long as a month is, else one without a period. The first text that has one counts. */
export function rentIn(texts: readonly string[]): Rent | undefined {
  const perWeek = () => {
    const week = firstIn(texts, weekly);
    return week && { ...week, value: Math.round((week.value * 5200) / 12) / 100 };
  };
  return firstIn(texts, monthly) ?? perWeek() ?? firstIn(texts, labelled);
}

type Amount = Rent & { readonly isSure: boolean };

function firstIn(texts: readonly string[], pattern: RegExp): Amount | undefined {
  const found = texts.map((text) => amountsIn(text, pattern));
  const sure = found.find((amounts) => amounts.some(({ isSure }) => isSure)) ?? found.find((amounts) => amounts.length > 0) ?? [];
  const [first] = [...sure.filter(({ isSure }) => isSure), ...sure];
  // Nothing beside a rent is higher than it.
  const higher = sure.filter(({ isSure, value }) => !isSure && first !== undefined && value > first.value);
  return higher.toSorted((a, b) => b.value - a.value)[0] ?? first;
}

/** `Reduced by €100 to €1,750`: the second of the two is the rent. */
const isReducedBy = /\b(?:by|from|von|um)\s*$/i;

function amountsIn(text: string, pattern: RegExp): readonly Amount[] {
  return [...text.matchAll(pattern)].flatMap((match): Amount[] => {
    const { index, 0: all, groups: { whole = '', cents = '', end = '0' } = {} } = match;
    const [first, second] = [numberOf(`${whole}${cents}`), numberOf(end)];
    const before = text.slice(Math.max(index - 60, 0), index);
    const after = text.slice(index + all.length, index + all.length + 40);
    // No range goes down: the rent did.
    const isChange = second > 0 && ((second < first && second > first / 4) || (isReducedBy.test(before) && isOther.test(before)));
    const value = isChange ? second : first;
    const next = numberOf(arrow.exec(after)?.[1] ?? '0');
    const isBefore = !isChange && isOther.test(before);
    const isRent = value > 0 && !isBefore && !isExtra.test(before) && !isForExtra.test(after) && !isFormer.test(after) && next < value / 2;
    const isSure = !isBeside.test(before);
    return isRent && (isSure || value >= leastDoubtful) ? [{ value, isSure, currency: currencies.find(([sign]) => sign.test(all))?.[1] }] : [];
  });
}

/** Reads `1,850.50`, `1.850,50`, `1 850` and `1.850,-`. */
function numberOf(written: string): number {
  const [, digits = '', fraction = ''] = /^(.*?)(?:[.,](\d{1,2}|-)?)?$/.exec(written) ?? [];
  return Number(`${digits.replaceAll(/\D/g, '')}.${fraction.replace('-', '')}0`);
}
