// Routes of the management plane; what they do is in the file of each noun.
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import {
  Application,
  ApplicationUpdate,
  Configuration,
  ConfigurationUpdate,
  CreatedApplication,
  CreatedSecret,
  Environment,
  InApplication,
  InEnvironment,
  NewApplication,
  NewConfiguration,
  NewEnvironment,
  NewSecret,
  OfConfiguration,
  OfSecret,
  OfSecretIn,
  PlainKey,
  Problems,
  Secret,
  SecretVersion,
  ValueItems,
} from '../contract.ts';
import type { ActorOf } from './administrators.ts';
import type { Applications, Environments } from './applications.ts';
import type { Configurations } from './configurations.ts';
import type { Secrets } from './secrets.ts';

/** The one time a key is shown, it must not be kept by anything on the way. */
const unkept = { 'Cache-Control': 'no-store' };
const noContent = () => answer(204, null);

const applicationRoutes = (applications: Applications, actorOf: ActorOf) => [
  ...allApplications(applications, actorOf),
  ...oneApplication(applications, actorOf),
];

const allApplications = (applications: Applications, actorOf: ActorOf) => [
  route({
    method: 'get',
    path: '/api/management/applications',
    summary: 'All applications that are not deleted, by slug',
    answers: { 200: z.array(Application) },
    handle: () => applications.list(),
  }),
  route({
    method: 'post',
    path: '/api/management/applications',
    summary: 'Creates an application with an environment `local`; the answer alone holds its key',
    body: NewApplication,
    answers: { 201: CreatedApplication },
    problems: [Problems.applicationTaken, Problems.masterKeysUnusable],
    async handle(request) {
      const created = await applications.create(actorOf(request), request.body);
      return answer(201, created, { Location: `/api/management/applications/${created.slug}`, ...unkept });
    },
  }),
];

const oneApplication = (applications: Applications, actorOf: ActorOf) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}',
    summary: 'One application',
    params: InApplication,
    answers: { 200: Application },
    problems: [Problems.applicationMissing],
    handle: ({ params }) => applications.get(params.slug),
  }),
  route({
    method: 'put',
    path: '/api/management/applications/{slug}',
    summary: 'Changes name and description; the slug stays',
    params: InApplication,
    body: ApplicationUpdate,
    answers: { 200: Application },
    problems: [Problems.applicationMissing, Problems.masterKeysUnusable],
    handle: (request) => applications.update(actorOf(request), request.params.slug, request.body),
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}',
    summary: 'Hides an application and all that belongs to it; its key stops working, its slug is free again',
    params: InApplication,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.masterKeysUnusable],
    handle: (request) => applications.remove(actorOf(request), request.params.slug).then(noContent),
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/rotate-key',
    summary: 'Gives an application a new key; the old one stops working at once',
    params: InApplication,
    answers: { 200: PlainKey },
    problems: [Problems.applicationMissing, Problems.masterKeysUnusable],
    handle: async (request) => answer(200, await applications.rotateKey(actorOf(request), request.params.slug), unkept),
  }),
];

const environmentRoutes = (environments: Environments, actorOf: ActorOf) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/environments',
    summary: 'The environments of an application, oldest first',
    params: InApplication,
    answers: { 200: z.array(Environment) },
    problems: [Problems.applicationMissing],
    handle: ({ params }) => environments.list(params.slug),
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/environments',
    summary: 'Adds an environment; its slug is made of its name',
    params: InApplication,
    body: NewEnvironment,
    answers: { 201: Environment },
    problems: [Problems.applicationMissing, Problems.environmentTaken, Problems.masterKeysUnusable],
    handle: async (request) => answer(201, await environments.create(actorOf(request), request.params.slug, request.body.name)),
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}/environments/{envSlug}',
    summary: 'Deletes an environment with its secret versions and configuration entries, for good',
    params: InEnvironment,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.environmentMissing, Problems.masterKeysUnusable],
    handle: (request) => environments.remove(actorOf(request), request.params.slug, request.params.envSlug).then(noContent),
  }),
];

