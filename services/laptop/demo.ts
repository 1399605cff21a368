// `signalbox demo`: fills a running Signalbox with examples: signed deliveries, one of which it follows to the dashboard API, newsletters with ranked links, bookmarks, listings, and secrets of two applications; and leaves an operator something to find.
import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Environment, settingText } from '../platform/config/config.ts';
import { parseCredentials, readAddresses } from './data-folder.ts';
import { type Ask, createAsk } from './demo-ask.ts';
import { bookmarksFile, deliveries, listings, newsletters } from './demo-content.ts';
import { vaulted } from './demo-secrets.ts';
import { givenUp, refused } from './demo-trouble.ts';
import { portOf, usualPortBase } from './up.ts';

const Accepted = z.object({ id: z.string(), priority: z.object({ finalScore: z.number(), description: z.string() }) });
const Events = z.object({
  items: z.array(z.looseObject({ id: z.string(), deliveryId: z.string(), event: z.string(), action: z.string().nullable(), score: z.number() })),
});

const Bookmark = z.object({ id: z.string(), title: z.string() });

const Listings = z.object({ items: z.array(z.object({ id: z.string(), sourceId: z.string(), address: z.string(), priceMonthly: z.number() })) });

const RankedLinks = z.object({ data: z.array(z.object({ id: z.string(), url: z.string(), title: z.string(), priorityScore: z.number() })) });

const shownWithinMs = 10_000;

/** @throws Error in plain words when nothing runs, or the event does not appear */
export async function demo(options: { environment: Environment; data: string; portBase?: number; print: (text: string) => void }): Promise<void> {
  const { environment, data, portBase, print } = options;
  const show = (service: string, status: number, [first, ...others]: readonly string[]) =>
    print([`${service.padEnd(9)}  ${status}  ${first ?? ''}`, ...others.map((line) => `${' '.repeat(11)}${line}`), ''].join('\n'));
  const credentials = await readCredentials(join(data, 'credentials.env'), environment);
  const addresses = portBase === undefined ? await readAddresses(data) : {};
  const urlOf = (service: string, setting: string) => addresses[setting] ?? `http://127.0.0.1:${portOf(service, portBase ?? usualPortBase)}`;
  const relay = urlOf('webhook-relay', 'Console__RelayUrl');
  const headers = { Authorization: `token ${credentials('Intake__AccessTokens')}` };
  const intake = createAsk({ name: 'intake', url: urlOf('webhook-intake', 'Console__IntakeUrl'), headers });

  const secret = credentials('Forge__WebhookSecrets');
  for (const { event, payload } of deliveries) await deliver(relay, secret, { event, payload, deliveryId: randomUUID() });
  const deliveryId = randomUUID();
  const example = z.looseObject({}).parse(JSON.parse(await readFile(new URL('example-delivery.json', import.meta.url), 'utf8')));
  const begun = performance.now();
  const accepted = await deliver(relay, secret, { event: 'issues', payload: example, deliveryId });
  show('relay', 202, [accepted.id, `delivery ${deliveryId}, score ${accepted.priority.finalScore}: ${accepted.priority.description}`]);

  const event = await shown(intake, deliveryId);
  const ms = Math.round(performance.now() - begun);
  show('intake', 200, [`/api/v1/events/${event.id}`, `${event.event} ${event.action ?? ''}, score ${event.score}, shown after ${ms} ms`]);

  show('relay', await refused(relay), ['a delivery with a wrong signature, as the console shows it: /system/rejected']);
  const reasons = await givenUp({ environment, data, intake });
  if (reasons.length > 0) show('intake', 200, ['messages that the workers gave up: /system/dead-letters', ...reasons]);

  const keys = { ingestToken: credentials('Ingest__Token'), password: credentials('Digest__AdminPassword') };
  const links = await ranked(urlOf('link-digest', 'Console__DigestUrl'), keys);
  if ('retryAfter' in links) show('digest', 429, [`too many logins: its links can be read again in ${links.retryAfter} s`]);
  else show('digest', 202, ['two newsletters, their links ranked:', ...links.map(({ priorityScore, title }) => `${priorityScore.toFixed(2)}  ${title}`)]);

  const bookmark = await bookmarked(urlOf('bookmarks', 'Console__BookmarksUrl'), credentials('Bookmarks__ApiKeys'));
  show('bookmarks', 200, [`/api/bookmarks/${bookmark.id}`, `"${bookmark.title}", found by "terlock"`]);

  const listing = await triaged(urlOf('listings', 'Console__ListingsUrl'), credentials('Listings__AccessTokens'));
  show('listings', 200, [`/api/properties/${listing.id}`, `"${listing.address}", found by "exampl", ${listing.priceMonthly} a month`]);

  show('secrets', 200, await vaulted(urlOf('secrets', 'Console__SecretsUrl'), credentials('Management__AdminApiKey')));
}

