import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';

/** A job's ID as the last argument of a command that people copy. Services can choose IDs that look like options, and users type anything. */
export function jobArgument(id: string): string {
  const word = shellWord(printableLine(id));
  return id.startsWith('-') ? `-- ${word}` : word;
}
