// A route for each direct source that has a secret; without one its path does not exist.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Secret } from '../../platform/config/secret.ts';
import { createBodyMemory } from '../../platform/http/body-memory.ts';
import type { Area } from '../../platform/http/credentials.ts';
import { answer, type AnyRoute, asksDatabase, type RawBody, rawBody, route } from '../../platform/http/route.ts';
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
    routes: configured.map((one) => asksDatabase(sourceRoute(one, { ...parts, memory }))),
    areas: configured.flatMap(areaOf),
  };
}

/** Where the credential does not depend on the body it is looked at first. */
function areaOf({ source: { name, verification, setting = settingOf(name) }, secrets }: ConfiguredSource): Area[] {
  if (verification.by !== 'credential') return [];
  return [{ prefix: `/${name}`, guard: verification.createGuard(secrets, setting) }];
}

type RouteParts = SourceParts & { readonly memory: NonNullable<RawBody['memory']> };

function sourceRoute({ source, secrets }: ConfiguredSource, { receive, clock, memory }: RouteParts): AnyRoute {
  const { name, vendor, verification, takesForms, setting = settingOf(name) } = source;
  const named = name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
  const sent = Delivery.meta({ id: `${named}Delivery`, description: `As ${vendor} sends it`, examples: [source.example.body] });
  const described = {
    operationId: `receive${named}`,
    summary: `Receives a webhook of ${vendor}`,
    description: `Stores the delivery and its notifications in the same request. A repeat is answered 202, too, with \`duplicate\`. Without \`${setting}\` the path is 404.`,
    body: rawBody({ mediaTypes: ['application/json', ...(takesForms ? [formType] : [])], maxBytes, timeoutMs: bodyMs, memory }),
    describedBody: {
      ...(takesForms && { [formType]: sent }),
      'application/json': sent,
    },
    answers: { 202: Received },
  };
  if (verification.by === 'credential')
    return route({
      method: 'post',
      path: `/${name}`,
      ...described,
      describedHeaders: headersOf(source),
      ...(verification.inQuery && { query: TokenQuery }),
      handle: async (request) => answer(202, await receive(source, request)),
    });
  const { header, meaning, otherHeaders = {}, orToken } = verification;
  const verify = createVerifier(verification, { secrets, setting, clock });
  return route({
    method: 'post',
    path: `/${name}`,
    access: 'checkedByHandler',
    ...described,
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
      return answer(202, await receive(source, request));
    },
  });
}

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

/** For the API description. Members that a vendor adds are accepted too. */
const Delivery = z.looseObject({});

const headersOf = ({ headers = {}, example }: Source) =>
  Object.fromEntries(Object.entries(headers).map(([name, description]) => [name, { description, example: example.headers?.[name] }]));

/** For the API description: the guard has looked at it. */
const TokenQuery = z.object({ token: z.string().optional().meta({ description: 'The shared token, where it does not come as X-Source-Token' }) });