/** The same newsletters each time, so that there is one of each. @returns their links, as they are ranked, or when the next login is allowed */
async function ranked(service: string, { ingestToken, password }: { ingestToken: string; password: string }) {
  const ask = createAsk({ name: 'link digest', url: `${service}/api` });
  const mail = { 'Content-Type': 'message/rfc822', 'X-Ingest-Token': ingestToken };
  for (const body of newsletters) await ask('/ingest/email', { headers: mail, body });
  const login = await ask('/auth/login', { body: { username: 'admin', password }, also: [429] });
  if (login.status === 429) return { retryAfter: login.headers.get('Retry-After') };
  const { data } = z.object({ data: z.object({ token: z.string() }) }).parse(login.json());
  for (const deadline = Date.now() + shownWithinMs; Date.now() < deadline; await sleep(100)) {
    const answer = await ask('/links/prioritized', { headers: { Authorization: `Bearer ${data.token}` } });
    const own = RankedLinks.parse(answer.json()).data.filter(({ url }) => url.startsWith('https://example.org/signalbox/'));
    if (own.length > 0) return own;
  }
  throw new Error(`The newsletter did not appear within ${shownWithinMs / 1000} s; see the log`);
}

/** A bookmark that is there already is left as it is. @returns a bookmark, as the search answers it */
async function bookmarked(catalogue: string, key: string) {
  const ask = createAsk({ name: 'bookmark catalogue', url: `${catalogue}/api`, headers: { 'X-Api-Key': key } });
  await ask('/import', { body: bookmarksFile, headers: { 'Content-Type': 'text/html' } });
  const [bookmark] = z.array(Bookmark).parse((await ask('/bookmarks?q=terlock&limit=1')).json());
  if (!bookmark) throw new Error('The bookmark was not found; see the log');
  return bookmark;
}

/** The same listings each time, so that there is one of each. @returns one, as the search answers it */
async function triaged(service: string, token: string) {
  const ask = createAsk({ name: 'listing triage service', url: `${service}/api`, headers: { Authorization: `Bearer ${token}` } });
  for (const body of listings()) await ask('/ingest/properties', { body });
  // A user may have approved or recycled it since the first demo.
  const pages = ['inbox', 'approved', 'recycled'].map(async (status) => (await ask(`/properties?status=${status}&search=exampl&routingKeys=D02`)).json());
  const listing = (await Promise.all(pages)).flatMap((page) => Listings.parse(page).items).find(({ sourceId }) => sourceId === 'demo');
  if (!listing) throw new Error('The listing was not found; see the log');
  return listing;
}

async function readCredentials(file: string, environment: Environment): Promise<(name: string) => string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`${file} is not there: start Signalbox first (npm start), or give --data its folder`, { cause });
  });
  const values = parseCredentials(text, file);
  return (name) => (settingText(environment, name) ?? values[name] ?? '').split(',')[0] ?? '';
}

type Delivery = { readonly event: string; readonly payload: object; readonly deliveryId: string };

async function deliver(relay: string, secret: string, { event, payload, deliveryId }: Delivery) {
  // The intake takes an equal payload for the same delivery, sent again.
  const body = JSON.stringify({ ...payload, demo: deliveryId });
  const headers = {
    'Content-Type': 'application/json',
    'X-Forge-Event': event,
    'X-Forge-Delivery': deliveryId,
    'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  };
  return Accepted.parse((await createAsk({ name: 'relay', url: relay })('/Forge', { body, headers })).json());
}

async function shown(intake: Ask, deliveryId: string) {
  for (const deadline = Date.now() + shownWithinMs; Date.now() < deadline; await sleep(25)) {
    const event = Events.parse((await intake('/api/v1/events?limit=20')).json()).items.find((item) => item.deliveryId === deliveryId);
    if (event) return event;
  }
  throw new Error(`The event did not appear within ${shownWithinMs / 1000} s; see the log`);
}
