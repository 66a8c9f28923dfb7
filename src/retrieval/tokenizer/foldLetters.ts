// Letters that do not decompose into a letter and marks.
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};
const OTHERS = /[ßẞæÆœŒøØłŁđĐðþı]/g;
const ACCENTS = /(?<=[\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu;
const ASCII = /^[\x00-\x7f]*$/;

/**
 * A word in the form in which it is compared: `café` and `cafe`, `Größe` in any normal form of Unicode, `groß` and `gross`, full and half
 * width are the same. Marks of other scripts than Latin and Greek make other letters, and stay.
 */
export function foldLetters(word: string): string {
  if (ASCII.test(word)) return word;
  return word
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .normalize('NFC')
    .replace(OTHERS, (letter) => LETTERS[letter] ?? letter);
}
