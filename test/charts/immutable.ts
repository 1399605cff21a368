// Fields that Kubernetes refuses to change in an existing object.
import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Manifest } from './manifests.ts';

/** Undefined for kinds of which everything may change. */
function fixedPart({ kind, spec = {} }: Manifest): unknown {
  switch (kind) {
    case 'Deployment':
      return spec.selector;
    case 'StatefulSet':
      return { ...spec, template: undefined, replicas: undefined };
    case 'Job':
      return spec.template;
    case 'Service':
      return spec.clusterIP;
    default:
      return undefined;
  }
}

/** Objects of an installation that a later rendering cannot be applied over, and StatefulSets with claims that it leaves out: their data would stay behind. */
export function brokenBy(before: readonly Manifest[], after: readonly Manifest[]): string[] {
  const later = new Map(after.map((manifest) => [keyOf(manifest), manifest]));
  return before.flatMap((manifest) => {
    const next = later.get(keyOf(manifest));
    if (next === undefined) return manifest.spec?.volumeClaimTemplates === undefined ? [] : [`${keyOf(manifest)} is gone`];
    return isDeepStrictEqual(fixedPart(next), fixedPart(manifest)) ? [] : [`${keyOf(manifest)} is immutable`];
  });
}
