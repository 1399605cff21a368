// The clients of Vault and of Azure Key Vault in Python and Go, as their packages come from PyPI and the module proxy.
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { temporaryDirectory } from '../../../support/guard.ts';
import { commandLine } from '../../../support/programs.ts';
import { describeWith } from '../../../support/need.ts';
import { kubernetes } from '../../../support/kubernetes.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { manage, migrations, newApplication, putSecret, secretValue, startService, type TestApplication, type TestService, useService } from '../service.ts';
import { type ClusterAccounts, createClusterAccounts } from '../consumer/cluster-accounts.ts';
import { type HttpsFront, startHttpsFront } from './https-front.ts';

const host = 'local.vault.example.test';
const minutes = 60_000;
const compatible = { Compatibility__Vault: 'on', Compatibility__KeyVault: 'on' };

const python = `
import hvac, json, os, sys
from azure.identity import DefaultAzureCredential
from azure.keyvault.secrets import SecretClient
from azure.core.exceptions import ResourceNotFoundError, ClientAuthenticationError

said = {}
vault = hvac.Client(url=os.environ["VAULT_ADDR"], token=os.environ["VAULT_TOKEN"])
said["authenticated"] = vault.is_authenticated()
said["vault"] = vault.secrets.kv.v2.read_secret_version(mount_point="local", path="team/db", raise_on_deleted_version=True)["data"]["data"]["value"]
try:
    vault.secrets.kv.v2.read_secret_version(mount_point="local", path="none", raise_on_deleted_version=True)
except hvac.exceptions.InvalidPath:
    said["missing"] = True
try:
    hvac.Client(url=os.environ["VAULT_ADDR"], token="wrong").secrets.kv.v2.read_secret_version(mount_point="local", path="team/db", raise_on_deleted_version=True)
except hvac.exceptions.Forbidden:
    said["denied"] = True
azure = SecretClient(vault_url=sys.argv[1], credential=DefaultAzureCredential())
secret = azure.get_secret("db-password")
said["azure"] = [secret.value, secret.properties.version]
said["listed"] = [one.name for one in azure.list_properties_of_secrets()]
try:
    azure.get_secret("none")
except ResourceNotFoundError:
    said["azureMissing"] = True
print(json.dumps(said))
`;

/** In a pod: a token of its ServiceAccount in a file, and no key. */
const pythonInPod = `
import hvac, json, os, sys
from azure.identity import DefaultAzureCredential
from azure.keyvault.secrets import SecretClient

said = {}
vault = hvac.Client(url=os.environ["VAULT_ADDR"])
with open(os.environ["AZURE_FEDERATED_TOKEN_FILE"]) as file:
    said["lease"] = vault.auth.kubernetes.login(role="any", jwt=file.read())["auth"]["lease_duration"] > 3000
said["authenticated"] = vault.is_authenticated()
said["vault"] = vault.secrets.kv.v2.read_secret_version(mount_point="local", path="team/db", raise_on_deleted_version=True)["data"]["data"]["value"]
try:
    hvac.Client(url=os.environ["VAULT_ADDR"]).auth.kubernetes.login(role="any", jwt="x.y.z")
except hvac.exceptions.Forbidden:
    said["denied"] = True
said["azure"] = SecretClient(vault_url=sys.argv[1], credential=DefaultAzureCredential()).get_secret("db-password").value
print(json.dumps(said))
`;

const goInPod = `package main

import (
	"context"
	"encoding/json"
	"os"

	vault "github.com/hashicorp/vault/api"
	"github.com/hashicorp/vault/api/auth/kubernetes"
)

func main() {
	said := map[string]any{}
	client, err := vault.NewClient(vault.DefaultConfig())
	if err != nil {
		panic(err)
	}
	method, err := kubernetes.NewKubernetesAuth("any", kubernetes.WithServiceAccountTokenPath(os.Args[1]))
	if err != nil {
		panic(err)
	}
	login, err := client.Auth().Login(context.Background(), method)
	if err != nil {
		panic(err)
	}
	said["lease"] = login.Auth.LeaseDuration > 3000
	secret, err := client.KVv2("local").Get(context.Background(), "team/db")
	if err != nil {
		panic(err)
	}
	said["value"] = secret.Data["value"]
	method, err = kubernetes.NewKubernetesAuth("any", kubernetes.WithServiceAccountToken("x.y.z"))
	if err != nil {
		panic(err)
	}
	_, err = client.Auth().Login(context.Background(), method)
	said["denied"] = err != nil
	json.NewEncoder(os.Stdout).Encode(said)
}
`;

