// Templates of a SyncedSecret: text with `{{ secret NAME }}` and `{{ configuration KEY }}`, and nothing else between double braces.

export type Placeholder = { readonly kind: 'secret' | 'configuration'; readonly name: string };
type Part = string | Placeholder;

export class TemplateError extends Error {}

const braces = /\{\{(?:(?!\}\}).)*(?:\}\}|$)/gmsu;
const placeholder = /^\{\{\s*(secret|configuration)\s+([^{}\s](?:[^{}]*[^{}\s])?)\s*\}\}$/u;

/** @throws TemplateError naming the line */
export function parseTemplate(text: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(braces)) {
    const [, kind, name] = placeholder.exec(found) ?? [];
    if (name === undefined || (kind !== 'secret' && kind !== 'configuration')) {
      const line = text.slice(0, index).split('\n').length;
      throw new TemplateError(`line ${line}: between {{ and }} stands \`secret NAME\` or \`configuration KEY\``);
    }
    parts.push(text.slice(end, index), { kind, name });
    end = index + found.length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== '');
}

export const placeholdersOf = (parts: readonly Part[]): Placeholder[] => parts.filter((part) => typeof part !== 'string');

export const fill = (parts: readonly Part[], value: (place: Placeholder) => string): string =>
  parts.map((part) => (typeof part === 'string' ? part : value(part))).join('');
