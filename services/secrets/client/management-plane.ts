// The management plane for a client: what an administrator may do.
import { z } from 'zod';
import { TimestampInput as Time } from '../../platform/schema.ts';
import * as contract from '../contract.ts';
import { type ClientOptions, createCalls, Nothing, path } from './transport.ts';

const Application = contract.Application.extend({ createdAt: Time, updatedAt: Time });
const CreatedApplication = contract.CreatedApplication.extend({ createdAt: Time });
const Environment = contract.Environment.extend({ createdAt: Time });
const Secret = contract.Secret.extend({ createdAt: Time, updatedAt: Time });
const CreatedSecret = contract.CreatedSecret.extend({ createdAt: Time, updatedAt: Time });
const SecretVersion = contract.SecretVersion.extend({ expiresAt: Time.nullable(), notBefore: Time.nullable(), createdAt: Time });
const Configuration = contract.Configuration.extend({ createdAt: Time, updatedAt: Time });

/** What an administrator may do. */
export function createManagementClient(options: ClientOptions) {
  const { get, post, put, remove } = createCalls(options, { authorization: `Bearer ${options.credential}` });
  const all = '/api/management/applications';
  const of = (slug: string, ...rest: readonly string[]) => path(all, slug, ...rest);
  return {
    applications: () => get(all, z.array(Application)),
    application: (slug: string) => get(of(slug), Application),
    createApplication: (body: z.input<typeof contract.NewApplication>) => post(all, CreatedApplication, body),
    updateApplication: (slug: string, body: z.input<typeof contract.ApplicationUpdate>) => put(of(slug), Application, body),
    deleteApplication: (slug: string) => remove(of(slug)),
    /** The key before it stops working with the answer. */
    rotateKey: (slug: string) => post(of(slug, 'rotate-key'), contract.PlainKey),

    environments: (slug: string) => get(of(slug, 'environments'), z.array(Environment)),
    createEnvironment: (slug: string, body: z.input<typeof contract.NewEnvironment>) => post(of(slug, 'environments'), Environment, body),
    deleteEnvironment: (slug: string, environment: string) => remove(of(slug, 'environments', environment)),

    secrets: (slug: string) => get(of(slug, 'secrets'), z.array(Secret)),
    secret: (slug: string, name: string) => get(of(slug, 'secrets', name), Secret),
    createSecret: (slug: string, body: z.input<typeof contract.NewSecret>) => post(of(slug, 'secrets'), CreatedSecret, body),
    deleteSecret: (slug: string, name: string) => remove(of(slug, 'secrets', name)),
    setValues: (slug: string, name: string, items: z.input<typeof contract.ValueItems>) => post(of(slug, 'secrets', name, 'values'), Nothing, items),
    /** Newest first. */
    versions: (slug: string, name: string, environment: string) => get(of(slug, 'secrets', name, 'versions', environment), z.array(SecretVersion)),

    configurations: (slug: string) => get(of(slug, 'configurations'), z.array(Configuration)),
    createConfiguration: (slug: string, body: z.input<typeof contract.NewConfiguration>) => post(of(slug, 'configurations'), Configuration, body),
    updateConfiguration: (slug: string, { environmentSlug, key, ...body }: ConfigurationPlace & z.input<typeof contract.ConfigurationUpdate>) =>
      put(of(slug, 'configurations', environmentSlug, key), Configuration, body),
    deleteConfiguration: (slug: string, { environmentSlug, key }: ConfigurationPlace) => remove(of(slug, 'configurations', environmentSlug, key)),
  };
}
export type ManagementClient = ReturnType<typeof createManagementClient>;
type ConfigurationPlace = { readonly environmentSlug: string; readonly key: string };
