// Reads the facts of a listing out of text, but for its rent. Pure.
import { type Property, readEircode } from '../contract.ts';
import { tidy } from './document.ts';
import { isRoomLabel, roomLabel } from './room-labels.ts';

export const linesOf = (text: string): string[] => text.split('\n').map(tidy);

/** Lines without the address, which may name a house or a bath; dashes are hyphens, and numbers stand before what they count. */
export function factsOf(text: string, address?: string): string {
  const lines = linesOf(text).filter((line) => line !== address);
  return joinCells(lines.map((line) => line.replace(/[\u2010-\u2015\u2212]/g, '-')))
    .map(countFirst)
    .join('\n');
}

const isNumber = /^\d{1,2}$/;

/** Puts cells of a table that hold a label or a number alone on one line: `Beds`, `2`, `Baths`, `1`. */
function joinCells(lines: readonly string[]): string[] {
  const joined: string[] = [];
  let cells: string[] = [];
  const flush = () => {
    const isList = cells.some(isRoomLabel) && cells.some((cell) => isNumber.test(cell));
    joined.push(...(isList ? [cells.map((cell) => (isNumber.test(cell) ? cell : `${cell.replace(/\s*[:|]$/, '')}:`)).join(' ')] : cells));
    cells = [];
  };
  for (const line of lines) {
    if (isRoomLabel(line) || isNumber.test(line)) cells.push(line);
    else if (line !== '' || cells.length === 0) {
      flush();
      joined.push(line);
    }
  }
  flush();
  return joined;
}

const label = new RegExp(
  String.raw`\b(bed|bath)(?:(?:s|rooms|\(s\))\s*[:=|]?|(?:room)?\s*[:=|])\s*\(?(\d{1,2})\b\)?|(?<!\p{L})(${roomLabel})\s*[:=|]\s*(\d{1,2}(?:[.,]\d)?)(?!\d)`,
  'giu',
);
const startsWithLabel = new RegExp(String.raw`^\D*(?:\b(?:bed|bath)|(?<!\p{L})(?:${roomLabel})\s*[:=|])`, 'iu');
/** `Beds: 2, Baths: 1` is a list of labels where no number stands before the first of them. */
const countFirst = (line: string): string => (startsWithLabel.test(line) ? line.replace(label, '$2$4 $1$3') : line);

// The second half of an eircode has a digit: `D02 year` is none.
export const eircodeInText = /\b(?:[a-z]\d{2}|d6w) ?(?=[a-z]{0,3}\d)[a-z\d]{4}\b/gi;
export const eircodeIn = (text: string): string | undefined =>
  text
    .match(eircodeInText)
    ?.map(readEircode)
    .find((one) => one !== undefined);

/** Numbers as words, from 1; each entry has a word of each language. */
const words = [
  'one|een|ein|eine|un|une|una|uno|um|uma',
  'two|zwei|deux|dos|due|twee|dois|duas',
  'three|drei|trois|tres|tre|drie|três',
  'four|vier|quatre|cuatro|quattro|quatro',
  'five|fünf|cinq|cinco|cinque|vijf',
  'six|sechs|seis|sei|zes',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
].map((forms) => forms.split('|'));
const number = String.raw`\d{1,2}|${words.flat().join('|')}`;
const adjectives =
  'double|dbl|single|sgl|twin|large|small|spacious|bright|modern|full|master|king|guest|good[- ]sized|generous|fitted|main|en-?suite|separate|grandes?|petites?';
const counted = (noun: string) =>
  new RegExp(
    String.raw`(?<![\d.,\p{L}])(${number})(?:[.,]\d(?!\d)|\s?½|[\s-]+and[\s-]+a[\s-]+half)?(?:\s*\(\d{1,2}\))?(?:\s*(?:-|to|/|\+)\s*(?:${number}))?(?:\s*(?:x|×|no\.?|nr\.?)\s*|\+?[\s-]*)(?:(?:${adjectives})[\s,-]+){0,3}(?:${noun})(?!\p{L})`,
    'giu',
  );
