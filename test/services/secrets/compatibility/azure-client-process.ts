// A program that reads a vault by @azure/keyvault-secrets, as its users write it: the address of the vault is its argument, it prints JSON.
import { DefaultAzureCredential } from '@azure/identity';
import { SecretClient } from '@azure/keyvault-secrets';

const [, , vault = '', ...names] = process.argv;
const client = new SecretClient(vault, new DefaultAzureCredential());

async function read(name: string): Promise<unknown> {
  try {
    const { value, properties } = await client.getSecret(name);
    const { version, expiresOn, enabled, name: own } = properties;
    const again = version === undefined ? undefined : await client.getSecret(name, { version });
    const versions: (string | undefined)[] = [];
    for await (const one of client.listPropertiesOfSecretVersions(name)) versions.push(one.version);
    return { value, name: own, version, enabled, expiresOn: expiresOn ?? null, again: again?.value, versions };
  } catch (error) {
    const { statusCode, code } = Object(error) as { statusCode?: number; code?: string }; // as the package throws them
    return { statusCode, code };
  }
}

const secrets: unknown[] = [];
for (const name of names) secrets.push(await read(name));
const listed: string[] = [];
let refused: unknown = null;
try {
  for await (const { name } of client.listPropertiesOfSecrets()) listed.push(name);
} catch (error) {
  refused = Reflect.get(Object(error), 'name');
}
process.stdout.write(JSON.stringify({ secrets, listed, refused }));
