// `signalbox secrets run`: starts a program with an application's configuration and secrets in its environment.
import { z } from 'zod';
import { type Environment, readSettings } from '../../platform/config/config.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { type ConsumerClient, createConsumerClient, Refusal } from '../client.ts';
import type { ConsumerConfiguration } from '../consumer/contract.ts';
import { exitCodes, runProgram } from './child.ts';
import { consumerSettings, isOwn } from './settings.ts';

const Options = z.object({ environment: z.string(), secret: z.array(z.string()).default([]), allowUnsafeNames: z.boolean().default(false) });

export const run: Subcommand = {
  summary: 'start a program with its configuration and the named secrets in its environment, key a:b-c as variable a__b_c',
  examples: ['run --environment production -- node server.js', 'run --environment production --secret database-password=PGPASSWORD -- psql'],
  operands: '<command...>',
  options: [
    { flags: '--environment <slug>', summary: 'environment to read configuration and secrets from', required: true },
    { flags: '--secret <name...>', summary: 'NAME or NAME=VARIABLE; several, or several times; put -- before the command' },
    { flags: '--allow-unsafe-names', summary: 'take configuration entries that decide what code runs, such as PATH or LD_PRELOAD' },
  ],
  settings: consumerSettings,
  usageExitCode: exitCodes.refused,
  async run({ environment, options, rest: [command, ...parameters], writeError, stopping }) {
    try {
      if (command === undefined) throw new Error('there is no command to run');
      const wanted = Options.parse(options);
      const isAllowed = wanted.allowUnsafeNames ? () => true : isSafe;
      const { address, applicationKey } = readSettings(environment, consumerSettings);
      const client = createConsumerClient({ baseUrl: address, credential: applicationKey.reveal(), signal: stopping });
      const fetched = await fetchVariables(client, { ...wanted, secret: wanted.secret.map(readWanted), isAllowed });
      return await runProgram({ command, parameters, variables: { ...withoutOwn(environment), ...fetched }, writeError });
    } catch (error) {
      // With a code that tells it from the program's own failure.
      writeError(error instanceof Error ? error.message : String(error));
      return exitCodes.refused;
    }
  },
};

type Wanted = { readonly environment: string; readonly secret: readonly WantedSecret[]; readonly isAllowed: (variable: string) => boolean };

async function fetchVariables(client: ConsumerClient, { environment, secret, isAllowed }: Wanted): Promise<Variables> {
  const configurations = await client
    .configurations(environment)
    .catch(explain(`the application has no environment '${environment}', or SIGNALBOX_SECRETS_URL is another service`));
  requireAllowed(configurations, isAllowed);
  const secrets = secret.map(async ({ name, variable }) => {
    const missing = `secret '${name}' is not served in environment '${environment}': it is unknown there, or has no version that is active now`;
    const { value } = await client.secret(name, environment).catch(explain(missing));
    return { name, variable, value };
  });
  return toVariables(configurations, await Promise.all(secrets));
}

const refusedKey = 'the service refuses SIGNALBOX_APPLICATION_KEY: it is wrong, was replaced by a newer one, or its application was deleted';

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

// Variables of the loader, of shells and of language runtimes: with them a person who may write configuration could run code.
const unsafe =
  /^(PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PS4|LD_.*|DYLD_.*|NODE_(OPTIONS|PATH)|PYTHON(PATH|HOME|STARTUP)|PERL5(LIB|OPT|DB)|RUBY(LIB|OPT)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|DOTNET_STARTUP_HOOKS|GIT_.*)$/i;
export const isSafe = (variable: string): boolean => !unsafe.test(variable);

/** Secrets are not asked: the caller names each of them. @throws Error that names every entry that is not allowed */
function requireAllowed(configurations: readonly ConsumerConfiguration[], isAllowed: (variable: string) => boolean): void {
  const refused = configurations.map(({ key }) => key).filter((key) => !isAllowed(variableOf(key)));
  if (refused.length > 0) throw new Error(`configuration entries that decide what code runs are refused without --allow-unsafe-names: ${refused.join(', ')}`);
}
