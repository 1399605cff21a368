// Characters that show nothing, or turn the direction of others: names of people hold none but those that their writing needs.

/** Where a joiner (U+200C, U+200D) or a variation selector is part of the spelling; anywhere else it would make two names of one look. */
const needed = [
  // The scripts of India: after a mark of their own, such as a virama.
  /(?<=[\p{M}--\p{Script=Inherited}])[\u200c\u200d]/v,
  // The Arabic script: between two letters.
  /(?<=\p{Script=Arabic})[\u200c\u200d](?=\p{Script=Arabic})/v,
  // Emoji that are made of several.
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})/v,
  // Emoji in colour or as a sign of text, ideographs with several forms, letters of Mongolian.
  /(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]/v,
  /(?<=\p{Script=Han})[\u{e0100}-\u{e01ef}]/v,
  /(?<=\p{Script=Mongolian})[\u180b-\u180d\u180f]/v,
];
/** Outside the category of control and format characters: fillers of Hangul, the grapheme joiner, the empty sign of Braille. */
const hidden = new RegExp(`(${needed.map(({ source }) => source).join('|')})|[\\p{C}\\p{Default_Ignorable_Code_Point}\\u2800]+`, 'gv');

/** The text with a space in their place. */
export const withoutHidden = (text: string): string => text.replaceAll(hidden, (_, joiner?: string) => joiner ?? ' ');

export const hasHidden = (text: string): boolean => withoutHidden(text) !== text;
