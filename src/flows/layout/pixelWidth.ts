const NARROW = /[fijlrtI.,:;'|!()[\] ]/;
const WIDE = /[mwMW@%\u1100-\uffff]/;

/** The approximate width of a text in a sans-serif font, in pixels: exact enough for layout, and the same on every machine. */
export function pixelWidth(text: string, fontSize: number): number {
  let width = 0;
  for (const letter of text)
    width += NARROW.test(letter) ? 0.33 : WIDE.test(letter) ? 0.95 : /[A-Z]/.test(letter) ? 0.7 : 0.58;
  return Math.ceil(width * fontSize);
}

/** The text, or as much of it with an ellipsis as fits into `width` pixels. */
export function cutText(text: string, fontSize: number, width: number): string {
  if (pixelWidth(text, fontSize) <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && pixelWidth(`${letters.join('').trimEnd()}…`, fontSize) > width) letters.pop();
  return `${letters.join('').trimEnd()}…`;
}

/** The text, or as much of its end with an ellipsis before it as fits into `width` pixels. */
export function cutTextStart(text: string, fontSize: number, width: number): string {
  if (pixelWidth(text, fontSize) <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && pixelWidth(`…${letters.join('')}`, fontSize) > width) letters.shift();
  return `…${letters.join('').trimStart()}`;
}
