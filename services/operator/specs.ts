// The specs of objects, read once for each version of an object.
import { hourMs } from '../platform/time.ts';
import type { z } from 'zod';
import type { KubeObject } from './cluster/cluster.ts';
import { keyText } from './secrets.ts';
import { notReady, type Readiness } from './status.ts';

/** The spec of an object; undefined when the schema refuses it, as it may for an object of an older definition. */
export function createSpecs<S extends z.ZodType>(schema: S) {
  const known = new WeakMap<KubeObject, z.output<S> | undefined>();
  return (object: KubeObject): z.output<S> | undefined => {
    if (!known.has(object)) known.set(object, schema.safeParse(object['spec']).data);
    return known.get(object);
  };
}

/** The readiness of an object whose spec the schema refuses, with the reason. */
export function faultOf(schema: z.ZodType, object: KubeObject): Readiness {
  const [issue] = schema.safeParse(object['spec']).error?.issues ?? [];
  const [cause = issue] = issue?.code === 'invalid_key' ? issue.issues : [];
  return notReady('ValueRefused', `spec.${issue?.path.map(String).join('.') ?? ''}: ${cause?.message ?? 'cannot be read'}`);
}

/** The keys of the objects whose spec passes the test. */
export const createReferring =
  <S>(specOf: (object: KubeObject) => S | undefined) =>
  (objects: readonly KubeObject[] | undefined, isMeant: (spec: S) => boolean): string[] =>
    (objects ?? []).flatMap((object) => {
      const spec = specOf(object);
      return spec !== undefined && isMeant(spec) ? [keyText(object.metadata)] : [];
    });

const unitMs: Readonly<Record<string, number>> = { h: hourMs, m: 60_000, s: 1000 };

/** `1h30m` in milliseconds. */
export const durationMs = (duration: string): number =>
  [...duration.matchAll(/(\d+)([hms])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * (unitMs[unit ?? ''] ?? 0), 0);
