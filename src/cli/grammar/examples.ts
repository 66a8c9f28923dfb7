/** A command line and what it does. */
export type Example = readonly [line: string, meaning: string];

/** The examples at the end of a command's help. */
export function examples(...list: readonly Example[]): string {
  return `\nExamples:\n${list.map(([line, meaning]) => `  # ${meaning}\n  ${line}`).join('\n')}`;
}
