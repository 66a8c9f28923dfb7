/** A word for POSIX shells: unchanged if it has no special characters, else in single quotes. */
export function shellWord(word: string): string {
  return /^[\w./@%+:,-][\w./@%+:,=-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
