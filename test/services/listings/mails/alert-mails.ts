// Alert mails for tests, made of their parts, and whole ones as mail programs leave them (fixtures/).
import { readFile } from 'node:fs/promises';

export type MailParts = {
  readonly html?: string;
  readonly text?: string;
  /** null leaves a header out. */
  readonly headers?: Readonly<Record<string, string | null>>;
};

let count = 0;

export const linkTo = (id: number | string, slug = 'apartment-12-the-elms-dublin-4') => `https://www.daft.ie/for-rent/${slug}/${id}`;

/** A mail of an HTML part, a text part or both; without either, one about a listing with all that is needed. */
export function alertMail({ html, text, headers = {} }: MailParts = {}): Buffer {
  const all = {
    From: 'Daft.ie <alerts@daft.ie>',
    To: 'me@example.org',
    Subject: 'New rental',
    Date: 'Sun, 15 Mar 2026 12:00:00 +0000',
    'Message-ID': `<alert-${(count += 1)}@daft.ie>`,
    ...headers,
  };
  const head = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
  const parts = [
    ...(text === undefined ? [] : [`Content-Type: text/plain; charset=utf-8\r\n\r\n${text}`]),
    ...(html === undefined && text !== undefined ? [] : [`Content-Type: text/html; charset=utf-8\r\n\r\n${html ?? card()}`]),
  ];
  const body = `--part\r\n${parts.join('\r\n--part\r\n')}\r\n--part--\r\n`;
  return Buffer.from(`${head.join('\r\n')}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=part\r\n\r\n${body}`);
}

type Card = { readonly id?: number | string; readonly link?: string; readonly address?: string; readonly price?: string; readonly facts?: string };

/** A listing in a mail's HTML. */
export const card = ({ id = 5551234, link = linkTo(id), address = 'Apartment 12, The Elms, Dublin 4, D04 X285', price, facts }: Card = {}) =>
  `<div><a href="${link}"><img src="https://media.daft.ie/photos/${id}.jpg"></a>` +
  `<p class="property-address">${address}</p><p>${price ?? '€1,850 per month'}</p><p>${facts ?? '2 Bed · 1 Bath · Apartment'}</p></div>`;

export const fixture = (name: string): Promise<Buffer> => readFile(new URL(`fixtures/${name}`, import.meta.url));
