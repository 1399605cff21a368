// The surroundings of a page's content: who sees it, how, in which language, with which areas.
import type { Locale } from './locale.ts';

/** The seven areas in their order, each with its letter after `g`. */
export const areas = { now: 'n', events: 'e', links: 'l', listings: 'w', bookmarks: 'b', secrets: 's', system: 'y' } as const;
export type AreaName = keyof typeof areas;
export const pathOf = (area: AreaName) => (area === 'now' ? '/' : `/${area}`);

/** Choices of a person about every page; kept with the account. */
export const themes = ['auto', 'light', 'dark'] as const;
export const densities = ['airy', 'normal', 'dense'] as const;
export type Appearance = {
  readonly theme: (typeof themes)[number];
  readonly density: (typeof densities)[number];
  readonly hasKeys: boolean;
};

/** Where the browser finds the files of `assets/` and `client/`. */
export type AssetPaths = {
  readonly style: string;
  readonly script: string;
  readonly manifest: string;
  readonly icon: string;
  readonly touchIcon: string;
  /** The files of the map with tiles; `script` loads `library`. */
  readonly map: { readonly style: string; readonly script: string; readonly library: string };
};

export type Frame = {
  readonly locale: Locale;
  readonly appearance: Appearance;
  readonly assets: AssetPaths;
  /** The path and query of this page, to come back to after a change of theme or language. */
  readonly path: string;
  /** Undefined before a login: the page has no navigation then. */
  readonly person?: Person | undefined;
  /** The areas that the person may see, with how much waits in each. */
  readonly navigation?: readonly { readonly area: AreaName; readonly waiting?: number | undefined }[];
  /** A message that is shown once. */
  readonly notice?: Notice | undefined;
};

export type Person = {
  /** The undo list of a tab belongs to this person. */
  readonly id: string;
  readonly name: string;
  /** Whether the menu leads to the people of this console. */
  readonly isAdmin?: boolean;
};

export type Notice = {
  readonly message: string;
  readonly tone?: 'good' | 'bad';
  readonly undo?: Undo | undefined;
  readonly link?: NoticeLink | undefined;
  /** A form that could not be sent before: it waits for the person. */
  readonly again?: { readonly path: string; readonly fields: Readonly<Record<string, string | readonly string[]>> } | undefined;
};
/** The page where the outcome of an action is seen. */
export type NoticeLink = { readonly href: string; readonly label: string };
/** A form that takes a change back. */
export type Undo = { readonly path: string; readonly fields: Readonly<Record<string, string>> };
