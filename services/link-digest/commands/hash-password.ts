// `signalbox digest hash-password`: prints the hash of a password.
import { readPassword } from '../../platform/process/input.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { hashPassword } from '../../platform/password.ts';

export const hashPasswordCommand: Subcommand = {
  summary: 'print the Digest__AdminPasswordHash of a password from the prompt or standard input',
  examples: ['hash-password', 'hash-password < password.txt'],
  options: [],
  settings: {},
  async run({ print, stopping }) {
    const password = await readPassword('Password: ', stopping);
    if (password === '') throw new Error('the password is empty');
    print(`${await hashPassword(password)}\n`);
    return 0;
  },
};
