import { expect } from 'chai';
import { ESLint } from 'eslint';

describe('the lint', () => {
  it('fails: one text breaks a rule of TypeScript, of this house and of length', async function () {
    // The first file waits for the types of the whole project.
    this.timeout(300_000);
    const eslint = new ESLint({ cwd: new URL('../..', import.meta.url).pathname });
    const long = `export function long(): void {\n${"  process.stdout.write('');\n".repeat(39)}}\n`;
    const text = `export const level: any = process.env['LEVEL'];\n${long}${"process.stdout.write('');\n".repeat(300)}`;
    const [result] = await eslint.lintText(text, { filePath: 'services/laptop/up.ts' });
    const broken = result?.messages.map(({ ruleId }) => ruleId).sort();
    expect(broken).to.deep.equal(['@typescript-eslint/no-explicit-any', 'house/function-length', 'max-lines', 'no-restricted-properties']);
  });
});
