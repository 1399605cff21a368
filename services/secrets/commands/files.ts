// What a file of the command line refuses, in words that name it.

const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not open it',
  EROFS: 'it is on a file system that takes no writes',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
  EPIPE: 'whoever read it has gone',
  EMFILE: 'too many files are open',
};

/** For a promise's `catch`. @throws Error that names the file, what it was wanted for and why not; anything else as it is */
export const explainFile =
  (file: string, what: 'read' | 'written') =>
  (error: unknown): never => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = words[code];
    throw reason === undefined ? error : new Error(`${file} cannot be ${what}: ${reason} (${code})`, { cause: error });
  };
