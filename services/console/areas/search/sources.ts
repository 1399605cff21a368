// Where the search looks: for each area the question to its service, and a line for each thing found.
import { z } from 'zod';
import { h, type ComponentChildren } from '../../view/elements.ts';
import { Bookmark } from '../../../bookmarks/contract.ts';
import { LinkItem } from '../../../link-digest/contract.ts';
import { PropertyPage, statuses } from '../../../listings/contract.ts';
import { EventPage } from '../../../webhook-intake/contract.ts';
import { ApplicationSummaries } from '../../../secrets/overview/contract.ts';
import type { Area, ServiceName } from '../../contract.ts';
import type { Asked } from '../../upstream/client.ts';
import { pathOf } from '../../upstream/client.ts';
import { rowLink } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { withQuery } from '../../view/pager.ts';
import { dotted, externalLink, externalRowLink, hostOf, time } from '../../view/texts.ts';

export type Found = { readonly id: string; readonly content: ComponentChildren };
export type Source = {
  readonly area: Area;
  readonly service: ServiceName;
  /** The list of the area with the same search. */
  readonly all: (q: string) => string;
  readonly ask: (asked: Asked, q: string, locale: Locale) => Promise<readonly Found[]>;
};

/** The most lines of an area. */
const most = 6;

const lines = (head: ComponentChildren, second: ComponentChildren) => h('div', { class: 'text' }, head, second);

const events: Source = {
  area: 'events',
  service: 'intake',
  all: (q) => withQuery('/events', { q }),
  async ask(intake, q, locale) {
    const { items } = await intake.get('/api/v1/events', EventPage, { q, limit: most });
    return items.map(({ id, title, event, action, repository, sender, receivedAt }) => ({
      id,
      content: lines(
        rowLink(pathOf`/events/${id}`, title ?? [event, action].filter(Boolean).join(' · ')),
        dotted(event, repository, sender, time(locale, receivedAt)),
      ),
    }));
  },
};

const LinkPage = z.object({ data: z.array(LinkItem) });
const links: Source = {
  area: 'links',
  service: 'digest',
  all: (q) => withQuery('/links', { search: q }),
  async ask(digest, q, locale) {
    const { data } = await digest.get('/api/links', LinkPage, { search: q, per_page: most });
    return data.map(({ id, title, url, authorNames, firstSeen }) => ({
      id,
      content: lines(rowLink(pathOf`/links/${id}`, title), dotted(externalLink(url, hostOf(url)), locale.format.list(authorNames), time(locale, firstSeen))),
    }));
  },
};

const listings: Source = {
  area: 'listings',
  service: 'listings',
  all: (q) => withQuery('/listings', { search: q }),
  async ask(service, q, locale) {
    const ofStatus = (status: string) => service.get('/api/properties', PropertyPage, { status, search: q, pageSize: most, total: false });
    const pages = await Promise.all(statuses.map(ofStatus));
    const items = pages.flatMap((one) => one.items);
    return items.slice(0, most).map(({ id, address, priceMonthly, currency, routingKey }) => ({
      id,
      content: lines(rowLink(pathOf`/listings/${id}`, address), dotted(locale.format.money(priceMonthly, currency), routingKey)),
    }));
  },
};

const bookmarks: Source = {
  area: 'bookmarks',
  service: 'bookmarks',
  all: (q) => withQuery('/bookmarks', { q }),
  async ask(service, q, locale) {
    const items = await service.get('/api/bookmarks', z.array(Bookmark), { q, limit: most });
    return items.map(({ id, title, url, tags }) => ({
      id,
      content: lines(externalRowLink(url, title), dotted(hostOf(url), locale.format.list(tags))),
    }));
  },
};

const applications: Source = {
  area: 'secrets',
  service: 'secrets',
  all: (q) => withQuery('/secrets', { q }),
  async ask(service, q) {
    const { items } = await service.get('/api/management/application-summaries', ApplicationSummaries, { q, limit: most });
    return items.map(({ slug, name, description }) => ({ id: slug, content: lines(rowLink(pathOf`/secrets/${slug}`, name), dotted(description)) }));
  },
};

export const sources: readonly Source[] = [events, links, listings, bookmarks, applications];
