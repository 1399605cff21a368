// `signalbox secrets run`: starts a program with an application's configuration and secrets in its environment.
import { z } from 'zod';
import { type Environment, readSettings } from '../../platform/config/config.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { type ConsumerClient, createConsumerClient, Refusal } from '../client.ts';
import type { ConsumerConfiguration, ConsumerSecret } from '../consumer/contract.ts';
import { exitCodes, runProgram } from './child.ts';
import { consumerSettings, isOwn } from './settings.ts';
import { isSafe } from './unsafe-names.ts';

const Options = z.object({
  environment: z.string(),
  secret: z.array(z.string()).default([]),
  all: z.boolean().default(false),
  only: z.array(z.string()).default([]),
  prefix: z.string().optional(),
  allowUnsafeNames: z.boolean().default(false),
});

export const run: Subcommand = {
  summary: 'start a program with its configuration and the named secrets in its environment, key a:b-c as variable a__b_c',
  examples: ['run --environment production --all -- node server.js', 'run --environment production --secret database-password=PGPASSWORD -- psql'],
  operands: '<command...>',
  options: [
    { flags: '--environment <slug>', summary: 'environment to read configuration and secrets from', required: true },
    { flags: '--secret <name...>', summary: 'NAME or NAME=VARIABLE; several, or several times; put -- before the command' },
    { flags: '--all', summary: 'take every secret that is served in the environment; with --prefix those whose names begin with it' },
    { flags: '--only <key...>', summary: 'take these configuration entries, whatever their names; with --prefix those as well. Default: all entries' },
    { flags: '--prefix <text>', summary: 'take configuration entries, and with --all secrets, whose names begin with it' },
    { flags: '--allow-unsafe-names', summary: 'take configuration entries, and with --all secrets, that decide what code runs, such as PATH or LD_PRELOAD' },
  ],
  settings: consumerSettings,
  usageExitCode: exitCodes.refused,
  async run({ environment, options, rest: [command, ...parameters], writeError, stopping }) {
    try {
      if (command === undefined) throw new Error('there is no command to run');
      const wanted = Options.parse(options);
      const { address, applicationKey } = readSettings(environment, consumerSettings);
      const client = createConsumerClient({ baseUrl: address, credential: applicationKey.reveal(), signal: stopping });
      const fetched = await fetchVariables(client, { ...wanted, secret: wanted.secret.map(readWanted) });
      stopping.throwIfAborted();
      return await runProgram({ command, parameters, variables: { ...withoutOwn(environment), ...fetched }, stopping, writeError });
    } catch (error) {
      // With a code that tells it from the program's own failure.
      if (stopping.aborted) writeError('stopped by a signal while secrets were read: the program was not started');
      else writeError(error instanceof Error ? error.message : String(error));
      return exitCodes.refused;
    }
  },
};

type Wanted = Omit<z.output<typeof Options>, 'secret'> & { readonly secret: readonly WantedSecret[] };

async function fetchVariables(client: ConsumerClient, { environment, secret, all, ...wanted }: Wanted): Promise<Variables> {
  const noEnvironment = explain(`the application has no environment '${environment}', or SIGNALBOX_SECRETS_URL is another service`);
  const entries = await client.configurations(environment).catch(noEnvironment);
  const configurations = choose(entries, { environment, ...wanted });
  const listed = all ? chooseListed(await client.secrets(environment).catch(noEnvironment), { secret, ...wanted }) : [];
  const secrets = secret.map(async ({ name, variable }) => {
    const missing = `secret '${name}' is not served in environment '${environment}': it is unknown there, or has no version that is active now`;
    const { value } = await client.secret(name, environment).catch(explain(missing));
    return { name, variable, value };
  });
  return toVariables(configurations, [...(await Promise.all(secrets)), ...listed]);
}

const refusedKey = 'the service refuses SIGNALBOX_APPLICATION_KEY: it is wrong, expired, replaced by a newer one, or its application was deleted';

/** Says in a sentence what a refusal means here. */
const explain =
  (missing: string) =>
  (error: unknown): never => {
    if (error instanceof Refusal && error.status === 404 && error.problem) throw new Error(missing, { cause: error });
    if (error instanceof Refusal && error.status === 401) throw new Error(refusedKey, { cause: error });
    throw error;
  };

