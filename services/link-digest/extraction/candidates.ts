// A candidate is an anchor in a mail's HTML, or a URL in its text. Several candidates may be the same link.

export type Candidate = {
  readonly foundUrl: string;
  /** The anchor's text, empty for an image; for a URL in a text, the text that titles it. */
  readonly text: string;
  /** The description of its image; empty where it has none. */
  readonly alt: string;
  /** Whether it is a URL in a text rather than an anchor with words. */
  readonly isBare: boolean;
  /** Whether it is a small image, and no more. */
  readonly isIcon: boolean;
  /** Whether the text is a heading, or within one. */
  readonly isHeading: boolean;
  /** The nearest heading; empty where there is none. */
  readonly heading: string;
  /** The address of the link that this heading is, where it is one. */
  readonly headingUrl: string | undefined;
  /** The line around it; read only where its own text is generic. */
  readonly line: () => string;
  /** The names of its byline; read until one candidate of a link has some. */
  readonly names: () => readonly string[];
  /** Whether it, or an element around it, has a class that is dropped, or no reader sees it. */
  readonly isDropped: boolean;
};
