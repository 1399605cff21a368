import { RuleTester } from 'eslint';
import { functionLength } from '../../scripts/lint/function-length.ts';

const body = (lines: number) => 'a();\n'.repeat(lines);
const long = (lines: number, max: number) => ({ messageId: 'long', data: { lines: String(lines), max: String(max) } });

// It declares its suites and tests by itself.
new RuleTester().run('function-length', functionLength, {
  valid: [
    { name: 'leaves a function of the length alone', code: `function f() {\n${body(3)}}`, options: [5] },
    { name: 'counts neither blank lines nor comments', code: `function f() {\n${body(3)}\n\n// why\n/* more\n reasons */\n}`, options: [5] },
    {
      name: 'leaves the lines of inner functions to them',
      code: `function create() {\nconst g = () => {\n${body(3)}};\nreturn {\n  h() {\n${body(3)}},\n};\n}`,
      options: [5],
    },
  ],
  invalid: [
    { name: 'refuses a longer function', code: `function f() {\n${body(4)}}`, options: [5], errors: [long(6, 5)] },
    { name: 'refuses a longer arrow function', code: `const f = () => {\n${body(4)}};`, options: [5], errors: [long(6, 5)] },
    {
      name: 'refuses a longer inner function, and not the one around it',
      code: `function f() {\nconst g = () => {\n${body(4)}};\n}`,
      options: [5],
      errors: [long(6, 5)],
    },
    {
      name: 'refuses a factory whose own lines are too many',
      code: `function f() {\nconst g = () => {\n${body(3)}};\n${body(4)}}`,
      options: [5],
      errors: [long(6, 5)],
    },
  ],
});
