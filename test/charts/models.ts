// Objects of other operators against their own schemas and types, as @kubernetes-models has them from their definitions.
import { join } from 'node:path';
import ts from 'typescript';
import { z } from 'zod';
import { keyOf, type Manifest } from './manifests.ts';

/** apiVersion → the module with its kinds. */
const modules = new Map([
  ['argoproj.io/v1alpha1', () => import.meta.resolve('@kubernetes-models/argo-cd/argoproj.io/v1alpha1')],
  ['external-secrets.io/v1', () => import.meta.resolve('@kubernetes-models/external-secrets/external-secrets.io/v1')],
  ['helm.toolkit.fluxcd.io/v2', () => import.meta.resolve('@kubernetes-models/flux-cd/helm.toolkit.fluxcd.io/v2')],
  ['keda.sh/v1alpha1', () => import.meta.resolve('@kubernetes-models/keda/keda.sh/v1alpha1')],
  ['monitoring.coreos.com/v1', () => import.meta.resolve('@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1')],
  ['source.toolkit.fluxcd.io/v1', () => import.meta.resolve('@kubernetes-models/flux-cd/source.toolkit.fluxcd.io/v1')],
]);

/** Whether there is a schema for it. */
export const hasModel = ({ apiVersion }: Manifest): boolean => modules.has(apiVersion);

const urlOf = ({ apiVersion }: Manifest): string => {
  const resolve = modules.get(apiVersion);
  if (resolve === undefined) throw new Error(`there is no model of ${apiVersion}`);
  return resolve();
};

/** A class whose instances say what is wrong with them. */
const Model = z.custom<new (manifest: Manifest) => { validate(): void }>((value) => typeof value === 'function');

/** @throws Error that names the member whose value is not as the schema wants it */
export async function validate(manifest: Manifest): Promise<void> {
  const module: unknown = await import(urlOf(manifest));
  const kinds = z.record(z.string(), z.unknown()).parse(module);
  const OfKind = Model.parse(kinds[manifest.kind], { error: () => `no model of ${keyOf(manifest)}` });
  new OfKind(manifest).validate();
}

/** The schemas let members through that they do not know; the types do not. */
export function unknownMembers(manifests: readonly Manifest[]): string[] {
  const file = join(import.meta.dirname, 'rendered.ts');
  const text = manifests
    .map((manifest, index) => `export const m${index}: import('${new URL(urlOf(manifest)).pathname}').I${manifest.kind} = ${JSON.stringify(manifest)};\n`)
    .join('');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, version) => (name === file ? ts.createSourceFile(name, text, version) : getSourceFile(name, version));
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