// `12 CH-8001 Zürich` is a street's number before a postal code.
const bedrooms = counted(
  String.raw`bed(?:s|rooms?|roomed)?|br|bds?|bdrms?|schlafzimmer|chambres?|ch(?!\s?-?\s?\d{4}(?!\s?€))|dorm(?:itorio)?s?|hab(?:s|itaci(?:ones|ón))?|camer[ae](?: da letto)?|slaapkamers?|slpk|quartos?|bhk|ldk|so[vw]rum|soverum|soverom|soveværelser|υπνοδωμάτι[αο]|rec[aá]maras?|alcobas?|dormit[oó]rios?|kamar tidur|phòng ngủ|[室房](?=\d|$|[\s,|·])`,
);
const baths = counted(
  'bath(?:s|rooms?|roomed)?|ba|bäder|bad(?:ezimmer)?|salles? de bains?|baños?|bagn[io]|badkamers?|casas? de banho|banheiros?|sdb|łazien(?:ka|ki)|koupeln[ay]|badrum|badeværelser|μπάνι[οα]|kamar mandi',
);
/** Rooms of all kinds, as most of the Continent counts them; one of them is no bedroom. */
const rooms = counted(
  String.raw`zimmer(?:wohnung|apartment)?|room(?= (?:flat|apartment))|zi|pièces?|locali|vani|ambientes|kamers?|pok(?:oje|oi|ój|ojow[ea])|\+kk|szob(?:a|ás)|rum|rok|roms?|vær(?:elsers?|elses)?|raum(?:wohnung)?|комнат(?:ная|ы)?|к(?=\.)|кімнат(?:на|и)?|стаен|h(?=\s?\+)|izb(?:ov[ýá]|y)|sob(?:n[oai]|e)|kambari[ųo]|istabas|toa(?:line|d)|herbergja|חדרים`,
);
/** Flats that are named by how many rooms they have, from one. */
const flats = [
  'monolocale|monoambiente|garsoniera|garsonieră|kawalerka|yksiö|едностаен|однокомнатная|однокімнатна',
  'bilocale|kaksio|dvosoban|dvosobno|двустаен|двухкомнатная|двокімнатна|dwupokojowe',
  'trilocale|kolmio|trosoban|trosobno|тристаен|трехкомнатная|трёхкомнатная|трикімнатна|trzypokojowe',
  'quadrilocale|четиристаен|четырехкомнатная|чотирикімнатна',
  'pentalocale',
].map((forms) => forms.split('|'));
// Boundaries of words would cost more than all else that reads rooms, and these words are in no others.
const flat = new RegExp(flats.flat().join('|'));

/** `T3` and `F3` of France, `T3` of Portugal, `2+1` of Turkey and Czechia. */
const layout =
  /(?:^|[|·•,]\s*|(?<!\p{L})(?:appartement|apartamento|maison|moradia|duplex|loft|location|louer|tipologia|type)[:\s]+)([TF])(\d)(?=$|[\s|·•,])|(?<![\d.,+\p{L}])([1-9])\s?\+\s?[01](?![\d\p{L}+.,])/imu;
/** A `T3` has three bedrooms. */
const isPortuguese = /(?<!\p{L})(?:apartamento|moradia|renda|arrend\p{L}*|mês)(?!\p{L})/iu;
/** `2+1` has two rooms. */
const isCzech = /(?<!\p{L})(?:byt\p{L}?|kč|pronájem|prenájom)(?!\p{L})/iu;
/** `camere` are rooms, and bedrooms in Italian. */
const isRomanian = /(?<!\p{L})(?:apartament|lun[aă]|lei)(?!\p{L})/iu;
const romanianRooms = counted('camere');

