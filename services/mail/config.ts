// Settings of the mailbox worker: the mailbox that it follows, the port on which it receives mails, and the services that take them.
import { type Environment, InvalidSetting, readSettings, type Setting, type Values } from '../platform/config/config.ts';
import { type Target, targets } from './ingest.ts';
import { integer, optional, secret, secretList, secretUrl, text, url } from '../platform/config/settings.ts';

/** Mails of a folder, or for a recipient, and the service that takes them. */
export type Route = { readonly from: string; readonly target: Target };

function parseRoute(entry: string): Route {
  const at = entry.lastIndexOf('=');
  const from = entry.slice(0, Math.max(at, 0)).trim();
  const target = targets.find(
    (one) =>
      one ===
      entry
        .slice(at + 1)
        .trim()
        .toLowerCase(),
  );
  if (from !== '' && target !== undefined) return { from, target };
  throw new InvalidSetting(`must hold entries such as Newsletters=digest; each ends in ${targets.map((one) => `=${one}`).join(' or ')}`);
}

const routes = (name: string, summary: string): Setting<readonly Route[]> => ({
  name,
  summary,
  shape: 'comma-separated list of `NAME=digest` and `NAME=listings`',
  isSecret: false,
  parse: (value) =>
    value
      .split(',')
      .filter((entry) => entry.trim() !== '')
      .map(parseRoute),
  fallback: { value: [] },
});

export const settings = {
  mailboxUrl: optional(
    secretUrl('Mailbox__Url', ['imap', 'imaps'], {
      summary: 'The mailbox to follow, with user and password, percent-encoded: `imaps://ann%40example.org:password@imap.example.org`',
    }),
  ),
  mailboxPassword: optional(secret('Mailbox__Password', { summary: 'The password of the mailbox, if it is not in `Mailbox__Url`' })),
  folders: routes('Mailbox__Folders', 'Folders to follow, and the service that takes their mails: `Newsletters=digest,INBOX/Homes=listings`'),
  moveTo: optional(
    text('Mailbox__MoveTo', { summary: 'Folder that mails are moved to once they are taken; default: they stay, with the keyword `$signalbox`' }),
  ),
  sinceDays: integer('Mailbox__SinceDays', { summary: 'Days back that mails are taken; older ones stay untouched', min: 1, max: 36_500, default: 30 }),
  listen: optional(
    url('Smtp__Listen', ['smtp', 'smtps', 'lmtp'], {
      summary: 'Where mails are received: `smtp://*:2525`, `lmtp://127.0.0.1:2424`; smtps expects TLS from the first byte',
    }),
  ),
  recipients: routes('Smtp__Recipients', 'Recipients, and the service that takes their mails: `news@in.example.org=digest,*@homes.example.org=listings`'),
  certificateFile: optional(text('Smtp__CertificateFile', { summary: 'PEM file with the certificate chain for TLS; read again when it changes' })),
  keyFile: optional(text('Smtp__KeyFile', { summary: 'PEM file with the private key of that certificate' })),
  maxConnections: integer('Smtp__MaxConnections', {
    summary: 'Connections at once, half of them from one address; further ones are asked to come later',
    min: 1,
    max: 10_000,
    default: 50,
  }),
  maxMailBytes: integer('Mail__MaxBytes', {
    summary: 'The largest mail; the services have limits of their own',
    min: 1024,
    max: 104_857_600,
    default: 10_485_760,
  }),
  digestUrl: optional(url('Mail__DigestUrl', ['http', 'https'], { summary: 'Address of the link digest' })),
  digestTokens: optional(secretList('Ingest__Token', { summary: 'Token of the link digest; of a list the first is sent' })),
  listingsUrl: optional(url('Mail__ListingsUrl', ['http', 'https'], { summary: 'Address of the listing triage' })),
  listingsTokens: optional(secretList('Listings__AccessTokens', { summary: 'Token of the listing triage; of a list the first is sent' })),
};

export type MailConfig = Values<typeof settings>;

function* faultsOf(config: MailConfig): Generator<string> {
  const { mailboxUrl, folders, listen, recipients, certificateFile, keyFile } = config;
  if (mailboxUrl === undefined && listen === undefined) yield 'Mailbox__Url or Smtp__Listen is required, and neither is set';
  if (mailboxUrl !== undefined && folders.length === 0) yield 'Mailbox__Folders is required with Mailbox__Url, and not set';
  if (listen !== undefined && recipients.length === 0) yield 'Smtp__Recipients is required with Smtp__Listen, and not set';
  if ((certificateFile === undefined) !== (keyFile === undefined)) yield 'Smtp__CertificateFile and Smtp__KeyFile are set together, or not at all';
  if (listen !== undefined && new URL(listen).protocol === 'smtps:' && certificateFile === undefined) yield 'Smtp__CertificateFile is required for smtps';
  if (mailboxUrl !== undefined && new URL(mailboxUrl.reveal()).username === '') yield 'Mailbox__Url must have a user before its host';
  const used = new Set([...folders, ...recipients].map(({ target }) => target));
  if (used.has('digest') && config.digestUrl === undefined) yield 'Mail__DigestUrl is required for mails that go to the digest';
  if (used.has('digest') && config.digestTokens === undefined) yield 'Ingest__Token is required for mails that go to the digest';
  if (used.has('listings') && config.listingsUrl === undefined) yield 'Mail__ListingsUrl is required for mails that go to listings';
  if (used.has('listings') && config.listingsTokens === undefined) yield 'Listings__AccessTokens is required for mails that go to listings';
}

/** @throws ConfigError with every fault */
export const readConfig = (environment: Environment): MailConfig => readSettings(environment, settings, (config) => [...faultsOf(config)]);
