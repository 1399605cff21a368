// Servers that a machine may lack: suites that need one are skipped by name, or fail with CI=true.

export type Need = {
  readonly name: string;
  /** Why it is missing; undefined when it is present. */
  readonly missing: string | undefined;
};

const notRun = new Map<string, string>();

/** The reporter's closing lines: `RabbitMQ suites (no rabbitmq-server on PATH, no TEST_AMQP_URL)`. */
export const suitesNotRun = (): readonly string[] => [...notRun].map(([name, reason]) => `${name} suites (${reason})`);

/** A `describe` whose tests are pending where the server is missing; with `CI=true` that is a failure. */
export function describeWith({ name, missing }: Need, title: string, body: (this: Mocha.Suite) => void): void {
  if (missing === undefined) {
    describe(title, body);
    return;
  }
  notRun.set(name, missing);
  if (process.env['CI'] === 'true') {
    describe(title, () => {
      it(`has ${name}`, () => {
        throw new Error(`${name} must be on a CI machine: ${missing}`);
      });
    });
  } else describe.skip(title, body);
}
