// Reads the listings out of an alert mail, as daft.ie sends them. Pure; the caller bounds its cost.
import { z } from 'zod';
import { isTextTooLong, textTooLong } from '../../platform/mail/limits.ts';
import { attachedMails, readMail, sealOf } from '../../platform/mail/read-mail.ts';
import { readGrade } from '../contract.ts';
import { NewProperty } from '../new-property.ts';
import { type Card, findCards, mainImageOf, mostRead } from './cards.ts';
import { documentOfHtml, documentOfText, type MailDocument, type Span, tidy } from './document.ts';
import {
  bathsIn,
  bedsIn,
  eircodeIn,
  eircodeInText,
  factsOf,
  gradeInName,
  gradeInText,
  isForRent,
  isForSale,
  isOfBer,
  linesOf,
  typeOf,
  typeOfTitle,
} from './facts.ts';
import { codeOf, hasPrice, type Rent, rentAlone, rentIn, withoutAmounts } from './prices.ts';
import { roomLabel } from './room-labels.ts';

const FoundListing = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listing'), listing: NewProperty }),
  z.object({ kind: z.literal('failed'), reason: z.string() }),
]);
type FoundListing = z.output<typeof FoundListing>;

/** `ignored` is a mail without a listing link; `failed` is a mail that could not be parsed, or a listing that lacks a needed fact. */
export const AlertMail = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listings'), listings: z.array(FoundListing) }),
  z.object({ kind: z.literal('ignored'), reason: z.string() }),
  z.object({ kind: z.literal('failed'), reason: z.string() }),
]);
export type AlertMail = z.output<typeof AlertMail>;

const mostListings = 100;
const tooMany = { kind: 'failed', reason: `more than ${mostListings} listings` } as const;

/**
 * @param linkPattern matched against the whole URL; its first group is the listing's sourceId
 * @throws Error for bytes that are no mail
 */
export async function parseAlertMail(raw: Uint8Array, linkPattern: RegExp, depth = 0): Promise<AlertMail> {
  const mail = await readMail(raw, { forceRfc822Attachments: true });
  const { html = '', text = '', subject = '', attachments } = mail;
  const reason = sealOf(mail);
  if (reason !== undefined) return { kind: 'failed', reason };
  if (isTextTooLong(html, text)) return { kind: 'failed', reason: textTooLong };
  for (const document of [documentOfHtml(html), documentOfText(text)]) {
    const cards = findCards(document, linkPattern);
    if (cards.length > mostListings) return tooMany;
    if (cards.length > 0) return { kind: 'listings', listings: cards.map((card) => readListing(document, card, subject)) };
  }
  const found: AlertMail[] = [];
  for (const attached of depth < deepest ? attachedMails(attachments) : []) found.push(await parseAlertMail(attached, linkPattern, depth + 1));
  const listings = found.flatMap((one) => (one.kind === 'listings' ? one.listings : []));
  if (listings.length > 0) return listings.length > mostListings ? tooMany : { kind: 'listings', listings };
  return found.find(({ kind }) => kind === 'failed') ?? { kind: 'ignored', reason: 'no listing link' };
}

/** Mails that are forwarded as an attachment, within one another. */
const deepest = 3;