/** The environment for the program, without the credentials of this command. */
const withoutOwn = (environment: Environment): Environment => Object.fromEntries(Object.entries(environment).filter(([name]) => !isOwn(name)));

export type Variables = Readonly<Record<string, string>>;
export type WantedSecret = { readonly name: string; readonly variable: string };
export type FetchedSecret = WantedSecret & { readonly value: string };

/** `Logging:Level` → `Logging__Level`, as .NET reads it back; whatever else no variable can hold → `_`. */
export function variableOf(key: string): string {
  const name = key.replaceAll(':', '__').replace(/[^A-Za-z0-9_]/gu, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `NAME` or `NAME=VARIABLE`; a name that holds `=` needs the second form. */
export function readWanted(text: string): WantedSecret {
  const at = text.lastIndexOf('=');
  if (text === '' || at === 0) throw new Error('--secret needs the name of a secret');
  if (at === -1) return { name: text, variable: variableOf(text) };
  const variable = text.slice(at + 1);
  if (!variablePattern.test(variable)) throw new Error(`--secret ${text}: what follows = must be a name of letters, digits and _, not beginning with a digit`);
  return { name: text.slice(0, at), variable };
}

/** @throws Error when two things would be one variable, or when a value cannot be in an environment; never with a value */
export function toVariables(configurations: readonly ConsumerConfiguration[], secrets: readonly FetchedSecret[]): Variables {
  const sources = [
    ...configurations.map(({ key, value }) => ({ variable: variableOf(key), source: `configuration entry '${key}'`, value })),
    ...secrets.map(({ name, variable, value }) => ({ variable, source: `secret '${name}'`, value })),
  ];
  const taken = new Map<string, string>();
  for (const { variable, source, value } of sources) {
    const other = taken.get(variable);
    if (other !== undefined) throw new Error(`${other} and ${source} would both be the variable ${variable}`);
    if (value.includes('\0')) throw new Error(`${source} holds a NUL character, which no variable can hold`);
    taken.set(variable, source);
  }
  return Object.fromEntries(sources.map(({ variable, value }) => [variable, value]));
}

type Choice = Pick<Wanted, 'environment' | 'only' | 'prefix' | 'allowUnsafeNames'>;

/**
 * The entries to take. Unsafe ones are refused, except where the caller names them, as each secret is named.
 * @throws Error that names every entry that is refused or missing
 */
function choose(all: readonly ConsumerConfiguration[], { environment, only, prefix, allowUnsafeNames }: Choice): readonly ConsumerConfiguration[] {
  const missing = only.find((key) => !all.some((entry) => entry.key === key));
  if (missing !== undefined) throw new Error(`there is no configuration entry '${missing}' in environment '${environment}'`);
  const begins = prefix ?? (only.length > 0 ? undefined : '');
  const named = all.filter(({ key }) => only.includes(key));
  const others = all.filter(({ key }) => !only.includes(key) && begins !== undefined && key.startsWith(begins));
  const refused = allowUnsafeNames ? [] : others.map(({ key }) => key).filter((key) => !isSafe(variableOf(key)));
  if (refused.length > 0) throw new Error(`configuration entries that decide what code runs are refused without --allow-unsafe-names: ${refused.join(', ')}`);
  return [...named, ...others];
}

type ListedChoice = Pick<Wanted, 'secret' | 'prefix' | 'allowUnsafeNames'>;

/**
 * The secrets of a list that the caller did not name: a person who may add secrets does not decide what code runs.
 * @throws Error that names every secret that is refused
 */
function chooseListed(listed: readonly ConsumerSecret[], { secret, prefix = '', allowUnsafeNames }: ListedChoice): readonly FetchedSecret[] {
  const others = listed.filter(({ name }) => name.startsWith(prefix) && secret.every((one) => one.name !== name));
  const chosen = others.map(({ name, value }) => ({ name, value, variable: variableOf(name) }));
  const refused = allowUnsafeNames ? [] : chosen.filter(({ variable }) => !isSafe(variable));
  if (refused.length > 0)
    throw new Error(`secrets that decide what code runs are refused without --allow-unsafe-names: ${refused.map(({ name }) => name).join(', ')}`);
  return chosen;
}
