// Characters that most terminals show two cells wide: the ranges of East_Asian_Width W and F (UAX #11), without single symbols among
// narrow ones, which are matched as emoji.
const WIDE = new RegExp(
  '[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\u4dbf\\u4e00-\\ua4cf\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff' +
    '\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6\\u{16fe0}-\\u{18d08}\\u{1aff0}-\\u{1b2fb}' +
    '\\u{1f200}-\\u{1f265}\\u{20000}-\\u{3fffd}]|\\p{Emoji_Presentation}',
  'u',
);
const EMOJI_STYLE = '\ufe0f';
// Combining marks, joiners and other characters without their own cell.
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]*$/u;
const SIMPLE = /^[ -~]*$/;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The width of a text without control characters in terminal cells: 2 for East Asian wide characters and emoji. */
export function textWidth(text: string): number {
  if (SIMPLE.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += cellsOf(segment);
  return width;
}

/** The text, or as much as fits into `width` cells with an ellipsis. */
export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let beginning = '';
  let left = width - 1;
  for (const { segment } of graphemes.segment(text)) {
    left -= cellsOf(segment);
    if (left < 0) break;
    beginning += segment;
  }
  return width > 0 ? `${beginning}…` : '';
}

/** The text, padded with spaces to `width` cells. */
export function padToWidth(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, width - textWidth(text)));
  return align === 'left' ? text + blanks : blanks + text;
}

function cellsOf(grapheme: string): number {
  if (NOTHING.test(grapheme)) return 0;
  return WIDE.test(grapheme) || grapheme.includes(EMOJI_STYLE) ? 2 : 1;
}
