// Characters that show nothing, or turn the direction of others: names of people hold none but those that their writing needs.

/** Where the joiners U+200C and U+200D are part of the spelling; anywhere else they would make two names of one look. */
const needed = [
  // The scripts of India: after a mark of their own, such as a virama.
  /(?<=[\p{M}--\p{Script=Inherited}])[\u200c\u200d]/v,
  // The Arabic script: between two letters.
  /(?<=\p{Script=Arabic})[\u200c\u200d](?=\p{Script=Arabic})/v,
  // Emoji that are made of several.
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})/v,
];
const hidden = new RegExp(`(${needed.map(({ source }) => source).join('|')})|\\p{C}+`, 'gv');

/** The text with a space in their place. */
export const withoutHidden = (text: string): string => text.replaceAll(hidden, (_, joiner?: string) => joiner ?? ' ');

export const hasHidden = (text: string): boolean => withoutHidden(text) !== text;
