import { expect } from 'chai';
import { ESLint } from 'eslint';

const eslint = new ESLint({ cwd: new URL('../..', import.meta.url).pathname });

/** What the rules say of a text that stood in place of this file. */
async function faults(file: string, text: string): Promise<(string | null)[]> {
  const [result] = await eslint.lintText(text, { filePath: file });
  return result?.messages.map(({ ruleId, message }) => ruleId ?? message) ?? [];
}

const platform = 'services/platform/log.ts';
const laptop = 'services/laptop/main.ts';
const deep = 'services/laptop/up.ts';
const test = 'test/support/wait.test.ts';

const refused: readonly (readonly [what: string, file: string, text: string, rule: string])[] = [
  ['the environment outside a main.ts', platform, `export const level = process.env['LOG_LEVEL'];`, 'no-restricted-properties'],
  ['the environment by destructuring', platform, 'export const { env } = process;', 'no-restricted-properties'],
  ['the environment by import', platform, `import { env } from 'node:process';\nexport const level = env['LOG_LEVEL'];`, 'no-restricted-imports'],
  ['a default export', platform, 'export default 1;', 'no-restricted-exports'],
  ['any', platform, 'export const f = (x: any): unknown => x;', '@typescript-eslint/no-explicit-any'],
  ['a non-null assertion', platform, 'export const f = (x?: string): string => x!;', '@typescript-eslint/no-non-null-assertion'],
  ['a value import of a type', platform, `import { Logger } from 'pino';\nexport type Log = Logger;`, '@typescript-eslint/consistent-type-imports'],
  ['console', platform, `console.log('here');`, 'no-console'],
  ['a type assertion outside the platform', deep, 'export const f = (x: unknown): string => x as string;', '@typescript-eslint/consistent-type-assertions'],
  ['a forgotten promise', deep, 'const f = (): Promise<void> => Promise.resolve();\nf();', '@typescript-eslint/no-floating-promises'],
  ['a fourth parameter', deep, 'export const f = (a: 1, b: 2, c: 3, d: 4): number[] => [a, b, c, d];', 'max-params'],
  ['a function of 41 lines', deep, `export function f(): void {\n${"  process.stdout.write('');\n".repeat(39)}}`, 'house/function-length'],
  ['a file of 201 lines', deep, "process.stdout.write('');\n".repeat(201), 'max-lines'],
];

const allowed: readonly (readonly [what: string, file: string, text: string])[] = [
  ['the environment in a main.ts', laptop, `export const level = process.env['LOG_LEVEL'];`],
  ['console on the laptop', laptop, `console.log('here');`],
  ['a type assertion in the platform', platform, 'export const f = (x: unknown): string => x as string;'],
  ['a constant assertion', deep, `export const kind = 'loud' as const;`],
  ['a long describe', test, `describe('a', () => {\n${"  it('b', () => undefined);\n".repeat(60)}});`],
  ['a file of 200 lines', deep, "process.stdout.write('');\n".repeat(200)],
];

describe('the lint rules', function () {
  // The first file waits for the types of the whole project.
  this.timeout(300_000);

  for (const [what, file, text, rule] of refused) {
    it(`refuse ${what}`, async () => {
      expect(await faults(file, text)).to.deep.equal([rule]);
    });
  }

  for (const [what, file, text] of allowed) {
    it(`allow ${what}`, async () => {
      expect(await faults(file, text)).to.deep.equal([]);
    });
  }
});
