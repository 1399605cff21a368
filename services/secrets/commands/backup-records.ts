// What the lines of a backup say once they are opened: a row each, and at the end how many there were.
import { z } from 'zod';

const Time = z.string().pipe(z.coerce.date());
const id = z.uuid();

const Application = z.object({
  kind: z.literal('application'),
  id,
  name: z.string(),
  slug: z.string(),
  description: z.string().nullable(),
  /** Base64. */
  keyHash: z.string(),
  keyId: id,
  createdAt: Time,
  updatedAt: Time,
  /** Deleted ones are kept too: the audit names them. */
  deletedAt: Time.nullable(),
});
const Environment = z.object({ kind: z.literal('environment'), id, applicationId: id, slug: z.string(), name: z.string(), createdAt: Time });
const Configuration = z.object({
  kind: z.literal('configuration'),
  id,
  environmentId: id,
  key: z.string(),
  value: z.string(),
  description: z.string().nullable(),
  createdAt: Time,
  updatedAt: Time,
});
const Secret = z.object({
  kind: z.literal('secret'),
  id,
  applicationId: id,
  name: z.string(),
  description: z.string().nullable(),
  createdAt: Time,
  updatedAt: Time,
});
const Version = z.object({
  kind: z.literal('version'),
  id,
  applicationId: id,
  secretId: id,
  environmentId: id,
  version: z.int(),
  isEnabled: z.boolean(),
  notBefore: Time.nullable(),
  expiresAt: Time.nullable(),
  createdAt: Time,
  value: z.string(),
});

export const RowRecord = z.discriminatedUnion('kind', [Application, Environment, Configuration, Secret, Version]);
export type RowRecord = z.output<typeof RowRecord>;
export type RowKind = RowRecord['kind'];
export type RowOf<K extends RowKind> = Omit<Extract<RowRecord, { kind: K }>, 'kind'>;

/** In the order in which rows may refer to those before them. */
export const kinds: readonly RowKind[] = ['application', 'environment', 'configuration', 'secret', 'version'];

const count = z.int().nonnegative();
export const EndRecord = z.object({
  kind: z.literal('end'),
  takenAt: Time,
  rows: z.object({ application: count, environment: count, configuration: count, secret: count, version: count }),
});
export type RowCounts = Record<RowKind, number>;
export const noRows = (): RowCounts => ({ application: 0, environment: 0, configuration: 0, secret: 0, version: 0 });

/** `2 applications, 3 environments, …` */
export const inWords = (rows: RowCounts): string =>
  kinds.map((kind) => `${rows[kind]} ${kind === 'configuration' ? 'configuration entries' : `${kind}s`}`).join(', ');

export const BackupRecord = z.union([RowRecord, EndRecord]);
