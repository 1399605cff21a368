// The forges whose webhooks are taken. A new one is a file beside this one and a line here.
import type { IncomingHttpHeaders } from 'node:http';
import { isObject, storable, textAt } from '../platform/json.ts';
import type { Forge, ForgeHeaders, ForgeWords } from './forge.ts';
import { forgejo, gitea } from './gitea.ts';
import { github } from './github.ts';

/** A later one sends the headers of those before it, too. */
export const forges: readonly Forge[] = [github, gitea, forgejo];

/** The one that sent these headers; GitHub where none tells. */
export const recognise = (headers: IncomingHttpHeaders): Forge =>
  forges.findLast(({ recognisedBy }) => recognisedBy.some((name) => headers[name] !== undefined)) ?? github;

const byKind = new Map(forges.map((forge) => [forge.kind, forge]));

/** GitHub for a kind that is none of them. */
export const forgeOfKind = (kind: string | undefined): Forge => byKind.get(kind ?? '') ?? github;

const namesOf = (header: keyof ForgeHeaders) => forges.flatMap(({ headers }) => headers[header]);

const names: ForgeHeaders = {
  event: namesOf('event'),
  eventType: namesOf('eventType'),
  deliveryId: namesOf('deliveryId'),
  hookId: namesOf('hookId'),
  targetId: namesOf('targetId'),
  targetType: namesOf('targetType'),
  host: namesOf('host'),
};

/** Every header that tells something of a delivery beside its payload. */
export const identifyingHeaders: readonly string[] = [...new Set(Object.values(names).flat())];

/** AMQP's `type` holds 255 bytes; the longest event name of a forge has 40. */
const maxEventLength = 100;
const maxIdLength = 255;

/** The forge of a delivery, and the members that its headers tell; empty where a header is missing. */
export function readIdentity(headers: IncomingHttpHeaders) {
  const first = (header: keyof ForgeHeaders, maxLength: number) => {
    const name = names[header].find((name) => headers[name]);
    return name === undefined ? '' : String(headers[name]).slice(0, maxLength);
  };
  return {
    forge: recognise(headers),
    event: first('event', maxEventLength),
    eventType: first('eventType', maxEventLength),
    deliveryId: first('deliveryId', maxIdLength),
    hookId: first('hookId', maxIdLength),
    targetId: first('targetId', maxIdLength),
    targetType: first('targetType', maxIdLength),
    host: first('host', maxIdLength),
  };
}

/** The payload in GitHub's form; one that is no object stays as it is. @param event GitHub's word for it */
export const inGithubForm = (forge: Forge, event: string, payload: unknown): unknown =>
  forge.payloadOf && isObject(payload) ? forge.payloadOf(event, payload) : payload;

/** The event in GitHub's word, `unknown` where no header names one, and the payload in GitHub's form. */
export function translate(forge: Forge, { event, eventType }: Pick<ForgeWords, 'event' | 'eventType'>, payload: unknown) {
  const githubEvent = (forge.eventOf ? forge.eventOf({ event, eventType, action: textAt(payload, 'action') ?? '' }) : event) || 'unknown';
  return { event: githubEvent, payload: inGithubForm(forge, githubEvent, payload) };
}

/** Longer names cost a glob and an index more than they may; those of forges have at most 140 characters. */
const maxRepositoryLength = 200;

/** `owner/name` of the repository that a payload names, cut at 200 characters. */
export function repositoryOf(payload: unknown): string | undefined {
  const name = textAt(payload, 'repository', 'full_name');
  return name === undefined ? undefined : storable(name.slice(0, maxRepositoryLength));
}

/** Places of the repository: Forgejo's runs have it within. */
const repositories = [['repository'], ['run', 'repository']];
/** Other objects whose page is on the forge, the most telling first. */
const pages = [['organization'], ['installation', 'account'], ['account'], ['enterprise'], ['sender']];

/**
 * The forge as one among several of its kind, each of which counts its ids from 1: the host of the repository's page, else of the header,
 * else of another page that the payload names, else the kind.
 * @param host the value of X-GitHub-Enterprise-Host
 */
export function forgeIdOf(forge: Forge, payload: unknown, host?: string): string {
  const hosts = (paths: readonly string[][]) => paths.map((path) => hostOf(textAt(payload, ...path, 'html_url')));
  const repository = hosts(repositories).find((found) => found !== undefined);
  const given = host === '' ? undefined : host?.toLowerCase();
  return repository ?? given ?? hosts(pages).find((found) => found !== undefined) ?? forge.kind;
}

/** DNS allows 253 characters, and a port may follow. */
const maxHostLength = 260;

function hostOf(url: string | undefined): string | undefined {
  const host = url === undefined ? '' : (URL.parse(url)?.host ?? '');
  return host === '' || host.length > maxHostLength ? undefined : host;
}