function readListing(document: MailDocument, card: Card, subject: string): FoundListing {
  const { sourceId, sourceUrl, before, after, isBefore } = card;
  const address = addressOf(document, card);
  const places = [...card.places, ...(isBefore ? [...before, ...after] : [...after, ...before])];
  const texts = places.map(({ at, end }) => factsOf(document.text.slice(at, Math.min(end, at + mostRead)), address));
  const nearest = <T>(read: (text: string) => T | undefined): T | undefined => firstOf(texts, read);
  const own = texts.slice(0, card.places.length + (isBefore ? before.length : 0));
  const firstLink = card.links[0]?.at ?? 0;
  const rent = rentIn(texts) ?? rentWithoutPeriod(own, `${subject}\n${sourceUrl}`, document.text.slice(Math.max(0, firstLink - mostRead), firstLink));
  if (rent === undefined) return { kind: 'failed', reason: 'no price' };
  if (address === undefined) return { kind: 'failed', reason: 'no address' };
  const { hostname } = new URL(sourceUrl);
  const title = titleIn(document, card, address);
  const currency = rent.currency === undefined ? undefined : codeOf(rent.currency, hostname);
  if (rent.currency !== undefined && currency === undefined) return { kind: 'failed', reason: `${rent.currency} is the currency of several countries` };
  const read = NewProperty.safeParse({
    sourceId,
    sourceUrl,
    address,
    priceMonthly: rent.value,
    currency,
    eircode: eircodeIn(address),
    // A fact that the mail lacks stays as it is known.
    beds: firstOf([...texts, title], (text) => bedsIn(text, hostname.split('.').at(-1))),
    baths: nearest(bathsIn),
    propertyType: nearest(typeOf) ?? typeOfTitle(title) ?? typeOfTitle(/^\p{L}+/u.exec(address)?.[0] ?? ''),
    berRating: firstOf(places, (place) => gradeOf(document, place)),
    mainImageUrl: mainImageOf(document, card),
    withdrawn: isWithdrawn(card, texts) ? true : undefined,
  });
  if (read.success) return { kind: 'listing', listing: read.data };
  return { kind: 'failed', reason: read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ') };
}

/** The text of a link that is the address as well; a street may be named for a bed. */
function titleIn({ text }: MailDocument, { links }: Card, address: string): string {
  const isOfLink = links.some(({ at, end }) => tidy(text.slice(at, end)) === address);
  return isOfLink && (typeOf(address) ?? typeOfTitle(address)) !== undefined ? address : '';
}

/** A price without a period may be that of a flat for sale, unless no home is sold for so little. */
function rentWithoutPeriod(texts: readonly string[], about: string, above: string): Rent | undefined {
  const text = texts.find((one) => rentAlone(one) !== undefined) ?? '';
  const rent = rentAlone(text);
  if (rent === undefined || isForRent(`${about}\n${text}`)) return rent;
  return rent.value < leastSold && !isForSale([about, above, ...texts].join('\n')) ? rent : undefined;
}

/** In any currency that has hundreds as rents. */
const leastSold = 10_000;

function firstOf<S, T>(sources: readonly S[], read: (source: S) => T | undefined): T | undefined {
  for (const source of sources) {
    const found = read(source);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The address of a mailbox or of a page. */
const isOnline = /^(?:\S+@\S+|(?:https?:\/\/|www\.)\S+)$/i;
/** The text of a button, or of a badge. */
const isLabel =
  /^\W*(?:(?:active|coming soon|just listed|for rent|to let|featured|sponsored|schedule|view|see|show|open|more|read|details?|photos?|contact|call|e-?mail|save|enquire|ansehen|anzeigen|zum|zur|mehr|voir|découvrir|ver|vedi|vai|scopri|bekijk|meer|visa|se|zobacz|sprawdź|zobrazit)(?!\p{L})[^,\d]*|[^,\d]{0,40}\s(?:ansehen|anzeigen|öffnen|klicken|bekijken)|(?:(?:click|klicke?|klicka|cliquez|haz clic|clicca|clique|kliknij|klik) )?(?:link|here|hier|ici|aquí|aqui|qui|tutaj|här|her))\W*$/iu;

/** The address in a line with an eircode, which may hold the rent and other facts too. */
function addressIn(line: string): string {
  const eircode = [...line.matchAll(eircodeInText)].at(-1);
  if (!hasPrice(line) || !eircode) return line;
  const parts = line.slice(0, eircode.index).split(/\s*[|·•;]\s*|\b(?:per month|a month|pcm|p\/?m|per week|pw)\b[\s,:]*/i);
  return `${firstOf(parts.toReversed(), streetIn) ?? ''} ${eircode[0]}`.trim();
}

/** A dash separates facts, and the parts of an address as well. */
function streetIn(part: string): string | undefined {
  const pieces = part.split(/(?=\s[-–—]\s)/);
  const last = pieces.findLastIndex((piece) => /\p{L}/u.test(piece) && !isFact(piece));
  const street = pieces.slice(pieces.findLastIndex((piece, at) => at < last && isFact(piece)) + 1, last + 1).join('');
  return last < 0 ? undefined : street.replace(/^[\s\-–—]+/, '').trim();
}

const isArea = /^\W*\d[\d.,]*\s?(?:m|ft|qm|sq\.?\s?(?:ft|m))[²2]?\W*$/i;
/** `7 Bath Avenue` is none. */
const isFact = (piece: string): boolean =>
  hasPrice(piece) || isArea.test(piece) || /(?:^|\b(?:bed|bath)(?:s|rooms?|roomed)?|\dbr)\W{0,3}(?:house|apartment|flat|studio|shared)?\W{0,3}$/i.test(piece);

/** A named address or a line with an eircode, in the card, else before it; else the link's text; else one after the card. */
function addressOf({ text, addresses }: MailDocument, { links, places, before, after, isBefore }: Card): string | undefined {
  const named = ({ at, end }: Span) =>
    firstOf(addresses, (span) => {
      const written = span.at >= at && span.at < end ? tidy(text.slice(span.at, span.end)) : '';
      return written === '' || isOnline.test(written) ? undefined : written;
    });
  const lines = ({ at, end }: Span) => linesOf(text.slice(at, Math.min(end, at + mostRead)));
  const withEircode = (place: Span) => firstOf(lines(place), (line) => (eircodeIn(line) === undefined ? undefined : addressIn(line)));
  const written = links.map((link) => ({ ...link, label: tidy(text.slice(link.at, link.end)) })).filter(({ label }) => label !== '');
  const texts = written.map(({ label }) => label);
  const saying = texts.filter((one) => /\p{L}/u.test(one) && !isLabel.test(one) && !hasPrice(one));
  const ofLinks = saying.find((one) => streetWithComma(one) !== undefined) ?? saying[0];
  // A picture, a price and a button are all links in some cards, and the address beside them is none.
  // A mail of text has addresses of pages alone.
  const button = written.at(-1) ?? links.at(-1);
  const withComma = ({ at, end }: Span) =>
    button &&
    (firstOf(linesOf(text.slice(Math.max(at, button.at - mostRead), button.at)).toReversed(), streetWithComma) ??
      firstOf(lines({ at: Math.max(at, button.end), end }), streetWithComma));
  // Buttons below lines without an element around each listing are like addresses of pages in a text.
  const isInLines = written.length === 0 || (saying.length === 0 && isBefore);
  const near = isInLines ? [...places, ...(isBefore ? before : after)] : places;
  // `Bright 2-room flat` is a title, and the address of its card a better one.
  const isTitle = ofLinks !== undefined && (bedsIn(ofLinks) !== undefined || namesKind(ofLinks));
  const priced = isTitle ? places.find((place) => lines(place).some(hasPrice)) : undefined;
  // The text between the links may end with the title.
  const around = priced && places.find(({ at, end }) => at <= priced.at && end > priced.end);
  const end = around && priced.end === button?.end ? Math.min(around.end, priced.end + mostBehind) : priced?.end;
  const inCard = priced && lines({ at: priced.at, end: end ?? priced.end });
  // A card that is one link has the address in one of its lines.
  const linked =
    inCard?.find((line) => isStreet.test(line) || ((behindComma.test(line) || isNumbered(line)) && streetWithComma(line) !== undefined)) ??
    (inCard && isKind.test(withoutFacts(ofLinks ?? '')) ? firstOf(inCard, townIn) : undefined) ??
    ofLinks ??
    firstOf(written.flatMap(lines), streetWithComma) ??
    firstOf(near, withComma) ??
    firstOf(near, (place) => firstOf(lines(place), townIn)) ??
    firstOf(near, (place) => lines(place).findLast((line) => isStreet.test(line))) ??
    firstOf(near, (place) => firstOf(lines(place), titleBehindFacts)) ??
    texts[0];
  const within = (all: readonly Span[]) => firstOf(all, named) ?? firstOf(all, withEircode);
  // Listings of a text are numbered.
  return (within(places) ?? within(before) ?? linked ?? within(after))?.replace(/^\d{1,3}[.)]\s+(?=\d)/, '');
}

/** Longer addresses are none. */
const mostBehind = 120;

/** A title that names the kind of home and no street: it has no number, and no part of an address behind a comma. */
const namesKind = (title: string): boolean => !/[\d,]/.test(title) && (typeOf(title) ?? typeOfTitle(title)) !== undefined;
/** Such a title of nothing else but numbers: `Appartement te huur`, `Appartement 2 pièces 41 m²`. */
const isKind =
  /^\p{L}+(?: (?:for rent|to let|zur miete|zu vermieten|à louer|te huur|in affitto|en alquiler|para arrendar|para alugar|do wynajęcia|na wynajem|att hyra|til leie|til leje|k pronájmu))?$/iu;

const withoutFacts = (title: string): string =>
  title
    .slice(0, 120)
    .replace(/[\s,·|-]*\b\d[\d.,]*\s?(?:m[²2]|\p{Ll}+|Zimmer)(?!\p{L})/gu, '')
    .trim();

/** As in `$1,850 / 2br - 850ft² - Sunny flat (Oakland)`, which is the text of the link as well. */
function titleBehindFacts(line: string): string | undefined {
  const title = /^\P{L}*\d.{0,40}\s-\s/u.test(line) && rentAlone(line) !== undefined ? streetIn(line.replace(/<?https?:.*/, '')) : undefined;
  return title !== undefined && /\p{L}{2}/u.test(title) ? title : undefined;
}

/** A town with its postal code, before or behind it. */
const townBehindCode = String.raw`(?:[A-Z]{1,2}-)?(?:\d{4,5}(?:-\d{3})?|\d{3} \d{2}|\d{2}-\d{3})(?: [A-Z]{2})? \p{Lu}\p{L}`;
const behindComma = new RegExp(String.raw`(?:^|,\s*)${townBehindCode}`, 'u');
const town = new RegExp(String.raw`^${townBehindCode}\D*$|^\p{Lu}\p{L}[^\d:]* (?:\(\d{5}\)|\d{5}|\d{1,2}(?:er|e|ème) \((?:\d{2}|\d{5})\))$`, 'u');
const townIn = (line: string): string | undefined => line.split(/\s*[|·•;]\s*/).find((part) => part.length <= 120 && town.test(part));

const english = String.raw`\d{1,5}[a-zA-Z]?(?:-\d+)? (?!Min)(?:[\p{Lu}\d][\p{L}\d.'’-]* ){1,4}(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Drive|Dr|L(?:ane|n)|Place|Pl|Court|Ct|Way|Terrace|Parkway|Pkwy|Square|Sq|Crescent|Gardens)\b\.?(?: [NSEW]{1,2}\b)?(?:,? (?:#|Apt|Unit|No)\.? ?[\w-]+)?`;
/** A street with its number, and neither comma nor town: `216 7th St. #1`. */
const isStreet = new RegExp(`^${english}$`, 'u');
const french = String.raw`\d{1,4}(?: bis| ter)?,? (?:rue|avenue|av\.|boulevard|bd|place|chemin|allée|quai|impasse|cours|route) [^,]+`;
const others = String.raw`(?:\p{L}{6,}|\p{L}[\p{L}.'’-]*(?: \p{L}[\p{L}.'’-]*)+) \d{1,3}\s?[a-zA-Z]?(?:[-/]\d+)?`;
// `Zimmer 3, Küche` is written like a street.
const isCount = new RegExp(
  String.raw`^(?:${roomLabel}|beds?|baths?|bedrooms|bathrooms|available|open|posted|updated|listed|floor|level|zone|etage|étage|piso|piano|planta|andar|verfügbar|frei|disponible)(?!\p{L})`,
  'iu',
);
/** A street with its number, and a town without a postal code: `12 Main Street, Cork`, `Hauptstraße 5a, Berlin`. */
const numbered = new RegExp(String.raw`^(?:${english}|${french}|${others}), \p{Lu}\p{Ll}`, 'u');
const isNumbered = (line: string): boolean => numbered.test(line) && !isCount.test(line);

/** The comma of a greeting, as in `Hi Anna,`, has nothing behind it. */
const comma = new RegExp(String.raw`\p{L},\s*[\p{Lu}\d]|\d\s?[a-zA-Z]?,\s*${townBehindCode}`, 'u');
const hasComma = (text: string): boolean => comma.test(text) || isNumbered(text);

/** The address in a line, which may hold the rent and other facts too; undefined where it has none with a comma. */
function streetWithComma(line: string): string | undefined {
  if (line.length > 120 || !hasComma(line)) return undefined;
  // `Trilocale via Roma 5, Torino` is an address behind the kind of home.
  if (!hasPrice(line)) return bedsIn(line.replace(/^\p{L}+\s+/u, '')) === undefined ? line : undefined;
  const parts = withoutAmounts(line).split(/\s*[|·•;]\s*/);
  return parts
    .map(streetIn)
    .find((street) => street !== undefined && hasComma(street) && bedsIn(street) === undefined)
    ?.replace(/[\s,:(–-]+$/, '');
}

/** Badges and sentences. `Not available` alone may as well be said of parking. */
const isGone = new RegExp(
  `^(?:${[
    'let (?:agreed|stc)|sale agreed|withdrawn|off the market|no longer (?:available|on the market)|deposit taken|rented(?: out)?|leased',
    '(?:this|the|your) (?:property|listing|home|flat|apartment|room|rental) (?:is|was|has been|has now been|is now) (?:let(?: agreed)?|rented|leased|removed|withdrawn|taken off the market|no longer (?:available|on the market))',
    '(?:(?:dieses|das|die) (?:objekt|inserat|angebot|anzeige|wohnung) ist )?(?:leider )?nicht mehr verfügbar|(?:bereits )?vermietet|(?:anzeige|angebot|inserat) deaktiviert',
    '(?:déjà |bien )?loué|(?:cette annonce|ce bien) n.est plus disponible|annonce expirée|(?:ya )?alquilado|ya no (?:está )?disponible|anuncio desactivado',
    '(?:già )?affittato|non (?:è )?più disponibile|verhuurd(?: onder voorbehoud)?|niet meer beschikbaar|(?:já )?arrendado|já não (?:está )?disponível',
    'uthyrd|utleid|udlejet|wynajęte|(?:ogłoszenie )?nieaktualne|pronajato',
  ].join('|')})[.!]?$`,
  'i',
);

/** The places of the only listing of a mail grow up to the whole mail, which may say it of another flat. */
function isWithdrawn({ links, places, isBefore }: Card, texts: readonly string[]): boolean {
  const withRent = [...places.keys()].filter((index) => rentIn([texts[index] ?? '']) !== undefined);
  // A price that is a link has a place of its own.
  const hasLinks = (index: number) => links.every(({ at, end }) => at >= (places[index]?.at ?? 0) && end <= (places[index]?.end ?? 0));
  // The lines above a link of a text are those of one flat where they have one price.
  const above = isBefore ? (texts[places.length] ?? '').split('\n') : [];
  const lines = withRent.length > 0 ? (texts[withRent.find(hasLinks) ?? withRent[0] ?? -1] ?? '').split('\n') : above;
  return (withRent.length > 0 || above.filter(hasPrice).length === 1) && lines.some((line) => isGone.test(line));
}

function gradeOf({ images, text }: MailDocument, { at, end }: Span): string | undefined {
  const within = images.filter((image) => image.at >= at && image.at <= end && isOfBer(`${image.source} ${image.description}`));
  const names = within.flatMap(({ source, description }) => [source.replace(/\?.*/s, '').split('/').at(-1) ?? '', description]);
  const inText = gradeInText.exec(factsOf(text.slice(at, Math.min(end, at + mostRead))))?.[1];
  return firstOf([...names.map((name) => gradeInName.exec(name)?.[1]), inText], (grade) => (grade === undefined ? undefined : readGrade(grade)));
}
