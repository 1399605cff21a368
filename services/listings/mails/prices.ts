// Reads the rent for a month out of text: not what was asked before, what else is paid, or what a saved search allows. Pure.
import { bedsIn, typeOf } from './facts.ts';

const { raw } = String;
/** They stand beside their amount, since some are words of other languages, or names. */
const codes = 'CZK|HUF|RON|TRY|SEK|NOK|DKK|ISK|BGN|RSD|RUB|UAH|ILS|KRW|JPY|CNY|HKD|TWD|SGD|MXN|ZAR|AED|SAR|QAR|EGP|NGN|KES|GHS|THB|IDR|MYR|PHP|VND';

/** Signs of currencies, each with its code. A sign that several currencies have is its own name, and follows those that are written out. */
const currencies: readonly (readonly [sign: string, code: string])[] = [
  [raw`€|\bEUR(?![a-z])|\beuros?\b`, 'EUR'],
  [raw`£|\bGBP(?![a-z])`, 'GBP'],
  [raw`\bCHF(?![a-z])|\bs?fr\.(?=\s?\d)`, 'CHF'],
  [raw`zł|\bPLN(?![a-z])`, 'PLN'],
  [raw`\bAU?\$|\bAUD(?![a-z])`, 'AUD'],
  [raw`\bCA?\$|\bCAD(?![a-z])`, 'CAD'],
  [raw`\bNZ\$|\bNZD(?![a-z])`, 'NZD'],
  [raw`\bR\$|\bBRL(?![a-z])`, 'BRL'],
  [raw`₹|\bINR(?![a-z])`, 'INR'],
  [raw`\bUS\$|\bUSD(?![a-z])`, 'USD'],
  ['₺', 'TRY'],
  ['₽', 'RUB'],
  ['₴', 'UAH'],
  ['₪', 'ILS'],
  ['₩|원', 'KRW'],
  ['円', 'JPY'],
  ['元', 'CNY'],
  ['₦', 'NGN'],
  ['฿', 'THB'],
  ['₱', 'PHP'],
  ['₫', 'VND'],
  [raw`\bKSh\.?(?=\s?\d)`, 'KES'],
  [raw`\bRp\.?(?=\s?\d)`, 'IDR'],
  [raw`\bRM(?=\s?\d)`, 'MYR'],
  [raw`\bHK\$`, 'HKD'],
  [raw`\bNT\$`, 'TWD'],
  [raw`\bSG?\$`, 'SGD'],
  [raw`\bMX\$|\$(?=\s?[\d,.]{3,10}\s?MXN\b)`, 'MXN'],
  [raw`\bR\s?(?=\d{1,3}[\s,]?\d{3}(?!\d))`, 'ZAR'],
  [raw`(?<![a-z])\$`, '$'],
  ['¥', '¥'],
  [raw`\bRs\.?(?=\s?\d)`, 'Rs'],
  [raw`\bkr(?:\.|(?![a-zåäöæø]))`, 'kr'],
];
/** Words behind an amount, and their codes. */
const words: Readonly<Record<string, string>> = { kč: 'CZK', ft: 'HUF', lei: 'RON', tl: 'TRY', лв: 'BGN', руб: 'RUB', рублей: 'RUB', грн: 'UAH', đ: 'VND' };
const behind = raw`(?<=\d\s?|[-–]\s?|\d (?:ezer|triệu) )(?:${Object.keys(words).join('|')}|${codes})(?![\p{L}\d²])\.?`;
const anyCurrency = new RegExp([behind, raw`\b(?:${codes})(?=\s?\d)`, ...currencies.map(([sign]) => `(${sign})`)].join('|'), 'giu');

/** Currencies are replaced by a character for private use each: with all of their spellings the patterns below would take seconds to compile. */
const names = [...new Set([...currencies.map(([, code]) => code), ...codes.split('|')])];
const currency = raw`[\ue000-\ue0ff]`;
const mark = (name: string | undefined) => String.fromCharCode(0xe000 + names.indexOf(name ?? ''));
const markCurrencies = (text: string): string =>
  text.replace(/[\ue000-\ue0ff]/g, ' ').replace(anyCurrency, (found: string, ...signs: unknown[]) => {
    const sign = signs.slice(0, currencies.length).findIndex((one) => one !== undefined);
    return mark(currencies[sign]?.[1] ?? words[found.toLowerCase().replace('.', '')] ?? found.toUpperCase().replace('.', ''));
  });
