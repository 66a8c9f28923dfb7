import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as spanish } from '@orama/stemmers/spanish';

/** A language of prose whose words have their own stems in the index, besides the English ones that all words have. */
export interface ProseLanguage {
  /** A prefix letter that distinguishes its stems from those of other languages. */
  readonly mark: string;
  /** The stem of a word in lower case and NFC, by the Snowball stemmer of the language. */
  readonly stem: (word: string) => string;
}

export const PROSE_LANGUAGES: readonly ProseLanguage[] = [
  { mark: 'd', stem: german },
  { mark: 'f', stem: french },
  { mark: 's', stem: spanish },
  { mark: 'p', stem: portuguese },
  { mark: 'r', stem: russian },
];

// Frequent words, each in one line only, that do not occur in addresses, code or licences: one line for each of the languages above, in
// their order, then one for English and one for languages that resemble others (Danish, Ukrainian, Serbian).
const FREQUENT = [
  'der die und ist nicht den dem ein eine einen einer eines auf für von zu werden wird sich sie kann auch oder wenn durch bei nur sind im aus nach wie diese dieser dieses als noch zum zur wurde haben über',
  'le les des du une est dans qui pas sur avec ce cette ces sont aux il elle nous vous être ont par au et ne peut sa ses leur comme où même tout',
  'el los las del una con pero más muy también está este lo sus hay cuando donde sin esta estos puede ser fue desde entre cada otro así cualquier debe según tiene',
  'uma um não são da dos na ao é mais muito também você pelo pela seu sua isso foi nos pode quando já até às nas estão sem então deve seus estiver qualquer',
  'и в не на что с по как это для из к но или если то его при может быть от все так же а только он они мы вы был есть',
  'the of and to is that for with this are be it by from or if which an not can will you as when',
  'og af til det på ikke være fra і та що або є які щоб це він у цього је за су који као није',
];
const LANGUAGE_OF = new Map(FREQUENT.flatMap((words, language) => words.split(' ').map((word) => [word, language])));
const WORD = /\p{L}+/gu;
// If one language leads by this many words, no more text is read; for English, usually after one part.
const MANY = 6;
const CLEAR_LEAD = 4;
const LEAST_FOUND = 3;
const LEAST_SHARE = 0.06;
const LEAST_LEAD = 2;

/** The language of prose, if it is one of those with their own stems, by its share of frequent words. */
export function detectProseLanguage(parts: Iterable<string>): ProseLanguage | undefined {
  const counts = FREQUENT.map(() => 0);
  let [words, most, next] = [0, 0, 0];
  for (const part of parts) {
    for (const word of part.normalize('NFC').toLowerCase().match(WORD) ?? []) {
      words += 1;
      const language = LANGUAGE_OF.get(word);
      if (language !== undefined) counts[language] = (counts[language] ?? 0) + 1;
    }
    [most = 0, next = 0] = counts.toSorted((a, b) => b - a);
    if (most >= MANY && most >= CLEAR_LEAD * next) break;
  }
  if (most < LEAST_FOUND || most < LEAST_SHARE * words || most < LEAST_LEAD * next) return undefined;
  return PROSE_LANGUAGES[counts.indexOf(most)];
}

/** Whether a word is so frequent in its language that its forms distinguish nothing. */
export function isFrequentWord(word: string): boolean {
  return LANGUAGE_OF.has(word);
}
