import { shellWord } from '../../core/text/shellWord.ts';

/** A command that a message suggests, such as `key add ada`, for the data folder of the current command. */
export function adminCommand(line: string, { data }: { readonly data?: string | undefined }): string {
  return `farwharf admin ${line}${data === undefined ? '' : ` --data ${shellWord(data)}`}`;
}
