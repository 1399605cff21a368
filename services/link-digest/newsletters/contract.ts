// Schemas of newsletters: their lists, one with its links, and the mail itself.
import { z } from 'zod';
import { Count, Id } from '../../platform/schema.ts';
import { LinkCount, LinkOfList, NewsletterTitle, ReceivedDate, said, saidOrNull } from '../contract.ts';

/** A refused mail is not read: its `title` and `destinationEmail` are null. */
export const NewsletterItem = z
  .object({
    id: Id('The id of the newsletter or refused mail'),
    title: NewsletterTitle,
    receivedDate: ReceivedDate,
    destinationEmail: saidOrNull('The first address of the To header, or null'),
    linkCount: LinkCount,
    reason: said('Why the mail was refused; absent in newsletters').optional(),
  })
  .meta({
    id: 'NewsletterItem',
    description: 'A newsletter, or a refused mail, whose `title` and `destinationEmail` are null',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        title: 'Database weekly, no. 312',
        receivedDate: '2026-03-15T12:00:00.000Z',
        destinationEmail: 'reader@example.test',
        linkCount: 15,
      },
    ],
  });
export type NewsletterItem = z.output<typeof NewsletterItem>;
export const NewsletterDetail = NewsletterItem.omit({ reason: true })
  .extend({ links: z.array(LinkOfList).meta({ description: 'The links in the order of the mail' }) })
  .meta({
    id: 'NewsletterDetail',
    description: 'A newsletter with its links',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        title: 'Database weekly, no. 312',
        receivedDate: '2026-03-15T12:00:00.000Z',
        destinationEmail: 'reader@example.test',
        linkCount: 1,
        links: [
          {
            id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
            url: 'https://blog.example/postgres-partitions',
            title: 'Partitions without downtime',
            status: 'Awaiting',
          },
        ],
      },
    ],
  });

const Mailbox = z
  .object({ name: said('The name of the person or list; may be empty'), address: said('The mail address; may be empty') })
  .meta({ id: 'Mailbox', description: 'A sender or recipient of a mail', examples: [{ name: 'Database weekly', address: 'weekly@news.example' }] });
export const MailView = z
  .object({
    id: Id('The id of the newsletter'),
    title: NewsletterTitle,
    receivedDate: ReceivedDate,
    from: Mailbox.nullable().meta({ description: 'The sender of the From header, or null' }),
    to: z.array(Mailbox).meta({ description: 'The recipients of the To header' }),
    text: saidOrNull('The text part, as it was written; null where the mail has none. It is text, not HTML'),
    html: saidOrNull('The HTML part without anything that runs, submits or fetches; null where the mail has none'),
    remoteImages: Count.meta({
      description: 'How many images with https addresses are on other hosts, pixels not counted; they are left out unless `images=true`',
    }),
  })
  .meta({
    id: 'MailView',
    description: 'The mail of a newsletter, for people to read',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        title: 'Database weekly, no. 312',
        receivedDate: '2026-03-15T12:00:00.000Z',
        from: { name: 'Database weekly', address: 'weekly@news.example' },
        to: [{ name: '', address: 'reader@example.test' }],
        text: 'Partitions without downtime: https://blog.example/postgres-partitions',
        html: '<p><a href="https://blog.example/postgres-partitions" rel="noreferrer noopener nofollow" target="_blank">Partitions without downtime</a></p>',
        remoteImages: 0,
      },
    ],
  });
