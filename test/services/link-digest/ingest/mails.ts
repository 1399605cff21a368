// Mails for tests of the way in, and what sends them.
import { randomUUID } from 'node:crypto';
import { type Answer, call } from '../service.ts';

export const ingestToken = 'the ingest token of the tests';

type MailOptions = { readonly subject?: string; readonly links?: number; readonly id?: string };

/** A newsletter with so many links that no other has. */
export function newsletterMail({ subject = `Number ${randomUUID()}`, links = 2, id = randomUUID() }: MailOptions = {}): Buffer {
  const anchors = Array.from({ length: links }, (_, index) => `<p><a href="https://example.org/${id}/${index}?utm_source=n">Article ${index} of ${id}</a></p>`);
  const head = [
    `Message-ID: <${id}@example.org>`,
    'From: editor@example.org',
    'To: Reader <reader@example.org>',
    'Date: Sun, 15 Mar 2026 12:00:00 +0100',
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n<html><body>${anchors.join('\r\n')}</body></html>\r\n`);
}

export const post = (url: string, body: Uint8Array | string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  call(url, 'POST', '/api/ingest/email', { body, headers: { 'X-Ingest-Token': ingestToken, 'Content-Type': 'message/rfc822', ...headers } });
