// The schemas of the overview of secrets: coverage of environments, what expires, and the audit. None has a value.
import { z } from 'zod';
import { encodeCursor, queryChoice, queryCursor, textFor, Timestamp, TimestampInput } from '../../platform/schema.ts';
import { actions, outcomes, planes } from '../audit.ts';
import { CursorName, Limit, Name, Next } from '../contract.ts';

const coverageList = 'coverage';
export const CoverageQuery = z.object({ limit: Limit, after: queryCursor(coverageList, z.tuple([CursorName])) });
export const coverageCursor = (name: string) => encodeCursor(coverageList, [name]);

export const CoveredPlace = z
  .object({
    environment: z.string().describe('The slug of the environment'),
    version: z.int32().min(1).nullable().describe('The number of the version that is served; null: none'),
    newestVersion: z.int32().min(1).nullable().describe('The number of the newest version of its own; null: none'),
    createdAt: Timestamp.nullable().describe('When the version that is served was created'),
    expiresAt: Timestamp.nullable().describe('The version is served until this time, inclusive; null: without end'),
    lastReadAt: Timestamp.nullable().describe('When an application last read it there, to the minute; null: never'),
    inheritedFrom: z.string().nullable().describe('The slug of the environment that the version is inherited from; null: it is its own'),
  })
  .meta({ id: 'CoveredPlace', description: 'A secret in an environment.' });
export const CoveredSecret = z
  .object({
    name: z.string().describe('The name of the secret'),
    environments: z.array(CoveredPlace).describe('Each environment of the application, oldest first'),
  })
  .meta({
    id: 'CoveredSecret',
    description: 'A secret in all environments, without values.',
    examples: [
      {
        name: 'tls-key',
        environments: [
          {
            environment: 'production',
            version: 3,
            newestVersion: 3,
            createdAt: '2026-03-15T12:00:00.000Z',
            expiresAt: null,
            lastReadAt: '2026-03-15T12:05:00.000Z',
            inheritedFrom: null,
          },
        ],
      },
    ],
  });
export type CoveredSecret = z.output<typeof CoveredSecret>;
export const Coverage = z
  .object({ items: z.array(CoveredSecret).describe('The secrets, by name'), next: Next })
  .meta({ id: 'Coverage', description: 'A page of the secrets of an application, in all its environments.' });

const dayMs = 86_400_000;
const units: Readonly<Record<string, number>> = { d: dayMs, h: 3_600_000, m: 60_000 };

/** `30d`, `12h`, `90m`; milliseconds. */
function readDuration(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,6})([dhm])$/.exec(text) ?? [];
  const ms = Number(number) * (units[unit] ?? Number.NaN);
  return ms > 0 && ms <= 3650 * dayMs ? ms : undefined;
}
const Duration = textFor(readDuration, 'must be a number and d, h or m, such as 30d; at most 3650d').meta({
  override: { type: 'string', pattern: '^\\d{1,6}[dhm]$' },
});

const expiringList = 'expiring';
export const ExpiringQuery = z.object({
  within: Duration.default(30 * dayMs).meta({ description: 'How far ahead: `30d`, `12h`, `90m`', override: { type: 'string', default: '30d' } }),
  limit: Limit,
  after: queryCursor(expiringList, z.tuple([z.iso.datetime().transform((text) => new Date(text)), z.uuid()])),
});
export const expiringCursor = ({ expiresAt, id }: { readonly expiresAt: Date; readonly id: string }) => encodeCursor(expiringList, [expiresAt, id]);

export const ExpiringVersion = z
  .object({
    application: z.string().describe('The slug of the application'),
    environment: z.string().describe('The slug of the environment'),
    secret: z.string().describe('The name of the secret'),
    version: z.int32().min(1).describe('The number of the version'),
    expiresAt: Timestamp.describe('It is served until this time, inclusive'),
  })
  .meta({
    id: 'ExpiringVersion',
    description: 'A version that expires, and that no newer one replaces by then.',
    examples: [{ application: 'shop', environment: 'production', secret: 'tls-key', version: 3, expiresAt: '2026-03-15T12:00:00.000Z' }],
  });
export const Expiring = z
  .object({ items: z.array(ExpiringVersion).describe('The versions, those first that expire first'), next: Next })
  .meta({ id: 'Expiring', description: 'A page of versions that expire.' });

const auditList = 'audit';
const AuditPlane = z.enum(planes).meta({ id: 'AuditPlane', description: 'Who asked: an administrator, an application, or a command' });
const AuditOutcome = z.enum(outcomes).meta({ id: 'AuditOutcome', description: 'How it ended' });
export const AuditQuery = z.object({
  application: Name.optional().meta({ description: 'The slug of the application' }),
  plane: queryChoice(AuditPlane).optional().meta({ description: 'Who asked: an administrator, an application, or a command' }),
  actor: Name.optional().meta({ description: 'The id of the key or token, as entries have it' }),
  action: queryChoice(actions).optional().meta({ description: 'The action' }),
  outcome: queryChoice(AuditOutcome).optional().meta({ description: 'How it ended' }),
  from: TimestampInput.optional().describe('Entries from this time on, inclusive'),
  to: TimestampInput.optional().describe('Entries before this time'),
  limit: Limit,
  after: queryCursor(auditList, z.tuple([z.iso.datetime().transform((text) => new Date(text)), z.uuid()])),
});
export const auditCursor = ({ occurredAt, id }: { readonly occurredAt: Date; readonly id: string }) => encodeCursor(auditList, [occurredAt, id]);

export const AuditItem = z
  .object({
    id: z.uuid().describe('Its id'),
    occurredAt: Timestamp.describe('When it was'),
    plane: AuditPlane,
    keyId: z.string().describe('Which key or token it was, never the credential itself'),
    action: z.string().describe('The action, such as `secret.read`'),
    application: z.string().describe('The slug of the application as it was asked for; `*` of a command'),
    environment: z.string().nullable().describe('The slug of the environment'),
    subject: z.string().nullable().describe("The secret's name, the entry's key, or the id of a key"),
    version: z.int32().nullable().describe('The version that was served or added'),
    outcome: AuditOutcome,
    detail: z.string().nullable().describe('Why it was not done'),
    requestId: z.string().describe('The id of the request'),
  })
  .meta({
    id: 'AuditItem',
    description: 'An entry of the audit.',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        occurredAt: '2026-03-15T12:00:00.000Z',
        plane: 'management',
        keyId: 'admin-3f1c9a20',
        action: 'secret.copy',
        application: 'shop',
        environment: 'production',
        subject: 'tls-key',
        version: 3,
        outcome: 'done',
        detail: 'from staging, version 7',
        requestId: '0c1f6c1e-6a0f-4a5b-9f43-0d0b2f1c7e55',
      },
    ],
  });
export const AuditPage = z
  .object({ items: z.array(AuditItem).describe('The entries, newest first'), next: Next })
  .meta({ id: 'AuditPage', description: 'A page of the audit.' });
