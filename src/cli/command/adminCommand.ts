import { shellWord } from '../../core/text/shellWord.ts';

/** A command that a message proposes, such as `key add ada`, for the data folder that the current command was given. */
export function adminCommand(line: string, { data }: { readonly data?: string | undefined }): string {
  return `farwharf admin ${line}${data === undefined ? '' : ` --data ${shellWord(data)}`}`;
}
