// A route for each direct source that has a secret; without one its path does not exist.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Secret } from '../../platform/config/secret.ts';
import { createBodyMemory } from '../../platform/http/body-memory.ts';
import type { Area } from '../../platform/http/credentials.ts';
import { answer, type AnyRoute, asksDatabase, Content, type RawBody, rawBody, route, type RouteRequest } from '../../platform/http/route.ts';
import { textAt } from '../../platform/json.ts';
import { Common } from '../../platform/problem.ts';
import { Received } from '../contract.ts';
import { formType, type Receive } from './receiving.ts';
import { type ConfiguredSource, refused, refusedAsLate, sharedToken, type SignatureVerification, type Source, type Verified } from './source.ts';

const maxBytes = 1_048_576;
/** Vendors give up on an answer after 10 s and more. */
const bodyMs = 8000;
const memoryWaitMs = 4000;
/** For bodies that were not verified yet. */
const memoryBytes = 32 * maxBytes;

type SourceParts = { readonly receive: Receive; readonly clock: () => Date };

export function createSourceRoutes(configured: readonly ConfiguredSource[], parts: SourceParts): { readonly routes: AnyRoute[]; readonly areas: Area[] } {
  const memory = { shared: createBodyMemory(memoryBytes, maxBytes), waitMs: memoryWaitMs };
  return {
    routes: configured.flatMap((one) => [...handshakeRoute(one), asksDatabase(sourceRoute(one, { ...parts, memory }))]),
    areas: configured.flatMap(areaOf),
  };
}

/** Where the credential does not depend on the body it is looked at first. */
function areaOf({ source: { name, verification, setting = settingOf(name) }, secrets }: ConfiguredSource): Area[] {
  if (verification.by !== 'credential') return [];
  return [{ prefix: `/${name}`, guard: verification.createGuard(secrets, setting) }];
}

type RouteParts = SourceParts & { readonly memory: NonNullable<RawBody['memory']> };

/** The members of its route that do not depend on how a delivery is verified. */
function described({ name, vendor, takesForms, takesText, handshake, setting = settingOf(name), example }: Source, memory: RouteParts['memory']) {
  const answers: { 202: typeof Received; 200?: typeof Challenge } = { 202: Received, ...(handshake && { 200: Challenge }) };
  const mediaTypes = ['application/json', ...(takesForms ? [formType] : []), ...(takesText ? ['text/plain'] : [])];
  const sent = Delivery.meta({ id: `${pascalOf(name)}Delivery`, description: `As ${vendor} sends it`, examples: [example.body] });
  return {
    method: 'post',
    path: `/${name}`,
    operationId: `receive${pascalOf(name)}`,
    summary: `Receives a webhook of ${vendor}`,
    description: `Stores the delivery and its notifications in the same request. A repeat is answered 202, too, with \`duplicate\`. Without \`${setting}\` the path is 404.`,
    body: rawBody({ mediaTypes, maxBytes, timeoutMs: bodyMs, memory }),
    describedBody: Object.fromEntries(mediaTypes.map((type) => [type, sent])),
    answers,
    ...(handshake && { describedAnswerHeaders: describedAsText }),
  } as const;
}

function sourceRoute({ source, secrets }: ConfiguredSource, { receive, clock, memory }: RouteParts): AnyRoute {
  const { name, verification, setting = settingOf(name) } = source;
  const take = taker(source, receive);
  if (verification.by === 'credential')
    return route({
      ...described(source, memory),
      describedHeaders: headersOf(source),
      ...(verification.inQuery && { query: TokenQuery }),
      handle: take,
    });
  const { header, meaning, otherHeaders = {}, orToken } = verification;
  const verify = createVerifier(verification, { secrets, setting, clock });
  return route({
    ...described(source, memory),
    access: 'checkedByHandler',
    describedHeaders: {
      ...Object.fromEntries(Object.entries(otherHeaders).map(([one, description]) => [one, { description, isRequired: true }])),
      [header]: { description: meaning, isRequired: orToken !== true },
      ...headersOf(source),
    },
    ...(orToken && { query: TokenQuery }),
    problems: [Common.unauthorized],
    async handle(request) {
      const verified = await verify(request.body, request.headers, textAt(request.query, 'token'));
      if (verified === 'late') throw refusedAsLate(header);
      if (verified === 'wrong') throw refused(header, setting);
      return take(request);
    },
  });
}

type Posted = Pick<RouteRequest<undefined, undefined, RawBody>, 'url' | 'headers' | 'body' | 'logged'>;

const taker = (source: Source, receive: Receive) => async (request: Posted) => {
  const asked = source.handshake?.({ method: 'post', ...request });
  return asked ? answer(200, asked, asText) : answer(202, await receive(source, request));
};

type VerifierParts = { readonly secrets: readonly Secret[]; readonly setting: string; readonly clock: () => Date };

function createVerifier({ header, createVerifier: create, orToken }: SignatureVerification, { secrets, setting, clock }: VerifierParts) {
  const verify = create(secrets, clock);
  const guard = orToken ? sharedToken.createGuard(secrets, setting) : undefined;
  return async (body: Buffer, headers: IncomingHttpHeaders, token: string | undefined): Promise<Verified> => {
    if (headers[header.toLowerCase()] !== undefined || !guard) return verify(body, headers);
    return (await guard.check(headers, token === undefined ? '' : `token=${encodeURIComponent(token)}`)) === undefined ? 'wrong' : 'valid';
  };
}

const settingOf = (name: string) => `Sources__${name.replace(/^./, (letter) => letter.toUpperCase())}Secrets`;

/** A browser must take nothing of a request for a page. */
const asText = { 'X-Content-Type-Options': 'nosniff' };
const describedAsText = { 200: { 'X-Content-Type-Options': '`nosniff`' } };

const Challenge = z.string().describe('The text that the sender asks for');

/** GET and HEAD of a sender that looks at the address before it delivers. */
function handshakeRoute({ source: { name, vendor, verification, handshake } }: ConfiguredSource): AnyRoute[] {
  if (!handshake) return [];
  const greeting = route({
    method: 'get',
    path: `/${name}`,
    operationId: `greet${pascalOf(name)}`,
    summary: `Answers ${vendor} before it delivers`,
    ...(verification.by === 'signature' && { access: 'open' }),
    answers: { 200: Challenge },
    describedContent: { 'text/plain': Challenge, 'application/json': z.record(z.string(), z.string()) },
    describedAnswerHeaders: describedAsText,
    handle: ({ url, headers }) => answer(200, handshake({ method: 'get', url, headers }) ?? new Content('text/plain', ''), asText),
  });
  return [greeting];
}

const pascalOf = (name: string) => name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());

/** For the API description. Members that a vendor adds are accepted too. */
const Delivery = z.looseObject({});

const headersOf = ({ headers = {}, example }: Source) =>
  Object.fromEntries(Object.entries(headers).map(([name, description]) => [name, { description, example: example.headers?.[name] }]));

/** For the API description: the guard has looked at it. */
const TokenQuery = z.object({ token: z.string().optional().meta({ description: 'The shared token, where it does not come as X-Source-Token' }) });
