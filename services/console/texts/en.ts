// The English catalogue. Its type is what every other language has to have.
import { access } from './en/access.ts';
import { actions } from './en/actions.ts';
import { bookmarks } from './en/bookmarks.ts';
import { events } from './en/events.ts';
import { faults } from './en/faults.ts';
import { links } from './en/links.ts';
import { listings } from './en/listings.ts';
import { me, record } from './en/me.ts';
import { now } from './en/now.ts';
import { search } from './en/search.ts';
import { secrets } from './en/secrets.ts';
import { system } from './en/system.ts';
import { users } from './en/users.ts';
import { view } from './en/view.ts';

export const en = { access, actions, bookmarks, events, faults, links, listings, me, now, record, search, secrets, system, users, view };

export type Texts = typeof en;
