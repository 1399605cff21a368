// A deployable and a worker as the `signalbox` command knows them.
import type { Environment, SettingFamily, Settings } from '../config/config.ts';
import type { MigrationSource } from '../postgres/migrations.ts';
import type { Runtimes } from './runtime.ts';

export type Runtime = ReturnType<Runtimes['of']>;

export type Worker<Config = unknown> = {
  readonly summary: string;
  /** @throws ConfigError with every fault */
  read(environment: Environment): Config | Promise<Config>;
  /** Begins to work, and goes on until the lifecycle stops. */
  start(runtime: Runtime, config: Config): Promise<void>;
  /** Does one job and ends; throws when the job failed. */
  once(runtime: Runtime, config: Config): Promise<void>;
};

/** A holder of several deployables hands each the configuration that it read itself: methods, so that their types agree. */
export type Deployable<Config = unknown> = {
  /** Its folder and its name in commands and charts. */
  readonly name: string;
  readonly summary: string;
  /** The settings of `read`, for the settings table and for generated values. */
  readonly settings: Settings;
  /** Settings whose names are numbered or hold a name, for the settings table. */
  readonly settingFamilies?: readonly SettingFamily[];
  readonly migrations: MigrationSource;
  /** Whether it serves an API description; pages for people have none. Default: true. */
  readonly isDescribed?: boolean;
  /** The whole configuration, once, before anything is opened. @throws ConfigError with every fault */
  read(environment: Environment): Config | Promise<Config>;
  /** Starts serving; returns when it listens. */
  start(runtime: Runtime, config: Config): Promise<void>;
  readonly workers?: Readonly<Record<string, Worker>>;
};
