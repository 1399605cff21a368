// What the audit keeps of one act: who, what, when, and how it ended.

/** `command`: `signalbox secrets`, which works on the database itself. */
export type Plane = 'management' | 'consumer' | 'command';

export type Action =
  | 'application.create'
  | 'application.update'
  | 'application.delete'
  | 'application.rotate-key'
  | 'environment.create'
  | 'environment.delete'
  | 'secret.create'
  | 'secret.delete'
  | 'secret.add-version'
  | 'secret.read'
  | 'configuration.create'
  | 'configuration.update'
  | 'configuration.delete'
  | 'backup.begin'
  | 'backup.end'
  | 'backup.restore'
  | 'rewrap.begin'
  | 'rewrap.end';

/** `refused`: a stored value that was changed or moved. `unavailable`: the master keys or the database. */
export type Outcome = 'done' | 'not-found' | 'conflict' | 'invalid' | 'unavailable' | 'refused' | 'failed';

/** Who asks. */
export type Actor = {
  readonly plane: Plane;
  /** Which token or key it was, of a command the role at the database; never the credential itself. */
  readonly keyId: string;
  readonly requestId: string;
};

/** What was asked for, in the words of the request. */
export type Target = {
  readonly action: Action;
  /** A slug; of a command `*`. */
  readonly application: string;
  readonly environment?: string;
  /** The secret's name or the entry's key. */
  readonly subject?: string;
};

export type AuditEntry = {
  readonly id: string;
  readonly occurredAt: Date;
  readonly plane: Plane;
  readonly keyId: string;
  readonly action: Action;
  readonly application: string;
  readonly applicationId: string | null;
  readonly environment: string | null;
  readonly subject: string | null;
  readonly version: number | null;
  readonly outcome: Outcome;
  readonly requestId: string;
};
