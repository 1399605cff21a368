// The text that Helm prints after installing a release `mine` in the namespace `signalbox`.
import { runTool } from '../support/tools.ts';
import { merged, type Values } from '../support/values.ts';
import { chart, someImage } from './chart.ts';

/** @throws what Helm says when it refuses */
export async function notes(values: Values, release = 'mine'): Promise<string> {
  const args = ['install', release, chart, '--namespace', 'signalbox', '--dry-run=client', '--values', '-'];
  const { code, stdout, stderr } = await runTool('helm', args, { input: JSON.stringify(merged(someImage, values)) });
  if (code !== 0) throw new Error(`helm refuses ${JSON.stringify(values)}: ${stderr}`);
  return stdout.slice(stdout.indexOf('NOTES:'));
}

/** A continued one as one line. */
export const commandsOf = (text: string) => [...text.replaceAll(/\\\n\s*/g, '').matchAll(/^ {5}((?:helm|kubectl) .*)$/gm)].map(([, command = '']) => command);
