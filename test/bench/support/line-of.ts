// How a program of a benchmark tells what it has to say: one line on its standard output.
import type { ChildProcess } from 'node:child_process';

/** The first line. Rejects when the program ends before it. */
export const lineOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`a program of the benchmark ended with ${code} before it said anything`)));
    child.stdout?.setEncoding('utf8').once('data', (text) => resolve(String(text).trim()));
  });