const nameAt = (text: string): string | undefined => names[(/[\ue000-\ue0ff]/.exec(text)?.[0].charCodeAt(0) ?? 0) - 0xe000];

/** Signs that several countries have, by the end of the portal's host; `other` is what most mean by it. */
const countries: Readonly<Record<string, { readonly other?: string; readonly [country: string]: string | undefined }>> = {
  $: { other: 'USD', au: 'AUD', ca: 'CAD', nz: 'NZD', hk: 'HKD', sg: 'SGD', tw: 'TWD', mx: 'MXN', cl: 'CLP', co: 'COP', ar: 'ARS' },
  kr: { se: 'SEK', no: 'NOK', dk: 'DKK', is: 'ISK' },
  '¥': { other: 'JPY', cn: 'CNY' },
  Rs: { other: 'INR', pk: 'PKR', lk: 'LKR', np: 'NPR', mu: 'MUR' },
};

/** The code of a currency; undefined for a sign that may be that of several countries. @param host that of the listing */
export function codeOf(sign: string, host: string): string | undefined {
  const codes = countries[sign];
  return codes ? (codes[host.split('.').at(-1) ?? ''] ?? codes.other) : sign;
}

/** Three groups at most: without a bound, a row of numbers costs the square of its length. India writes `1,25,000`. */
const digits = raw`\d{1,3}(?:[,.'’ \t\u00a0\u2009\u202f]\d{3}){1,3}|\d{1,2},\d\d,\d{3}`;
const whole = String.raw`(?<whole>${digits}|\d+)`;
/** A second amount, with its cents. */
const other = String.raw`${digits}|\d[\d.,]*`;
const cents = String.raw`(?<cents>[.,](?:\d{1,2}|[-–—]{1,2}))?(?![.,]?\d)(?<times>\s?(?:(?:k|tys\.?|tis\.?|ezer|тыс\.?|тис\.?|mil|lakhs?|juta|jt|triệu)(?!\p{L})|[万萬만]))?`;
/** An amount or a range of two, whose lower end counts; the currency stands before or after. */
const rangeEnd = String.raw`(?:(?:\s?${currency})?\s*(?:-|to|and|bis|und|auf|à|et|a|y|e|tot|en)\s*${currency}?\s?(?<end>${other})\b)?`;
/** As in `Bath Avenue 7 €1,850`, where the sign is that of the next number. */
const houseNumber = String.raw`\d{1,4}\s${currency}\d|\d{1,2}\s?${currency}\s?\d[\d.,]{2}`;
const amountWith = (range: string) =>
  String.raw`(?:${currency}\s?${whole}${cents}${range}(?:\s?${currency})?|(?=\d)(?<![\d.,\p{L}\ue000-\ue0ff])(?!${houseNumber})${whole}${cents}${range}\s?${currency})\+?`;
const amount = amountWith(rangeEnd);
const anyAmount = new RegExp(amount, 'giu');
const kind = String.raw`(?:\s*(?:rent|kalt(?:miete)?|warm(?:miete)?|miete|(?:kale )?huur|cc|hc)\b)?`;
const per = String.raw`${kind}\s*\(?(?:per|a|each|every|pro|je|im|par|por|al|za|pr\.?|på|á|în|в|на|/|p\.?/?)\s*`;
const every = (unit: string, adverb: string) =>
  new RegExp(
    String.raw`${amount}(?:${per}(?:${unit})|${kind}\s*\(?(?:${adverb})(?!\p{L}))|(?<![\p{L}\d])(?:${adverb}|(?:rent )?(?:per|pro|par|por|al) (?:${unit}))(?: rent| price| leje| leie)?[\s:|=]*${amount}`,
    'giu',
  );
