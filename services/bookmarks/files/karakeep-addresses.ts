// Karakeep's own files have addresses that are percent-encoded once more than those that were saved: https://a.example/%25C3%25A9.
import type { Attributes, Handlers } from './netscape-tags.ts';

/** The lines above the first bookmark of a file are shorter. */
const headLength = 2000;

/** @returns handlers that pass on the addresses that were saved */
export function withAddressesOfKarakeep({ tag, text, ...others }: Handlers): Handlers {
  /** The text before the first bookmark or folder. */
  let head: string | undefined = '';
  let isKarakeep = false;
  return {
    ...others,
    tag(name, attributes) {
      if (head !== undefined && name === 'a') isKarakeep = hasItsForm(head, attributes);
      if (name === 'a' || name === 'h3') head = undefined;
      tag(name, isKarakeep ? encodedOnce(attributes) : attributes);
    },
    text(part) {
      if (head !== undefined && head.length < headLength) head += part;
      text(part);
    },
  };
}

/** Its files have no folders, and tell dates and tags alone; our own have no comment at the top. */
const hasItsForm = (head: string, attributes: Attributes): boolean =>
  /overwritten\.\s+DO NOT EDIT! -->/.test(head) && head.endsWith('    ') && Object.keys(attributes).every((name) => /^(?:href|add_date|tags)$/.test(name));

function encodedOnce(attributes: Attributes): Attributes {
  const { href = '' } = attributes;
  return /%(?!25)/.test(href) ? attributes : { ...attributes, href: href.replaceAll('%25', '%') };
}
