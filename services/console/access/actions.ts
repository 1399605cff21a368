// The record of logins and actions: who, from where, what, and what came of it.
import { v7 as newId } from 'uuid';
import { storable } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import type { ActionRow, ConsoleStore } from '../store.ts';

/** `person` is empty where none is known. */
export type Recorded = Omit<ActionRow, 'id' | 'at' | 'name'> & {
  /** No log has it. */
  readonly name?: string | undefined;
};

const longest = { target: 500, name: 200 };

export type ActionRecord = ReturnType<typeof createActionRecord>;

export const createActionRecord = (parts: {
  readonly store: Pick<ConsoleStore, 'addAction'>;
  readonly clock: () => Date;
  readonly log: Log;
  readonly count: (recorded: Pick<Recorded, 'area' | 'outcome'>) => void;
}) => ({
  /** Counts what is not recorded. */
  count: parts.count,
  /** Never rejects: the action is done, and its person has to learn what came of it. */
  async add({ name, ...recorded }: Recorded): Promise<void> {
    const action = { ...recorded, target: storable(recorded.target.slice(0, longest.target)) };
    parts.count(action);
    parts.log.info(action, 'action');
    try {
      await parts.store.addAction({ id: newId(), at: parts.clock(), ...action, name: name === undefined ? null : storable(name.slice(0, longest.name)) });
    } catch (error) {
      parts.log.error({ error, requestId: action.requestId }, 'action was not recorded');
    }
  },
});
