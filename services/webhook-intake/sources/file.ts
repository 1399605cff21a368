// The file that `Sources__File` names: direct sources by settings alone. docs/sources.md explains each member.
import { ConfigError, type Environment, readSettings } from '../../platform/config/config.ts';
import type { Secret } from '../../platform/config/secret.ts';
import { secretList, webhookSecretList } from '../../platform/config/settings.ts';
import { parseYaml, readFileOf } from '../../platform/config/yaml-file.ts';
import { type Faults, parseInto } from '../../platform/faults.ts';
import { came, type Declaration, SourcesFile } from './declaration.ts';
import { createDeclaredSource } from './declared.ts';
import type { ConfiguredSource } from './source.ts';

export const sourcesSetting = 'Sources__File';

/** Paths of the service's own. */
const reserved = ['api', 'forge', 'health', 'metrics', 'swagger'];

/**
 * @param taken names of the built-in sources
 * @throws ConfigError that names every place in the file that cannot be used, what was expected there and what came
 */
export function readSourcesFile(file: string, environment: Environment, taken: readonly string[]): ConfiguredSource[] {
  const faults: Faults = new Map();
  const parsed = parseInto(SourcesFile, parseYaml(`${sourcesSetting} (${file})`, readFileOf(`${sourcesSetting} (${file})`, file)), {
    root: 'the file',
    faults,
  });
  const add = (path: string, fault: string) => faults.set(path, [...(faults.get(path) ?? []), fault]);
  const names = parsed?.sources.map(({ name }) => name) ?? [];
  names.forEach((name, index) => {
    if (taken.includes(name) || reserved.includes(name))
      add(`sources[${index}].name`, `must not be that of a source that is built in, or reserved${came(name)}`);
    if (names.indexOf(name) !== index) add(`sources[${index}].name`, `must be that of one source only${came(name)}`);
  });
  const configured = (parsed?.sources ?? []).map((declaration, index) => {
    const secrets = secretsOf(declaration, environment, (member, fault) => add(`sources[${index}].${member}`, fault));
    return { source: createDeclaredSource(declaration), secrets };
  });
  if (faults.size === 0) return configured;
  throw new ConfigError([...faults].flatMap(([path, reasons]) => reasons.map((reason) => `${sourcesSetting} (${file}): ${path} ${reason}`)));
}

/** @param add with faults of these secrets, which never show a value */
function secretsOf(
  { secretsFrom, secrets, verification }: Declaration,
  environment: Environment,
  add: (member: string, fault: string) => void,
): readonly Secret[] {
  const member = secretsFrom === undefined ? 'secrets' : 'secretsFrom';
  const name = secretsFrom ?? 'SECRETS';
  const kind = verification.by === 'standard-webhooks' ? webhookSecretList : secretList;
  try {
    const given = secrets === undefined ? environment : { APP_ENV: environment['APP_ENV'], [name]: secrets.join(',') };
    const values = readSettings(given, { secrets: kind(name, { summary: '' }) }).secrets;
    if (verification.by === 'basic' && values.some((value) => !value.reveal().includes(':'))) add(member, 'must have user:password in each value');
    return values;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults)
      add(member, secretsFrom === undefined ? fault.slice(name.length + 1) : `names ${fault.replace(`${name} `, `${name}, which `)}`);
    return [];
  }
}
