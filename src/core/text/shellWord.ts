/** A word as POSIX shells read it: as it is where nothing in it has a meaning of its own, else in single quotes. */
export function shellWord(word: string): string {
  return /^[\w./@%+:,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
