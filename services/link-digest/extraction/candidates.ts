// What stands in a mail for one link: an anchor of its HTML, or a URL of its text. The same link may stand there several times.

export type Candidate = {
  readonly foundUrl: string;
  /** Its own text, empty for an image; of a URL in a text what a reader takes for its title. */
  readonly text: string;
  /** Whether it is a URL in a text. */
  readonly isBare: boolean;
  /** Whether that is a heading, or within one. */
  readonly isHeading: boolean;
  /** The heading that is nearest to it; empty where there is none. */
  readonly heading: string;
  /** The line in which it stands: read only for one whose text says nothing. */
  readonly line: () => string;
  /** Of the byline that follows: looked for until one candidate of a link has some. */
  readonly names: () => readonly string[];
  /** In a class, or within an element of a class, that is dropped. */
  readonly isDropped: boolean;
};
