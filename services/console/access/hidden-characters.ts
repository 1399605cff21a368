// Characters that show nothing, or turn the direction of others: names of people hold none but those that their writing needs.

/**
 * The joiners U+200C and U+200D are part of how Persian and the languages of India are spelt, and of emoji that are made of several.
 * Anywhere else they would make two names of one look.
 */
const hidden =
  /(?:(?!(?<=[\p{M}--\p{Script=Inherited}])[\u200c\u200d]|(?<=[\p{Script=Arabic}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d](?=[\p{L}\p{Extended_Pictographic}]))\p{C})+/gv;

export const hasHidden = (text: string): boolean => text.search(hidden) >= 0;

/** The text with a space in their place. */
export const withoutHidden = (text: string): string => text.replaceAll(hidden, ' ');