const secretRoutes = (secrets: Secrets, actorOf: ActorOf) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/secrets',
    summary: 'The secrets of an application, by name',
    params: InApplication,
    answers: { 200: z.array(Secret) },
    problems: [Problems.applicationMissing],
    handle: ({ params }) => secrets.list(params.slug),
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/secrets',
    summary: 'Adds a secret, and says which environments wait for a value',
    params: InApplication,
    body: NewSecret,
    answers: { 201: CreatedSecret },
    problems: [Problems.applicationMissing, Problems.secretTaken, Problems.masterKeysUnusable],
    async handle(request) {
      const { slug } = request.params;
      const created = await secrets.create(actorOf(request), slug, request.body);
      return answer(201, created, { Location: `/api/management/applications/${slug}/secrets/${encodeURIComponent(created.name)}` });
    },
  }),
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/secrets/{name}',
    summary: 'One secret, without values',
    params: OfSecret,
    answers: { 200: Secret },
    problems: [Problems.applicationMissing, Problems.secretMissing],
    handle: ({ params }) => secrets.get(params.slug, params.name),
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}/secrets/{name}',
    summary: 'Deletes a secret with all its versions, for good',
    params: OfSecret,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.masterKeysUnusable],
    handle: (request) => secrets.remove(actorOf(request), request.params.slug, request.params.name).then(noContent),
  }),
];

// A hundred values of 64 KiB, with room for JSON's escapes.
const maxBodyBytes = 8 * 1024 * 1024;

const valueRoutes = (secrets: Secrets, actorOf: ActorOf) => [
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/secrets/{name}/values',
    summary: 'Appends a version for each item, all of them or none',
    params: OfSecret,
    body: ValueItems,
    maxBodyBytes,
    answers: { 200: null },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing, Problems.masterKeysUnusable],
    async handle(request) {
      await secrets.append(actorOf(request), request.params, request.body);
      return answer(200, null);
    },
  }),
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/secrets/{name}/versions/{environmentSlug}',
    summary: 'The versions of a secret in an environment, newest first, without values',
    params: OfSecretIn,
    answers: { 200: z.array(SecretVersion) },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing],
    handle: ({ params }) => secrets.versions(params.slug, params.name, params.environmentSlug),
  }),
];

const configurationRoutes = (configurations: Configurations, actorOf: ActorOf) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/configurations',
    summary: 'All entries of an application, by environment and key',
    params: InApplication,
    answers: { 200: z.array(Configuration) },
    problems: [Problems.applicationMissing],
    handle: ({ params }) => configurations.list(params.slug),
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/configurations',
    summary: 'Adds an entry to an environment',
    params: InApplication,
    body: NewConfiguration,
    answers: { 201: Configuration },
    problems: [Problems.applicationMissing, Problems.environmentMissing, Problems.configurationTaken, Problems.masterKeysUnusable],
    handle: async (request) => answer(201, await configurations.create(actorOf(request), request.params.slug, request.body)),
  }),
  route({
    method: 'put',
    path: '/api/management/applications/{slug}/configurations/{environmentSlug}/{key}',
    summary: 'Changes the value of an entry, and its description when one is given',
    params: OfConfiguration,
    body: ConfigurationUpdate,
    answers: { 200: Configuration },
    problems: [Problems.applicationMissing, Problems.configurationMissing, Problems.masterKeysUnusable],
    handle: (request) => configurations.update(actorOf(request), request.params, request.body),
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}/configurations/{environmentSlug}/{key}',
    summary: 'Deletes an entry',
    params: OfConfiguration,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.configurationMissing, Problems.masterKeysUnusable],
    handle: (request) => configurations.remove(actorOf(request), request.params).then(noContent),
  }),
];

type Nouns = {
  readonly applications: Applications;
  readonly environments: Environments;
  readonly secrets: Secrets;
  readonly configurations: Configurations;
};

export const managementRoutes = (nouns: Nouns, actorOf: ActorOf) => [
  ...applicationRoutes(nouns.applications, actorOf),
  ...environmentRoutes(nouns.environments, actorOf),
  ...secretRoutes(nouns.secrets, actorOf),
  ...valueRoutes(nouns.secrets, actorOf),
  ...configurationRoutes(nouns.configurations, actorOf),
];
