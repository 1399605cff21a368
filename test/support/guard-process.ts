// The program of guard.ts: hears what a test run starts, and cleans up when that run has ended, however it ended.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** One line of JSON each. */
export type GuardOrder = { readonly do: 'guard' | 'forget'; readonly pid: number } | { readonly do: 'remove'; readonly path: string };

if (import.meta.main) await guard();

async function guard(): Promise<void> {
  const pids = new Set<number>();
  const paths = new Set<string>();
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line) as GuardOrder;
    if (order.do === 'remove') paths.add(order.path);
    else if (order.do === 'guard') pids.add(order.pid);
    else pids.delete(order.pid);
  }
  for (const pid of pids) kill(pid);
  for (const path of paths) rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

// A leader of a group takes the group with it.
function kill(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // It has ended already, or leads no group.
    }
  }
}
