// Numbers, ages and texts as the tables of commands show them.

/** 1 234 567, with spaces that a shell can copy. */
export const numberText = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ' ');

const units = [
  { seconds: 86_400, name: 'd' },
  { seconds: 3600, name: 'h' },
  { seconds: 60, name: 'min' },
];

/** In the largest unit that there are two of. */
export function ageText(seconds: number): string {
  const unit = units.find((one) => seconds >= 2 * one.seconds);
  return unit ? `${Math.floor(seconds / unit.seconds)} ${unit.name}` : `${Math.floor(seconds)} s`;
}

/** Lines of at most `width` characters, broken between words. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