function bedsOfLayout(text: string, country: string): number | undefined {
  // Most texts have none, and this costs a tenth.
  if (!/\b[TF]\d|\d ?\+/i.test(text)) return undefined;
  const [, type, french, plus] = layout.exec(text) ?? [];
  if (plus !== undefined) return Number(plus) - (['cz', 'sk'].includes(country) || isCzech.test(text) ? 1 : 0);
  if (french === undefined) return undefined;
  const countsBedrooms = type?.toUpperCase() === 'T' && (country === 'pt' || (country !== 'fr' && isPortuguese.test(text)));
  return Math.max(0, Number(french) - (countsBedrooms ? 0 : 1));
}
/** `two double and one single bedrooms`: the count before the last one. */
const countBefore = new RegExp(String.raw`(?<![\d.,\p{L}])(${number})\s+(?:(?:${adjectives})[\s,]+){1,3}(?:and|und|et|y|e|en|&|\+)\s*$`, 'iu');
/** The bound of a saved search is no fact of a listing. */
const isBound =
  /\b(?:min(?:imum)?\.?|max(?:imum)?\.?|at least|at most|up to|more than|less than|fewer than|mindestens|höchstens|au moins|al menos|almeno|minstens)\s*:?\s*$/i;

const valueOf = (found: string): number => {
  const word = words.findIndex((forms) => forms.includes(found.toLowerCase()));
  return word < 0 ? Number(found) : word + 1;
};

/** It may also say what a building offers. */
const isLeast = /(?<!\p{L})(?:from|ab|dès|[àa] partir de|desde|da|vanaf|od|från|fra)\s*$/iu;

/** `1+ Beds` and `from 1 bed` are bounds of a saved search where another count follows. */
function countOf(pattern: RegExp, text: string): number | undefined {
  let atLeast: number | undefined;
  for (const { index, 0: all, 1: found = '' } of text.matchAll(pattern)) {
    const lead = text.slice(Math.max(index - 20, 0), index);
    if (isBound.test(lead)) continue;
    const [, before] = countBefore.exec(text.slice(Math.max(index - 60, 0), index)) ?? [];
    const value = valueOf(found) + (before === undefined ? 0 : valueOf(before));
    if (all[found.length] !== '+' && !isLeast.test(lead)) return value;
    atLeast ??= value;
  }
  return atLeast;
}

/** @param country the end of the portal's host: some words count rooms in one country and bedrooms in another */
export function bedsIn(text: string, country = ''): number | undefined {
  const isInRomania = /camere/i.test(text) && (['ro', 'md'].includes(country) || isRomanian.test(text));
  const beds = isInRomania ? countOf(romanianRooms, text) : undefined;
  const bedroom = beds === undefined ? countOf(bedrooms, text) : beds - 1;
  if (bedroom !== undefined) return bedroom;
  const named = flat.exec(text.toLowerCase())?.[0] ?? '';
  const all = countOf(rooms, text) ?? flats.findIndex((forms) => forms.includes(named)) + 1;
  return all > 0 ? all - 1 : bedsOfLayout(text, country);
}
export const bathsIn = (text: string) => countOf(baths, text);