const go = `package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	vault "github.com/hashicorp/vault/api"
)

func main() {
	said := map[string]any{}
	client, err := vault.NewClient(vault.DefaultConfig())
	if err != nil {
		panic(err)
	}
	secret, err := client.KVv2("local").Get(context.Background(), "team/db")
	if err != nil {
		panic(err)
	}
	said["value"] = secret.Data["value"]
	said["version"] = secret.VersionMetadata.Version
	_, err = client.KVv2("local").Get(context.Background(), "none")
	said["missing"] = errors.Is(err, vault.ErrSecretNotFound)
	token, err := client.Auth().Token().LookupSelf()
	if err != nil {
		panic(err)
	}
	said["token"] = token.Data["type"]
	listed, err := client.Logical().List("local/metadata/team")
	if err != nil {
		panic(err)
	}
	said["listed"] = listed.Data["keys"]
	client.SetToken("wrong")
	_, err = client.KVv2("local").Get(context.Background(), "team/db")
	var refused *vault.ResponseError
	said["denied"] = errors.As(err, &refused) && refused.StatusCode == 403
	json.NewEncoder(os.Stdout).Encode(said)
}
`;

/** Whether packages can be had; they are installed at once, so that the reason is known before the tests. */
function installed(
  name: string,
  install: (directory: string) => void,
): { readonly directory: string; readonly need: { readonly name: string; readonly missing: string | undefined } } {
  const directory = temporaryDirectory(name);
  try {
    install(directory);
    return { directory, need: { name, missing: undefined } };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return { directory, need: { name, missing: `its packages cannot be installed: ${reason}` } };
  }
}

const quiet = { stdio: 'ignore', timeout: 4 * minutes } as const;
const pypi = installed('PyPI', (directory) => {
  execFileSync('python3', ['-m', 'venv', directory], quiet);
  const packages = ['hvac==2.4.0', 'azure-keyvault-secrets==4.12.0', 'azure-identity==1.27.0'];
  execFileSync(join(directory, 'bin/pip'), ['install', '--quiet', ...packages], quiet);
  writeFileSync(join(directory, 'client.py'), python);
  writeFileSync(join(directory, 'in-pod.py'), pythonInPod);
});
const modules = installed('Go', (directory) => {
  const options = { ...quiet, cwd: directory };
  writeFileSync(join(directory, 'main.go'), go);
  mkdirSync(join(directory, 'in-pod'));
  writeFileSync(join(directory, 'in-pod/main.go'), goInPod);
  execFileSync('go', ['mod', 'init', 'client'], options);
  execFileSync('go', ['get', 'github.com/hashicorp/vault/api@v1.22.0', 'github.com/hashicorp/vault/api/auth/kubernetes@v0.10.0'], options);
  for (const [name, folder] of [
    ['client', '.'],
    ['client-in-pod', './in-pod'],
  ] as const)
    execFileSync('go', ['build', '-o', name, folder], options);
});

