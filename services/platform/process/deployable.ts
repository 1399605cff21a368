// What the `signalbox` command knows of each deployable, and what it hands to it.
import type { App } from '../http/app.ts';
import type { Environment, SettingFamily, Settings } from '../config/config.ts';
import type { Health } from '../http/health.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { MigrationSource } from '../postgres/migrations.ts';

export type Runtime = {
  readonly environment: Environment;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  /** Opens the public port; its closing is registered with the lifecycle. @returns where it listens */
  listen(app: App, port: number): Promise<{ readonly port: number }>;
};

export type Worker = {
  readonly summary: string;
  /** Reads its settings and throws a ConfigError with every fault. */
  check?(environment: Environment): unknown;
  /** Begins to work, and goes on until the lifecycle stops. */
  start(runtime: Runtime): Promise<void>;
  /** Does one job and ends; throws when the job failed. */
  once(runtime: Runtime): Promise<void>;
};

export type Deployable = {
  /** Its folder and its name in commands and charts. */
  readonly name: string;
  readonly summary: string;
  readonly settings: Settings;
  /** Settings whose names are numbered or hold a name, for the settings table. */
  readonly settingFamilies?: readonly SettingFamily[];
  readonly migrations: MigrationSource;
  /** Starts serving; returns when it listens. */
  start(runtime: Runtime): Promise<void>;
  readonly workers?: Readonly<Record<string, Worker>>;
  /** Reads all that `start` reads and throws a ConfigError with every fault; where the settings by themselves do not tell. */
  check?(environment: Environment): unknown;
};
