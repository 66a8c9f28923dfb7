const WORD = /[\p{L}\p{N}_$]+/gu;
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+/gu;

/** Words whole and in the parts of their identifiers, as our own analysis has them. */
export function codeTokens(text: string): string[] {
  return (text.match(WORD) ?? []).flatMap((word) => {
    const parts = word.match(PART) ?? [];
    return parts.length > 1 ? [word, ...parts] : [word];
  });
}