describe('clients of other products', () => {
  const running = useService({ environment: compatible });
  let application: TestApplication;
  let values: readonly string[];
  before(async () => {
    application = await newApplication(running.url);
    values = [secretValue('team/db'), secretValue('db-password')];
    const [team, password] = values;
    await putSecret(running.url, application.slug, 'team/db', { value: team });
    await putSecret(running.url, application.slug, 'db-password', { value: password });
  });
  const run = async (program: string, parameters: readonly string[], further: Readonly<Record<string, string>> = {}) => {
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, VAULT_ADDR: running.url, VAULT_TOKEN: application.key, ...further };
    const { stdout } = await promisify(execFile)(program, [...parameters], { env, timeout: minutes });
    return JSON.parse(stdout) as unknown;
  };

  describeWith(pypi.need, 'in Python', () => {
    describeWith(commandLine('openssl'), 'hvac, azure-keyvault-secrets and azure-identity', () => {
      let front: HttpsFront;
      before(async () => (front = await startHttpsFront(running.url)));
      after(() => front.close());

      it('read unmodified, and report what is missing and what is denied', async () => {
        const credential = { AZURE_TENANT_ID: 'adfs', AZURE_CLIENT_ID: 'any', AZURE_CLIENT_SECRET: application.key, AZURE_AUTHORITY_HOST: `https://${host}` };
        const said = await run(join(pypi.directory, 'bin/python'), [join(pypi.directory, 'client.py'), `https://${host}`], {
          ...front.environment,
          ...credential,
        });
        const [team, password] = values;
        const vault = { authenticated: true, vault: team, missing: true, denied: true };
        expect(said).to.deep.equal({ ...vault, azure: [password, '1'], listed: ['db-password', 'team%2Fdb'], azureMissing: true });
      }).timeout(minutes);
    });
  });

  describeWith(modules.need, 'in Go', () => {
    it("reads by Vault's own client, on which External Secrets is built", async () => {
      const said = await run(join(modules.directory, 'client'), []);
      expect(said).to.deep.equal({ value: values[0], version: 1, missing: true, token: 'service', listed: ['db'], denied: true });
    }).timeout(minutes);
  });
});

describeWith(kubernetes, 'clients of other products in a pod, with the token of its ServiceAccount', () => {
  let cluster: ClusterAccounts;
  let database: TestDatabase;
  let service: TestService;
  let values: readonly [team: string, password: string];
  const tokenFile = join(temporaryDirectory('token'), 'token');
  before(async () => {
    cluster = await createClusterAccounts();
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url, environment: compatible, apiServer: cluster.transport });
    await manage(service.url, 'POST', '', { name: 'Pods', withKey: false });
    await manage(service.url, 'PUT', `/pods/service-accounts/${cluster.namespace}/web`);
    values = [secretValue('team/db'), secretValue('db-password')];
    await putSecret(service.url, 'pods', 'team/db', { value: values[0] });
    await putSecret(service.url, 'pods', 'db-password', { value: values[1] });
    writeFileSync(tokenFile, await cluster.tokenOf());
  });
  after(async () => {
    await service?.close();
    await database?.drop();
    await cluster?.close();
  });
  const run = async (program: string, parameters: readonly string[], further: Readonly<Record<string, string>> = {}) => {
    const { PATH = '', HOME = '' } = process.env;
    const { stdout } = await promisify(execFile)(program, [...parameters], { env: { PATH, HOME, VAULT_ADDR: service.url, ...further }, timeout: minutes });
    return JSON.parse(stdout) as unknown;
  };

  describeWith(commandLine('openssl'), 'as a workload identity of Azure', () => {
    let front: HttpsFront;
    before(async () => (front = await startHttpsFront(service.url)));
    after(() => front.close());
    const inPod = () => ({
      ...front.environment,
      ...{ AZURE_TENANT_ID: 'adfs', AZURE_CLIENT_ID: 'any', AZURE_AUTHORITY_HOST: `https://${host}`, AZURE_FEDERATED_TOKEN_FILE: tokenFile },
    });

    it('read by @azure/keyvault-secrets and its DefaultAzureCredential', async () => {
      const program = join(import.meta.dirname, 'azure-client-process.ts');
      const said = await run(process.execPath, [program, `https://${host}`, 'db-password'], inPod());
      expect(said).to.have.nested.property('secrets[0].value', values[1]);
      expect(said).to.deep.include({ listed: ['db-password', 'team%2Fdb'], refused: null });
    }).timeout(minutes);

    describeWith(pypi.need, 'in Python', () => {
      it('read by azure-keyvault-secrets, and by hvac after its login of Kubernetes', async () => {
        const said = await run(join(pypi.directory, 'bin/python'), [join(pypi.directory, 'in-pod.py'), `https://${host}`], inPod());
        expect(said).to.deep.equal({ lease: true, authenticated: true, vault: values[0], denied: true, azure: values[1] });
      }).timeout(minutes);
    });
  });

  describeWith(modules.need, 'in Go', () => {
    it("read by Vault's own client after its login of Kubernetes", async () => {
      const said = await run(join(modules.directory, 'client-in-pod'), [tokenFile]);
      expect(said).to.deep.equal({ lease: true, value: values[0], denied: true });
    }).timeout(minutes);
  });
});
