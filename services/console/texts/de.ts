// The German catalogue.
import { access } from './de/access.ts';
import { actions } from './de/actions.ts';
import { bookmarks } from './de/bookmarks.ts';
import { events } from './de/events.ts';
import { faults } from './de/faults.ts';
import { links } from './de/links.ts';
import { listings } from './de/listings.ts';
import { me, record } from './de/me.ts';
import { now } from './de/now.ts';
import { search } from './de/search.ts';
import { secrets } from './de/secrets.ts';
import { system } from './de/system.ts';
import { users } from './de/users.ts';
import { view } from './de/view.ts';
import type { Texts } from './en.ts';

export const de: Texts = { access, actions, bookmarks, events, faults, links, listings, me, now, record, search, secrets, system, users, view };
