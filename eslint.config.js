// The rules of style that a program can check; layers are in .dependency-cruiser.cjs, layout is Prettier's.
import eslint from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { functionLength } from './scripts/lint/function-length.ts';

const counted = { skipBlankLines: true, skipComments: true };

/** Files with a function of more than 80 lines, until it is divided: no new ones. */
const longFunctions = ['services/platform/broker/{amqp/publisher,postgres/consumer}.ts', 'services/webhook-intake/forge/connections.ts'];

export default defineConfig(
  globalIgnores(['.signalbox/', 'docs/', 'charts/', 'k8s/', 'site/**', 'clients/npm/dist/', 'clients/npm/src/*-api.ts']),
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-definitions': ['error', 'type'],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/prefer-readonly': 'error',
      // Numbers and other values that print well need no `String()` in a message.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowRegExp: true, allow: [{ name: ['Error', 'URL'], from: 'lib' }] },
      ],
      // `if (done) return channel.ack(message);` reads well.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/require-await': 'off',
      // It assumes that a condition still holds after an `await`: an aborted signal, a variable that a callback sets.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      // `void` also marks a value that is dropped on purpose.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // `[...text]` gives code points, which are the unit of lengths here.
      '@typescript-eslint/no-misused-spread': ['error', { allow: [{ from: 'lib', name: 'string' }] }],
      // Factories return closures, which need no `this`.
      '@typescript-eslint/unbound-method': 'off',
      // `Promise.withResolvers<void>()` is the way to wait for an event without a value.
      '@typescript-eslint/no-invalid-void-type': 'off',
      // noPropertyAccessFromIndexSignature of tsconfig.json requires the brackets that this rule would remove.
      '@typescript-eslint/dot-notation': 'off',
    },
  },
  {
    files: ['**/*.{js,ts}'],
    plugins: { house: { rules: { 'function-length': functionLength } } },
    rules: {
      'max-lines': ['error', { max: 300, ...counted }],
      'house/function-length': ['error', { own: 40, whole: 80 }],
      'max-params': ['error', 3],
      'no-restricted-properties': ['error', { object: 'process', property: 'env', message: 'The environment is read in main.ts files and handed on.' }],
      'no-restricted-imports': [
        'error',
        { paths: [{ name: 'node:process', importNames: ['env'], message: 'The environment is read in main.ts files and handed on.' }] },
      ],
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true, defaultFrom: true, namedFrom: true, namespaceFrom: true } }],
      'no-console': 'error',
      'object-shorthand': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  { files: longFunctions, rules: { 'house/function-length': ['error', { own: 40, whole: 120 }] } },
  // Configuration files of programs need a default export.
  { files: ['*.config.js'], rules: { 'no-restricted-exports': 'off' } },
  { files: ['**/*.cjs'], languageOptions: { globals: { module: 'writable', require: 'readonly' } } },
  { files: ['**/main.ts', 'scripts/**', 'test/**', 'clients/**'], rules: { 'no-restricted-properties': 'off', 'no-restricted-imports': 'off' } },
  // Only the platform has type assertions, each with its reason.
  {
    files: ['services/**/*.ts'],
    ignores: ['services/platform/**'],
    rules: { '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }] },
  },
  { files: ['services/main.ts', 'services/laptop/**', 'scripts/**', 'test/bench/**', 'test/**/*-process.ts'], rules: { 'no-console': 'off' } },
  // Pure SQL: a statement's values are its parameters.
  { files: ['services/**/store.ts', 'services/**/*-store.ts'], rules: { 'max-params': ['error', 4] } },
  {
    files: ['test/**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 400, ...counted }],
      // The callback of a `describe` groups tests and may be long.
      'house/function-length': 'off',
      'max-params': ['error', 4],
      // Answers of supertest and rows of pg are `any`: the test asserts their shape.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      // Tests print secrets to see that they are redacted.
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/restrict-plus-operands': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      // `expect(x).to.be.true` is an assertion.
      '@typescript-eslint/no-unused-expressions': 'off',
    },
  },
);