const monthly = every(
  // A price for a square metre is none for a month.
  String.raw`(?:calendar\s+)?(?:month|mth|mo|c\.?\s?m|m|monat|mt|mois|mes|mês|mese|maand|mnd|miesiąc|mies|m-?c|mån(?:ad(?:en)?)?|måned(?:en)?|md|kk|měs(?:íc)?|mesiac|hó(?:nap)?|lun[aă]|ay|mj(?:esec)?|mesec|μήνα?|месец|мес(?:яц)?|міс(?:яць)?|mėn|mēn|kuu|mán(?:uði)?|bulan|bln|tháng|เดือน|月|월|חודש)(?![\p{L}\d²])`,
  'monthly|monatlich|mtl|mensuel(?:s|les?)?|mensual(?:es)?|mensili?|mensal|mensais|maandelijks|miesięcznie|měsíčně|mesačne|havi|havonta|lunar|aylık|månedligt?|månatligen|kuukaudessa|mjesečno|mesečno|μηνιαίως|ежемесячно|щомісяця|לחודש|月租|mes',
);
const weekly = every(String.raw`(?:week|wk|w|woche|semaine|semana|settimana|vecka|uge|uke)(?!\p{L})`, 'weekly|wöchentlich');
const yearly = every(
  raw`(?:year(?:ly)?|yr|annum|jahr|an(?:née)?|año|anno|ano|jaar|år|rok|год|рік|年)(?!\p{L})`,
  'yearly|annually|jährlich|annuel(?:s|les?)?|p\\.a\\.',
);
const german = '(?:netto|brutto|gesamt|grund|kalt|warm|monats)*miet(?:e|preis|zins)';
const labelBehind = String.raw`base rent|kalt|warm|${german}|gesamtbelastung|cc|hc|c\.c\.|charges comprises|hors charges|zzgl\.? ?(?:nk|nebenkosten)|inkl\.? ?(?:nk|nebenkosten)|\+ ?czynsz`;
const labels = `rent|${german}|loyer|alquiler|affitto|canone|huur(?:prijs)?|aluguel|renda|hyra|(?:hus|måneds)?lei?e|husleje|vuokra|nájem(?:né)?|nájomné|czynsz najmu|bérleti díj|chirie|kira|ενοίκιο|najam|наем|аренда|оренда|賃料|家賃|租金|월세`;
const behindLabel = String.raw`(?: ?\([^()\n]{1,20}\)| inkl\.? ?(?:nk|nebenkosten))?[\s:|=]*`;
/** A rent without a period is that of a month; the word for it stands before, behind, or alone in the line below. */
const labelled = new RegExp(
  String.raw`(?<!\p{L})(?:${labels})(?!\p{L})${behindLabel}${amount}(?!\s*(?:per|a|/|pro|par|por|al)?\s*(?:night|day|year|annum|yearly|annual|sqm|m²|m2\b|sq\.?\s?(?:ft|m)\b|square|person|room|head))` +
    String.raw`|${amount}(?:[^\S\n]*\(?(?:${labelBehind})(?!\p{L})|[^\S\n]*\n[^\S\n]*(?:${german}|loyer)[^\S\n]*(?=\n|$))`,
  'giu',
);

/** Charges behind the rent, as in `950 € (+ 100 €)`. */
const qualifier = String.raw`(?: (?:VB|VHB)|,? ?(?:incl|inkl|excl|exkl|inclusief|exclusief|zzgl)(?!\p{L})[^\n\d]{0,40}| ?\(?\+ ?${currency}? ?\d[\d., ]{0,8} ?${currency}?[^\S\n]?(?:charges|kosten|poplatky|nk)?\)?)?`;
/** A rent that names no period stands alone in its line. */
const alone = new RegExp(
  String.raw`(?<=^|\n)(?:(?:price|preis|prix|precio|prezzo|prijs|preço|pris|cena)\s?:\s?|(?:ab|from|dès|desde|da) )?${amount}[.-]*${qualifier}(?=\n|$)(?!\s+(?:/|(?:per|a|al|alla|pro|par|por)\s)\s?\p{L})`,
  'giu',
);
/** A part of a line of facts: `3 Zimmer | 950 €`, `A flat $1,850 / 2br - 850ft²`. A slash before a word is that of a period. */
const inFacts = new RegExp(
  String.raw`(?:(?<=(?:^|\n)(?:[-*•]\s)?|[|·•,;]\s?|(?<!\d{3}|${currency})\s[-/]\s)|(?=[^\n/]{1,20}/\s\d{1,2}br\b))${amountWith('')}(?=\n|$|\s?[|·•,;](?!\d)|\s-\s(?!${currency}|\d[\d.,]*\s?${currency})|\s/\s\d)`,
  'giu',
);

