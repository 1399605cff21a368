// Reads the rent for a month out of text: not what was asked before, what else is paid, or what a saved search allows. Pure.

const whole = String.raw`(\d{1,3}(?:[,.\s'’]\d{3})+|\d+)`;
const cents = String.raw`([.,](?:\d{1,2}|-))?(?![.,]?\d)`;
const currency = String.raw`(?:€|\bEUR\b|\beuros?\b)`;
/** An amount or a range of two, whose lower end counts; the currency stands before or after. */
const rangeEnd = String.raw`(?:(?:\s?${currency})?\s*(?:-|to|and|bis|und|à|et|a|y|e|tot|en)\s*${currency}?\s?(?:\d{1,3}(?:[,.\s'’]\d{3})+|\d[\d.,]*)\b)?`;
const amount = String.raw`(?:${currency}\s?${whole}${cents}${rangeEnd}|(?<![\d.,€])${whole}${cents}${rangeEnd}\s?${currency})`;
const kind = String.raw`(?:\s*(?:rent|kalt(?:miete)?|warm(?:miete)?|miete|cc|hc)\b)?`;
const per = String.raw`${kind}\s*\(?(?:per|a|each|every|pro|je|im|par|por|al|/|p\.?/?)\s*`;
const every = (unit: string, adverb: string) =>
  new RegExp(
    String.raw`${amount}(?:${per}(?:${unit})|${kind}\s*\(?(?:${adverb})\b)|\b(?:${adverb}|(?:rent )?(?:per|pro|par|por|al) (?:${unit}))(?: rent| price)?[\s:|=]*${amount}`,
    'gi',
  );
const monthly = every(
  String.raw`(?:calendar\s+)?(?:month|mth|mo|c\.?\s?m|m|monat|mois|mes|mês|mese|maand|mnd)\b`,
  'monthly|monatlich|mtl|mensuel(?:s|les?)?|mensual(?:es)?|mensili?|mensal|mensais|maandelijks',
);
const weekly = every(String.raw`(?:week|wk|w|woche|semaine|semana|settimana)\b`, 'weekly|wöchentlich');
/** A rent without a period is that of a month. */
const labelled = new RegExp(
  String.raw`\b(?:rent|(?:kalt|warm)?miete|loyer|alquiler|affitto|canone|huur(?:prijs)?|aluguel|renda)\b[\s:|=]*${amount}(?!\s*(?:per|a|/|pro|par|por|al)?\s*(?:night|day|year|annum|yearly|annual|sqm|m²|m2\b|sq\.?\s?(?:ft|m)\b|square|person|room|head))`,
  'gi',
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
const arrow = /^\s*(?:→|->|=>|➜|➔|➞|⟶|⇒|›|»|↓|⬇|▼|↘)\ufe0f?\s*(?:now\s*:?\s*)?(?:€|EUR\b)?\s?(\d[\d.,]*)/i;

/** Parking and bills cost less, and hardly any rent does. */
const leastDoubtful = 250;

/** The first price above 0: a month's, else a week's for as long as a month is, else that of a rent without a period. The first text that has one counts. */
export function priceIn(texts: readonly string[]): number | undefined {
  const perWeek = () => {
    const week = firstIn(texts, weekly);
    return week === undefined ? undefined : Math.round((week * 5200) / 12) / 100;
  };
  return firstIn(texts, monthly) ?? perWeek() ?? firstIn(texts, labelled);
}

function firstIn(texts: readonly string[], pattern: RegExp): number | undefined {
  const found = texts.map((text) => amountsIn(text, pattern));
  const sure = found.find((amounts) => amounts.some(({ isSure }) => isSure)) ?? found.find((amounts) => amounts.length > 0) ?? [];
  const [first] = [...sure.filter(({ isSure }) => isSure), ...sure];
  // Nothing beside a rent is higher than it.
  return first && Math.max(first.value, ...sure.filter(({ isSure }) => !isSure).map(({ value }) => value));
}

type Amount = { readonly value: number; readonly isSure: boolean };

function amountsIn(text: string, pattern: RegExp): readonly Amount[] {
  return [...text.matchAll(pattern)].flatMap((match): Amount[] => {
    const { index, 0: all } = match;
    const value = valueOf(match);
    const before = text.slice(Math.max(index - 60, 0), index);
    const after = text.slice(index + all.length, index + all.length + 40);
    const next = numberOf(arrow.exec(after)?.[1] ?? '0');
    const isRent = value > 0 && !isOther.test(before) && !isExtra.test(before) && !isForExtra.test(after) && !isFormer.test(after) && next < value / 2;
    const isSure = !isBeside.test(before);
    return isRent && (isSure || value >= leastDoubtful) ? [{ value, isSure }] : [];
  });
}

function valueOf([, ...groups]: RegExpMatchArray): number {
  const at = groups.findIndex((group, place) => place % 2 === 0 && group !== undefined);
  return numberOf(`${groups[at] ?? ''}${groups[at + 1] ?? ''}`);
}

/** Reads `1,850.50`, `1.850,50`, `1 850` and `1.850,-`. */
function numberOf(written: string): number {
  const [, digits = '', fraction = ''] = /^(.*?)(?:[.,](\d{1,2}|-)?)?$/.exec(written) ?? [];
  return Number(`${digits.replaceAll(/\D/g, '')}.${fraction.replace('-', '')}0`);
}
