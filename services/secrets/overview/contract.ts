// The schemas of the overview of secrets: applications, coverage of environments, what expires, reads by day, and the audit. None has a value.
import { z } from 'zod';
import { encodeCursor, queryBoolean, queryChoice, queryCursor, queryInteger, textFor, Timestamp, TimestampInput } from '../../platform/schema.ts';
import { dayMs, hourMs } from '../../platform/time.ts';
import { CursorName, Limit, Name, Next } from '../contract.ts';

/** A part of a name, in any case. */
const Part = (what: string) => Name.optional().meta({ description: `A part of ${what}, in any case` });

const summaryList = 'application-summaries';
export const SummariesQuery = z.object({
  q: Part('the slug or the name of the application'),
  limit: Limit,
  after: queryCursor(summaryList, z.tuple([CursorName])),
});
export const summaryCursor = ({ slug }: { readonly slug: string }) => encodeCursor(summaryList, [slug]);
/** How far ahead an application's summary looks for versions that expire. */
export const summaryDays = 30;

export const ApplicationSummary = z
  .object({
    slug: z.string().describe('The slug of the application'),
    name: z.string().describe('Its name for people'),
    description: z.string().nullable().describe('A description in words'),
    environments: z.int32().min(0).describe('How many environments it has'),
    secrets: z.int32().min(0).describe('How many secrets it has'),
    keys: z.int32().min(0).describe('How many keys are valid'),
    lastUsedAt: Timestamp.nullable().describe('When an application last read with a key of it, or with a token of a bound account, to the minute; null: never'),
    expiring: z.int32().min(0).describe(`How many versions expire within ${summaryDays} days, while no newer one takes their place`),
    expiresAt: Timestamp.nullable().describe('When the first of them expires; null: none does'),
  })
  .meta({
    id: 'ApplicationSummary',
    description: 'An application with what there is to look after.',
    examples: [
      {
        slug: 'shop',
        name: 'Shop',
        description: 'The web shop',
        environments: 3,
        secrets: 12,
        keys: 2,
        lastUsedAt: '2026-03-15T12:05:00.000Z',
        expiring: 1,
        expiresAt: '2026-03-29T12:00:00.000Z',
      },
    ],
  });
export const ApplicationSummaries = z
  .object({ items: z.array(ApplicationSummary).describe('The applications, by slug'), next: Next })
  .meta({ id: 'ApplicationSummaries', description: 'A page of the summaries of applications.' });

const coverageList = 'coverage';
export const CoverageQuery = z.object({
  q: Part('the name of the secret'),
  lacking: queryBoolean.optional().meta({ description: 'Whether only secrets are listed that lack a value in an environment' }),
  limit: Limit,
  after: queryCursor(coverageList, z.tuple([CursorName])),
});
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

const units: Readonly<Record<string, number>> = { d: dayMs, h: hourMs, m: 60_000 };

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
  expired: Duration.optional().meta({ description: 'How far back, too: those that expired within this time, before the others', override: { type: 'string' } }),
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
    description: 'A version that expires or has expired, and that no newer one replaces by then.',
    examples: [{ application: 'shop', environment: 'production', secret: 'tls-key', version: 3, expiresAt: '2026-03-15T12:00:00.000Z' }],
  });
export const Expiring = z
  .object({ items: z.array(ExpiringVersion).describe('The versions, those first that expire first'), next: Next })
  .meta({ id: 'Expiring', description: 'A page of versions that expire.' });

export const ReadsQuery = z.object({
  secret: Name.optional().meta({ description: 'The name of a secret; left out: all secrets of the application' }),
  days: queryInteger({ min: 1, max: 366, default: 30 }).meta({ description: 'How many days of UTC, today included' }),
});
const ReadPoint = z
  .object({ day: z.iso.date().describe('A day of UTC'), reads: z.int().min(1).describe('How many reads were answered') })
  .meta({ id: 'ReadPoint', description: 'A day on which there were reads.' });
export const ReadStatistics = z
  .object({
    from: z.iso.date().describe('The first day'),
    to: z.iso.date().describe('Today, which is not over'),
    series: z
      .array(
        z
          .object({
            environment: z.string().describe('The slug of the environment that was asked'),
            points: z.array(ReadPoint).describe('Its days with reads, oldest first'),
          })
          .meta({ id: 'ReadSeries', description: 'The reads in an environment.' }),
      )
      .describe('Each environment with reads, oldest first'),
  })
  .meta({
    id: 'ReadStatistics',
    description: 'How often applications read secrets, by environment and day.',
    examples: [{ from: '2026-02-14', to: '2026-03-15', series: [{ environment: 'production', points: [{ day: '2026-03-15', reads: 240 }] }] }],
  });
export type ReadStatistics = z.output<typeof ReadStatistics>;

/** `command`: `signalbox secrets`, which works on the database itself. */
export const planes = ['management', 'consumer', 'command'] as const;
export type Plane = (typeof planes)[number];

export const actions = [
  'application.create',
  'application.update',
  'application.delete',
  'application.rotate-key',
  'application.create-key',
  'application.delete-key',
  'application.bind-account',
  'application.unbind-account',
  'environment.create',
  'environment.update',
  'environment.delete',
  'secret.create',
  'secret.delete',
  'secret.add-version',
  'secret.enable-version',
  'secret.disable-version',
  'secret.restore-version',
  'secret.read',
  'secret.list',
  'secret.copy',
  'secret.import',
  'configuration.import',
  'configuration.create',
  'configuration.update',
  'configuration.delete',
  'backup.begin',
  'backup.end',
  'backup.restore',
  'rewrap.begin',
  'rewrap.end',
] as const;
export type Action = (typeof actions)[number];

/** `refused`: a stored value that was changed or moved. `unavailable`: the master keys or the database. */
export const outcomes = ['done', 'not-found', 'conflict', 'invalid', 'unavailable', 'refused', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];

const auditList = 'audit';
const AuditPlane = z.enum(planes).meta({ id: 'AuditPlane', description: 'Who asked: an administrator, an application, or a command' });
const AuditOutcome = z.enum(outcomes).meta({ id: 'AuditOutcome', description: 'How it ended' });
export const AuditQuery = z.object({
  application: Name.optional().meta({ description: 'The slug of the application' }),
  plane: queryChoice(AuditPlane).optional().meta({ description: 'Who asked: an administrator, an application, or a command' }),
  actor: Name.optional().meta({ description: 'The id of the key or token, as entries have it' }),
  person: Name.optional().meta({ description: 'The name of the person in the console' }),
  subject: Name.optional().meta({ description: 'The name of the secret, the key of the entry, or the id of a key' }),
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
    person: z.string().nullable().describe('The person that the console asked for; null: of any other client'),
    action: z.string().describe('The action, such as `secret.read`'),
    application: z.string().describe('The slug of the application as it was asked for; `*` of a command'),
    environment: z.string().nullable().describe('The slug of the environment'),
    subject: z.string().nullable().describe("The secret's name, the entry's key, or the id of a key"),
    version: z.int32().nullable().describe('The version that was served or added'),
    outcome: AuditOutcome,
    detail: z.string().nullable().describe('Why it was not done; of a copy, what was copied; of a key, its name'),
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
        person: 'ada',
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
