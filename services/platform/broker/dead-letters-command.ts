// The `dead-letters` command: lists the dead letters of each connection with their reasons, sends them back, or drops them.
import { z } from 'zod';
import type { Environment, SettingFamily, Settings } from '../config/config.ts';
import { describeError } from '../errors.ts';
import { readOptions, type Subcommand } from '../process/subcommand.ts';
import { tableOf, visible } from '../process/table.ts';
import { queryInteger } from '../schema.ts';
import type { Broker, DeadLetterSelection, Message, Topology } from './broker.ts';
import { onConnection, type OpenedConnection, selectionOf } from './dead-letters.ts';

/** For commands, which connect for their one task. */
export const connectTimeoutMs = 15_000;

type DeadLettersCommand = {
  /** All queues of the flow, whatever the settings. */
  readonly queues: Topology['queues'];
  readonly summary: string;
  readonly settings: Settings;
  readonly settingFamilies?: readonly SettingFamily[];
  /** The connections that the environment names, each to be opened when its turn comes. */
  readonly read: (environment: Environment) => Promise<readonly OpenedConnection[]>;
  /** The body of a message as people read it; as it is unless given. */
  readonly bodyOf?: (message: Message) => Promise<Buffer>;
};

type Action = (
  connection: { readonly name: string; readonly broker: Broker; readonly print: (text: string) => void },
  selection: DeadLetterSelection,
) => Promise<void>;

const actionNames = ['list', 'show', 'send-back', 'drop'] as const;

/** An empty one would mean all: `drop --reason "$unset"`. */
const Wanted = z.string().refine((text) => text.trim() !== '', { error: 'must not be empty' });

export function createDeadLettersCommand({
  queues,
  summary,
  settings,
  settingFamilies = [],
  read,
  bodyOf = ({ body }) => Promise.resolve(body),
}: DeadLettersCommand): Subcommand {
  const names = queues.map(({ name }) => name);
  const Options = z.object({
    queue: z.enum(names, { error: `must be one of ${names.join(', ')}` }).optional(),
    reason: Wanted.optional(),
    message: Wanted.optional(),
    limit: queryInteger({ min: 1, max: 1_000_000, default: 100 }),
  });
  const actions = { list, show: show(bodyOf), 'send-back': sendBack, drop };
  return {
    summary,
    examples: ['dead-letters list', 'dead-letters send-back --reason "timed out"'],
    operands: `[${actionNames.join('|')}]`,
    options: [
      ...(names.length > 1 ? [{ flags: '--queue <queue>', summary: 'only those that came from it', values: names }] : []),
      { flags: '--reason <text>', summary: 'only those whose reason holds this text, in any case' },
      { flags: '--message <id>', summary: 'only this message' },
      { flags: '--limit <count>', summary: 'at most so many of each connection, oldest first; default: 100' },
    ],
    settings,
    settingFamilies,
    isForDataFolder: true,
    async run({ environment, options, rest, print, writeError, stopping }) {
      const { limit, ...wanted } = readOptions(Options, options);
      const action = actionOf(rest);
      if (action === 'drop' && Object.keys(wanted).length === 0)
        throw new Error(`drop needs ${names.length > 1 ? '--queue, ' : ''}--reason or --message: what is dropped is gone`);
      const selection = selectionOf({ ...wanted, limit });
      let exitCode = 0;
      for (const connection of await read(environment)) {
        if (stopping.aborted) return 1;
        const { name } = connection;
        const { error } = await onConnection(connection, connectTimeoutMs, (broker) => actions[action]({ name, broker, print }, selection));
        if (error === undefined) continue;
        writeError(`${name}: ${error}`);
        exitCode = 1;
      }
      return exitCode;
    },
  };
}

function actionOf(rest: readonly string[]): (typeof actionNames)[number] {
  const [word = 'list', ...more] = rest;
  const action = actionNames.find((name) => name === word);
  if (action === undefined || more.length > 0) throw new Error(`what to do must be one of ${actionNames.join(', ')}, got "${rest.join(' ')}"`);
  return action;
}

const list: Action = async ({ name, broker, print }, selection) => {
  const found = await broker.listDeadLetters(selection);
  const rows = found.map(({ id, type, headers }) => [
    headers['x-dead-at'] ?? '',
    headers['x-dead-queue'] ?? '',
    id,
    type,
    headers['x-dead-returns'] ?? '0',
    headers['x-dead-reason'] ?? '',
  ]);
  const head = ['DEAD SINCE', 'QUEUE', 'MESSAGE', 'EVENT', 'RETURNS', 'REASON'];
  print(
    found.length === 0
      ? `${name}: no dead letters\n`
      : `${name}: ${found.length} ${found.length === 1 ? 'dead letter' : 'dead letters'}${limitNote(found.length, selection)}\n${tableOf(head, rows)}`,
  );
};

/** One at a time: a body may be large. */
const show =
  (bodyOf: (message: Message) => Promise<Buffer>): Action =>
  async ({ name, broker, print }, selection) => {
    let count = 0;
    for await (const message of broker.readDeadLetters(selection)) {
      count += 1;
      const lines = [`message ${message.id} of ${name}`, `event: ${message.type}`, ...Object.entries(message.headers).map((header) => header.join(': '))];
      // A body that cannot be unpacked may be the reason that it is here.
      const body = await bodyOf(message).catch((error: unknown) =>
        Buffer.from(`(the body of ${message.body.length} bytes cannot be read: ${describeError(error)})`),
      );
      const text = body.toString().split('\n');
      print(`${[...lines, '', ...text].map(visible).join('\n')}\n\n`);
    }
    if (count === 0) print(`${name}: no dead letters\n`);
  };

const sendBack: Action = async ({ name, broker, print }, selection) => {
  const { returned, kept } = await broker.returnDeadLetters(selection);
  print(`${name}: ${returned} returned, ${kept} kept${limitNote(returned, selection)}\n`);
};

const drop: Action = async ({ name, broker, print }, selection) => {
  const dropped = await broker.dropDeadLetters(selection);
  print(`${name}: ${dropped} dropped${limitNote(dropped, selection)}\n`);
};

const limitNote = (done: number, { limit }: DeadLetterSelection) => (done === limit ? '; there may be more, --limit is reached' : '');