/** Before a former price, the bound of a saved search, a difference, or what is paid once. */
const isOther = new RegExp(
  String.raw`(?<!\p{L})(?:${[
    String.raw`was|were|previous(?:ly)?|former(?:ly)?|original(?:ly)?|before|(?:reduced|down|dropped|lowered|decreased|cut|changed|fell) from|(?:old|former|previous|original|last) (?:price|rent)`,
    'statt|bisher(?:ige[rn]?(?: (?:preis|miete))?)?|vorher|zuvor|früher|ursprünglich(?:e[rn]? (?:preis|miete))?|alte[rn]?(?: (?:preis|miete|kaltmiete))?|(?:reduziert|gesenkt|gesunken) (?:von|um)',
    'au lieu de|auparavant|initialement|précédemment|ancien(?: (?:prix|loyer))?|(?:prix|loyer) (?:précédent|initial)|(?:baisse|baissé|passé|réduit) de',
    'antes|(?:precio|alquiler) (?:anterior|inicial)|(?:bajado|rebajado|reducido|bajada) de|(?:preço|renda|aluguel) anterior|(?:baixou|reduzido) (?:de|em)',
    'anziché|prima|era|invece di|prezzo (?:precedente|iniziale)|vecchio (?:prezzo|canone)|(?:sceso|ridotto|ribassato) d[ai]',
    '(?:oude|vorige)(?: (?:prijs|huurprijs|huur))?|eerst|voorheen|(?:verlaagd|gedaald) (?:van|met)|(?:poprzednia|stara) cena|było|původní (?:cena|nájem)|dříve',
    'tidigare(?: hyra| pris)?|(?:sänkt|minskat) (?:från|med)|før|førpris|tidligere(?: pris| leie| husleje)?|nedsat (?:fra|med)',
    String.raw`up to|max(?:imum)?\.?(?: price| rent)?|under|below|less than|at most|budget(?: of)?|bis zu|jusqu['’]à|hasta|fino a`,
    '(?:reduced|dropped|lowered|decreased|cut|cheaper|less|lower|down|fell) by|sav(?:e|es|ing|ings)(?: of)?|discount(?: of)?',
    '(?:deposit|kaution|caution|fianza|cauzione|waarborg|booking fee|admin fee|agency fee)(?: of)?',
  ].join('|')})[\s:|=]*(?:of\s+)?$`,
  'iu',
);

const extras = String.raw`(?:${[
  String.raw`parking|car ?park|garage|car ?space|stellplatz|tiefgarage|bills?|storage|service charges?|utilit(?:y|ies)|pets?|pet (?:fee|rent)|heating|electricity|gas|internet|broadband|wi-?fi|water|cleaning|gym|maintenance|management fees?|insurance|laundry|council tax|body corporate|strata|hoa|mortgage`,
  'nebenkosten|heizkosten|betriebskosten|charges|(?:gastos de )?comunidad|spese(?: condominiali| condominio| accessorie)?|condom[ií]nio|despesas|servicekosten',
  'czynsz(?: administracyjny)?|opłaty|poplatky|media|a ?conto|forbrug|fellesutgifter',
].join('|')})`;
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
const arrow = new RegExp(String.raw`^\s*(?:→|->|=>|➜|➔|➞|⟶|⇒|›|»|↓|⬇|▼|↘)\ufe0f?\s*(?:now\s*:?\s*)?${currency}?\s?(${other})`, 'iu');
/** Behind a former price, with the lower one that follows it: `, now €1,750 per month`. */
const changed = new RegExp(
  String.raw`^\s*[,;.]?\s*(?:${[
    'to|auf|à|a|para|naar|voor|till|til|na|now(?: only)?|jetzt|maintenant|ahora|agora|ora|nu|nå|nyní|teraz|jest',
    'new (?:price|rent)|neue[rn]? (?:preis|miete)|nouveau (?:prix|loyer)|nuevo precio|novo preço|nuovo prezzo|nieuwe (?:prijs|huurprijs)|nowa cena|ny (?:hyra|leie|pris)|nová cena',
  ].join('|')})\s*:?\s*(?:${currency}\s?(${other})|(${other})\s?${currency})`,
  'iu',
);

/** Parking and bills cost less, and hardly any rent does. */
const leastDoubtful = 250;
/** Hardly any rent is lower, and other things on sale are. */
const leastAlone = 100;

/** Whether a text names an amount of money. */
export const hasPrice = (text: string): boolean => nameAt(markCurrencies(text)) !== undefined && /\d/.test(text);

/** A line with `|` in place of its amounts of money. */
export const withoutAmounts = (line: string): string =>
  markCurrencies(line)
    .replace(anyAmount, '|')
    .replace(/[\ue000-\ue0ff]/g, '');

/** `currency` is a code, or a sign that `codeOf` knows. */
export type Rent = { readonly value: number; readonly currency: string | undefined };

/** The first rent above 0: a month's, else a week's for as long as a month is, else one without a period, else a year's. The first text that has one counts. */
export function rentIn(written: readonly string[]): Rent | undefined {
  const texts = written.map(markCurrencies);
  const per = (period: RegExp, timesAYear: number) => {
    const found = firstIn(texts, period);
    return found && { ...found, value: Math.round((found.value * timesAYear * 100) / 12) / 100 };
  };
  return firstIn(texts, monthly) ?? per(weekly, 52) ?? firstIn(texts, labelled) ?? per(yearly, 1);
}

/** The rent of an offer that names no period: the only amount that stands alone in a line, else the only one among the facts of a line. */
export function rentAlone(text: string): Rent | undefined {
  return onlyIn(text, alone) ?? onlyIn(text.split('\n').filter(hasFacts).join('\n'), inFacts);
}

const area = /\d\s?(?:qm\b|m[²2]|sq\.?\s?(?:ft|m)\b|ft[²2])/i;
const hasFacts = (line: string): boolean => bedsIn(line) !== undefined || area.test(line) || typeOf(line) === 'Studio';

function onlyIn(text: string, pattern: RegExp): Rent | undefined {
  const [first, ...others] = amountsIn(markCurrencies(text), pattern).filter(({ value }) => value >= leastAlone);
  return others.every(({ value }) => value === first?.value) ? first : undefined;
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
    const { index, 0: all, groups: { whole = '', cents = '', times = '', end = '0' } = {} } = match;
    const [first, second] = [numberOf(`${whole}${cents}`) * factorOf(times.trim()), numberOf(end)];
    const before = text.slice(Math.max(index - 60, 0), index);
    const after = text.slice(index + all.length, index + all.length + 40);
    // No range goes down: the rent did.
    const isChange = second > 0 && ((second < first && second > first / 4) || (isReducedBy.test(before) && isOther.test(before)));
    const value = isChange ? second : first;
    const next = numberOf(arrow.exec(after)?.[1] ?? '0');
    const [, behindSign, beforeSign] = changed.exec(after) ?? [];
    const lower = numberOf(behindSign ?? beforeSign ?? '0');
    const isBefore = !isChange && (isOther.test(before) || (lower < value && lower > value / 4));
    const isRent = value > 0 && !isBefore && !isExtra.test(before) && !isForExtra.test(after) && !isFormer.test(after) && next < value / 2;
    const isSure = !isBeside.test(before);
    return isRent && (isSure || value >= leastDoubtful) ? [{ value, isSure, currency: nameAt(all) }] : [];
  });
}

/** `2.1k`, `180 ezer`, `8.5万`, `1.2 lakh`, `12 triệu`; for a thousand there are most words. */
function factorOf(written: string): number {
  if (written === '') return 1;
  if (/^(?:juta|jt|triệu)$/i.test(written)) return 1_000_000;
  if (/^lakh/i.test(written)) return 100_000;
  return /[万萬만]/.test(written) ? 10_000 : 1000;
}

/** Reads `1,850.50`, `1.850,50`, `1 850` and `1.850,-`. */
function numberOf(written: string): number {
  const [, digits = '', fraction = ''] = /^(.*?)(?:[.,](\d{1,2}|[-–—]+)?)?$/.exec(written) ?? [];
  return Number(`${digits.replaceAll(/\D/g, '')}.${fraction.replace(/\D+/, '')}0`);
}
