// Programs that use the client packages: each order is a line `["get", "db-password"]`, each answer a line, and events are news in between.

export const node = `
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { createSecrets } from 'signalbox-client/secrets';
import { followEvents } from 'signalbox-client/events';

const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
const failureOf = (error) => ({ failed: error.name, status: error.status ?? null, message: inspect(error, { depth: 9 }) });
let secrets, stopping;

async function follow({ heldAfter, stopAfter, failsToSave, ...options }) {
  stopping = new AbortController();
  let count = 0;
  const saveCursor = (cursor) => {
    if (failsToSave && count > 0) throw new Error('no room for the cursor');
    say({ news: 'cursor', value: cursor });
  };
  const onRetry = (failure) => say({ news: 'retry', value: failure.status ?? null });
  try {
    for await (const event of followEvents({ ...options, saveCursor, onRetry, signal: stopping.signal })) {
      say({ news: 'event', value: event.deliveryId });
      if (++count === heldAfter) await new Promise(() => undefined);
      if (count === stopAfter) stopping.abort();
    }
    say({ news: 'ended' });
  } catch (error) {
    say({ news: 'failed', value: failureOf(error) });
  }
}

const orders = {
  open: (options) => void (secrets = createSecrets(options)),
  get: (name) => secrets.get(name),
  getTwice: (name) => Promise.all([secrets.get(name), secrets.get(name)]),
  all: (prefix) => secrets.all({ prefix }),
  configuration: () => secrets.configuration(),
  inspect: () => inspect(secrets, { depth: 9, showHidden: true }) + JSON.stringify(secrets),
  follow: (options) => void follow(options),
  stop: () => stopping.abort(),
  timers: () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
};
for await (const line of createInterface({ input: process.stdin })) {
  const [order, ...given] = JSON.parse(line);
  try {
    say({ answer: (await orders[order](...given)) ?? null });
  } catch (error) {
    say({ answer: failureOf(error) });
  }
}
`;

export const python = `
import json, sys, threading, traceback
from signalbox_client.secrets import Secrets
from signalbox_client.events import Events

speaking = threading.Lock()

def say(line):
    with speaking: # a line of one thread is not within that of another
        print(json.dumps(line), flush=True)

def failure_of(error):
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=False).format()) + repr(error)
    return {"failed": type(error).__name__, "status": getattr(error, "status", None), "message": shown}

state = {}

def follow(options):
    held_after, stop_after, fails_to_save = (options.pop(name, 0) for name in ("held_after", "stop_after", "fails_to_save"))
    handled = []
    def save(cursor):
        if fails_to_save and handled:
            raise OSError("no room for the cursor")
        say({"news": "cursor", "value": cursor})
    def run():
        try:
            for event in state["events"]:
                handled.append(event)
                say({"news": "event", "value": event["deliveryId"]})
                if len(handled) == held_after:
                    threading.Event().wait()
                if len(handled) == stop_after:
                    state["events"].close()
            say({"news": "ended"})
        except Exception as error:
            say({"news": "failed", "value": failure_of(error)})
    state["events"] = Events(options.pop("url"), **options,
        save_cursor=save,
        on_retry=lambda failure: say({"news": "retry", "value": failure.status}))
    threading.Thread(target=run, daemon=True).start()

def get_twice(name):
    values = [None, None]
    def run(index):
        values[index] = state["secrets"].get(name)
    threads = [threading.Thread(target=run, args=(index,)) for index in (0, 1)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return values

orders = {
    "open": lambda options: state.update(secrets=Secrets(options.pop("environment"), **options)),
    "get": lambda name: state["secrets"].get(name),
    "getTwice": get_twice,
    "all": lambda prefix: state["secrets"].all(prefix),
    "configuration": lambda: state["secrets"].configuration(),
    "inspect": lambda: repr(state["secrets"]) + str(state["secrets"]),
    "follow": follow,
    "stop": lambda: state["events"].close(),
    "timers": lambda: 0,
}
for line in sys.stdin:
    order, *given = json.loads(line)
    try:
        say({"answer": orders[order](*given)})
    except Exception as error:
        say({"answer": failure_of(error)})
`;