type PropertyType = Property['propertyType'];
/** Whole words for each type. The English ones come before those of other languages, which may be names. */
const typeWords: readonly Readonly<Partial<Record<PropertyType, RegExp>>>[] = [
  // A home that is shared is named together with its kind.
  {
    Shared:
      /(?:house|flat|apartment|home|room)[ -]?shar(?:e|ing)(?! (?:not|allowed|possible))|share[ -]?house|co-?living|(?:piso|casa|apartamento|departamento) compartid[oa]|(?:appartamento|casa) condivis[oa]|(?:apartamento|casa) partilhad[oa]|(?:appartement|maison|logement) en colocation|kollektiv|bofællesskab|bokollektiv/,
  },
  { House: /(?<!open )house/, Apartment: /apartment/, Studio: /studio/, Shared: /shared/ },
  {
    House: /rivitalo|paritalo|(?:(?:ein|mehr)familien|reihen|doppel|stadt|land)?haus|maison|huis|casa(?! de banho)|moradia|omakotitalo|дом|къща|rumah/,
    Apartment:
      /\p{L}*w(?:ohnung|hg)|kerrostalo|departamento|kiralık daire|квартира|апартамент|διαμέρισμα|stanovanje|butas|korter|íbúð|appartement|appartamento|(?:bi|tri|quadri)locale|apartamento|flat(?! (?:rate|fee|screen|roof))|piso|mieszkanie|byt[uy]?|lakás|lägenhet|leilighet|lejlighed/u,
    Studio: /monolocale|monoambiente|estudio|garsonier[aă]|kawalerka|yksiö|студио|студия/,
    Shared: /wg|colocation/,
  },
];
const typePatterns = typeWords.map((words) => {
  const named = Object.entries(words).map(([type, { source }]) => `(?<${type}>${source})`);
  return new RegExp(String.raw`(?<!\p{L})(?:${named.join('|')})(?!\p{L})`, 'iu');
});
const types: readonly PropertyType[] = ['House', 'Apartment', 'Studio', 'Shared'];

/** Also out of the title of an offer, which may be the address as well: `Piso en calle Mayor, Burgos`. */
export const typeOfTitle = (title: string): PropertyType | undefined => {
  if (typeOf(title) === 'Shared') return 'Shared';
  const isStreet = bedsIn(title) === undefined;
  const { Apartment, Studio } = typePatterns[2]?.exec(isStreet ? (/^\p{L}+/u.exec(title)?.[0] ?? '') : title)?.groups ?? {};
  return Apartment !== undefined ? 'Apartment' : Studio !== undefined ? 'Studio' : undefined;
};

export function typeOf(text: string): PropertyType | undefined {
  for (const pattern of typePatterns) {
    const found = pattern.exec(text)?.groups;
    if (found) return types.find((type) => found[type] !== undefined);
  }
  return undefined;
}

/** Craigslist has `apa` in the addresses of flats to rent. */
const rents =
  /(?<!\p{L})(?:apa(?=\/)(?<=craigslist\.org\/\S{0,20}apa)|rent(?:als?|ing)?|lettings?|to let|\p{L}*miet\p{L}*|wg|louer|locations? (?:appartement|maison|meublé|vide|studio)s?|alquil\p{L}*|affitt\p{L}*|\p{L}*huur\p{L}*|alug\p{L}*|arrend\p{L}*|(?:ut)?hyra|uthyr\p{L}*|(?:ut)?leie|(?:ud)?leje\p{L}*|pronáj\p{L}*|prenáj\p{L}*|wynaj\p{L}*|kiralık|vuokra\p{L}*|аренд\p{L}*|賃貸)(?!\p{L})/iu;
const sells =
  /(?<!\p{L})(?:for[ -]sale|to buy|\p{L}*kauf\p{L}*|vendre|ventes?|venta|vendita|koop\p{L}*|venda|till salu|til salgs?|prodej\p{L}*|predaj\p{L}*|sprzeda\p{L}*|satılık|продаж\p{L}*)(?!\p{L})/iu;
/** Whether an offer says that it is to be rented, not bought. */
export const isForRent = (text: string): boolean => rents.test(text) && !sells.test(text);
export const isForSale = (text: string): boolean => sells.test(text);

// `…/ber/B2.svg`, `ber_b2@2x.png`: the grade stands by itself or after `ber`.
export const isOfBer = (source: string) => /(?:^|[^a-z])ber(?![a-z]{2})/i.test(source);
export const gradeInName = /(?:^|[^a-z\d]|ber)([a-c][1-3]|[de][12]|[fg]|exempt)(?![a-z\d])/i;
export const gradeInText = /\b(?:BER|energy)\b[\s:–-]*(?:rating|rated)?[\s:–-]*([a-c][1-3]|[de][12]|[fg]|exempt)\b/i;
