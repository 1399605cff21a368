// The names of a byline: "by Jane Doe and John Roe". Pure.

const word = String.raw`(?:(?:\p{Lu}\.-?)+|(?:Jr|Sr|St|Dr|Prof|Mrs?|Ms)\.|\p{Lu}[\p{L}\p{M}'’-]*|\p{Lo}[\p{L}\p{M}]*)`;
const particle = String.raw`(?:de|da|do|dos|das|del|della|der|den|di|du|la|le|van|von|zu|zur|bin|ibn|al|el|ter|ten|af|av)`;
const fullName = String.raw`${word}(?:\s+(?:${particle}\s+){0,2}${word}){1,4}`;
/** Begins what follows a comma and names no further author: "Jane Doe, Senior Editor", "Jane Doe, New York". */
const otherThanName = String.raw`(?:New|San|Los|Las|North|South|East|West|Saint|The)\s|[^,]*\b(?:Editors?|Reporters?|Correspondent|Writers?|Staff|Columnist|Contributor|Founder|Director|Professor|Manager|Engineer|Chief|President|Officer|University|College|Institute|Times|Post|News|Journal|Magazine|Review|Press|Street|Inc|Ltd)\b`;
const list = (name: string) =>
  String.raw`(${name}(?:(?:,\s+${name})*,?\s+(?:and|&|und|et|y|e|en)\s+${name}|(?:,\s+(?!${otherThanName})${name})+(?=\s*(?:$|[·•|–—(])))?)`;
const verb = String.raw`(?:(?:[Ww]ritten|[Pp]osted|[Pp]ublished|[Ww]ords|[Ss]tory|[Ee]ssay|[Tt]ext|[Aa]rticle|[Rr]eview(?:ed)?|[Rr]eported|[Ii]nterview)\s+)?`;
const begins = String.raw`(?:^[,;(]?\s*|[·•|–—:(-]\s*)${verb}`;
const sentence = String.raw`[.!?…]['"’”)]*\s+`;
const ends = String.raw`(?=\s*(?:$|[·•|–—()[\]/:-]|[,.](?:\s|$)|\s(?:in|on|for|at|from|via|with)\s))`;

// "By the numbers" and "By Monday, …" are none: a single word is a name where nothing but a separator follows it.
const english = new RegExp(String.raw`${begins}[Bb][Yy]:?\s+(?:${list(fullName)}${ends}|(${word})\s*(?=$|[·•|–—)]))`, 'u');
const others = new RegExp(String.raw`^(?:[Vv]on|[Pp]ar|[Pp]or|[Dd]i|[Dd]oor|[Aa]v|[Aa]f)\s+${list(fullName)}\s*(?=$|[·•|–—(])`, 'u');

const afterSentence = new RegExp(String.raw`(?<=${sentence})${verb}[Bb][Yy]\s+${list(fullName)}${ends}`, 'u');

/** @returns the names, in order; empty where the line has no byline */
export function namesIn(line: string): readonly string[] {
  // The patterns are tried at each character, and few lines contain the word.
  const hasBy = /by/i.test(line);
  const [, some, one] = (hasBy ? english.exec(line) : null) ?? others.exec(line) ?? (hasBy ? afterSentence.exec(line) : null) ?? [];
  const names = some ?? one;
  return names === undefined ? [] : names.split(/,?\s+(?:and|&|und|et|y|e|en)\s+|,\s+/u);
}

/** The text before the byline that ends a line; empty where the line begins with it. */
export const beforeByline = (line: string): string => line.slice(0, afterSentence.exec(line)?.index ?? 0).trim();
