// The table of the event log, whose rows also come by the stream that lists follow.
import { senderClasses } from '../../../webhook-intake/contract.ts';
import { h, type VNode } from '../../view/elements.ts';
import { type Column, onlyIcon, rowLink } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { withQuery } from '../../view/pager.ts';
import { badge, dotted, time, type Tone } from '../../view/texts.ts';
import type { ShownEvent } from './event-filter.ts';

export const eventPath = (id: string) => `/events/${encodeURIComponent(id)}`;
export const tracePath = (deliveryId: string) => `/trace/${encodeURIComponent(deliveryId)}`;

/** A class of senders in the person's language; one of a newer intake as it is. */
export function senderClassIn({ t: { events } }: Locale, value: string): string {
  const known = senderClasses.find((one) => one === value);
  return known ? events.senderClasses[known] : value;
}

/** `issues · opened` */
export const kindOf = ({ event, action }: Pick<ShownEvent, 'event' | 'action'>) => [event, action].filter(Boolean).join(' · ');

/** Notifications begin with the repository, which has a column of its own. */
export const titleOf = ({ title, repository }: Pick<ShownEvent, 'title' | 'repository'>) =>
  title !== null && repository !== null && title.startsWith(`[${repository}] `) ? title.slice(repository.length + 3) : title;

/** The title without what the columns beside it say. */
function secondLine({ event, action, ...about }: Pick<ShownEvent, 'title' | 'repository' | 'event' | 'action'>): string {
  const title = titleOf(about) ?? '';
  const kind = [event, action].filter(Boolean).join(' ');
  return title.startsWith(kind) ? title.slice(kind.length).replace(/^:? /, '') : title;
}

const scoreTone = (score: number): Tone => (score >= 9 ? 'warn' : score >= 7 ? 'info' : 'plain');

export const scoreBadge = ({ format }: Locale, score: number): VNode => badge(scoreTone(score), format.number(score));

export function eventColumns(locale: Locale): readonly Column<ShownEvent>[] {
  const { events } = locale.t;
  return [
    {
      label: events.event,
      kind: 'main',
      cell: (event) => [rowLink(eventPath(event.id), kindOf(event)), secondLine(event) === '' ? null : h('div', { class: 'second' }, secondLine(event))],
    },
    {
      label: events.repository,
      cell: ({ repository }) => (repository === null ? null : h('a', { class: 'plain-link', href: withQuery('/events', { repository }) }, repository)),
    },
    { label: events.sender, cell: ({ sender }) => sender },
    { label: events.source, kind: 'minor', cell: ({ source, forge }) => forge ?? source },
    { label: events.score, kind: 'number', cell: ({ score }) => scoreBadge(locale, score) },
    { label: events.bytes, kind: 'number', cell: ({ bytes }) => locale.format.bytes(bytes) },
    { label: events.received, kind: 'number', cell: ({ receivedAt }) => time(locale, receivedAt) },
    {
      label: events.actions,
      kind: 'actions',
      cell: ({ deliveryId }) => copyButton(events.copyDeliveryId, deliveryId),
    },
  ];
}

const copyButton = (label: string, text: string): VNode =>
  h('button', {
    type: 'button',
    class: `plain ${onlyIcon('copy')}`,
    'data-copy-text': text,
    'data-key': 'y',
    'data-key-label': label,
    'aria-label': label,
    title: label,
  });

/** Where an event belongs, in a line. */
export const eventLine = (locale: Locale, { repository, sender, forge, source, receivedAt }: ShownEvent): VNode =>
  dotted(repository, sender, forge ?? source, time(locale, receivedAt));
