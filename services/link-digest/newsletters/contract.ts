// Schemas of newsletters: their lists, and one with its links.
import { z } from 'zod';
import { Id, LinkCount, LinkOfList, NewsletterTitle, ReceivedDate, said, saidOrNull } from '../contract.ts';

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
