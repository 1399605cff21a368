// The German catalogue.
import { access } from './de/access.ts';
import { bookmarks } from './de/bookmarks.ts';
import { links } from './de/links.ts';
import { me, record } from './de/me.ts';
import { view } from './de/view.ts';
import type { Texts } from './en.ts';

export const de: Texts = { access, bookmarks, links, me, record, view };
