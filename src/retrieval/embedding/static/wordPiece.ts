import { AppError } from '../../../core/errors.ts';
import { fieldOf, numberField, textField } from '../../../core/jsonFields.ts';

const MOST_WORD_CHARACTERS = 100;
const MOST_TOKENS = 1_000_000;
// The words of a large folder; a few megabytes.
const MOST_REMEMBERED = 100_000;
const MOST_REMEMBERED_CHARACTERS = 64;

const SPACE = 0x20;
const LAST_ASCII = 127;
// 1 for ASCII that separates words; each of it but white space is a word itself.
const SEPARATES = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\t\n\r -/:-@[-`{-~]/.test(String.fromCharCode(code)) ? 1 : 0,
);
const IS_PLAIN = /^[a-z0-9]*$/;
const IS_ASCII = /^[A-Za-z0-9]*$/;
// The ranges of BERT's `_is_chinese_char`.
const CHINESE =
  /[\u{4e00}-\u{9fff}\u{3400}-\u{4dbf}\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{f900}-\u{faff}\u{2f800}-\u{2fa1f}]/gu;
const CONTROLS = /(?![\t\n\r])[\p{C}\ufffd]/gu;
const WORDS = /[\p{P}$+<=>^`|~]|[^\s\p{P}$+<=>^`|~]+/gu;
const NO_IDS: readonly number[] = [];

/** The tokens of a run of letters, or of a sign. */
export interface Word {
  /** The numbers of its tokens. */
  readonly ids: readonly number[];
  /** For a count of words: the same run has the same object. 0 at first. */
  count: number;
}

/**
 * The tokenizer of BERT, from a `tokenizer.json` of Hugging Face's tokenizers: text is cleaned, split at white space and punctuation, and
 * each word is split into the longest tokens of the vocabulary from the left (WordPiece). Unknown words have no tokens.
 */
export class WordPiece {
  readonly #vocabulary: ReadonlyMap<string, number>;
  readonly #unknown: string | undefined;
  readonly #prefix: string;
  readonly #mostCharacters: number;
  readonly #longest: number;
  readonly #cleans: boolean;
  readonly #splitsChinese: boolean;
  readonly #stripsAccents: boolean;
  readonly #lowers: boolean;
  readonly #known = new Map<string, Word>();
  /** The words of ASCII signs. */
  readonly #signs: readonly (Word | undefined)[];

  /** @throws AppError `corrupt` if the definition is of another kind, or not valid. */
  constructor(definition: unknown) {
    const model = fieldOf(definition, 'model');
    const normalizer = fieldOf(definition, 'normalizer');
    requireType(model, 'model', 'WordPiece');
    requireType(normalizer, 'normalizer', 'BertNormalizer');
    requireType(fieldOf(definition, 'pre_tokenizer'), 'pre_tokenizer', 'BertPreTokenizer');
    this.#vocabulary = vocabularyOf(fieldOf(model, 'vocab'));
    this.#unknown = textField(model, 'unk_token');
    this.#prefix = textField(model, 'continuing_subword_prefix') ?? '';
    this.#mostCharacters = numberField(model, 'max_input_chars_per_word') ?? MOST_WORD_CHARACTERS;
    this.#longest = [...this.#vocabulary.keys()].reduce((longest, { length }) => Math.max(longest, length), 0);
    this.#cleans = fieldOf(normalizer, 'clean_text') !== false;
    this.#splitsChinese = fieldOf(normalizer, 'handle_chinese_chars') !== false;
    this.#lowers = fieldOf(normalizer, 'lowercase') !== false;
    this.#stripsAccents = (fieldOf(normalizer, 'strip_accents') ?? this.#lowers) === true;
    this.#signs = Array.from(SEPARATES, (separates, code) =>
      separates === 1 && code > SPACE ? { ids: this.#split(String.fromCharCode(code)), count: 0 } : undefined,
    );
  }

  /** The largest number of a token. */
  get lastId(): number {
    let last = -1;
    for (const id of this.#vocabulary.values()) last = Math.max(last, id);
    return last;
  }

  /** Calls `visit` with each word of a text, in order. */
  scan(text: string, visit: (word: Word) => void): void {
    let start = 0;
    for (let at = 0; at <= text.length; at += 1) {
      const code = at === text.length ? SPACE : text.charCodeAt(at);
      if (code > LAST_ASCII || SEPARATES[code] === 0) continue;
      if (at > start) visit(this.#wordOf(text.slice(start, at)));
      const sign = this.#signs[code];
      if (sign !== undefined) visit(sign);
      start = at + 1;
    }
  }

  /** The tokens of a run without ASCII that separates words. */
  #wordOf(run: string): Word {
    const known = this.#known.get(run);
    if (known !== undefined) return known;
    const word = { ids: this.#wordsOf(run).flatMap((part) => this.#split(part)), count: 0 };
    if (run.length > MOST_REMEMBERED_CHARACTERS) return word;
    if (this.#known.size >= MOST_REMEMBERED) this.#known.clear();
    this.#known.set(run, word);
    return word;
  }

  #wordsOf(run: string): readonly string[] {
    if (IS_PLAIN.test(run)) return [run];
    if (IS_ASCII.test(run)) return [this.#lowers ? run.toLowerCase() : run];
    let text = this.#cleans ? run.replace(CONTROLS, '') : run;
    if (this.#splitsChinese) text = text.replace(CHINESE, ' $& ');
    if (this.#stripsAccents) text = text.normalize('NFD').replace(/\p{Mn}/gu, '');
    // One letter at a time, so that the last sigma of a word is the same letter as the others.
    if (this.#lowers) text = text.replaceAll('Σ', 'σ').toLowerCase();
    return text.match(WORDS) ?? [];
  }

  #split(word: string): readonly number[] {
    if (word.length > this.#mostCharacters && Array.from(word).length > this.#mostCharacters) return NO_IDS;
    const ids: number[] = [];
    for (let from = 0; from < word.length; ) {
      const prefix = from === 0 ? '' : this.#prefix;
      let to = Math.min(word.length, from + this.#longest);
      let id: number | undefined;
      for (; to > from && id === undefined; to -= 1) id = this.#vocabulary.get(prefix + word.slice(from, to));
      if (id === undefined) return NO_IDS;
      ids.push(id);
      from = to + 1;
    }
    return word === this.#unknown ? NO_IDS : ids;
  }
}

function requireType(part: unknown, name: string, type: string): void {
  const actual = fieldOf(part, 'type');
  if (actual === type) return;
  throw corrupt(
    `its ${name} is ${JSON.stringify(actual ?? null)}. Only models with the tokenizer of BERT are supported, where it is ${type}`,
  );
}

function vocabularyOf(tokens: unknown): ReadonlyMap<string, number> {
  const entries = typeof tokens === 'object' && tokens !== null ? Object.entries(tokens) : [];
  if (entries.length === 0 || entries.length > MOST_TOKENS) {
    throw corrupt(`its vocabulary has ${entries.length} tokens, where 1 to ${MOST_TOKENS} are supported`);
  }
  const vocabulary = new Map<string, number>();
  for (const [token, id] of entries as readonly (readonly [string, unknown])[]) {
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) throw corrupt('a token has no valid number');
    vocabulary.set(token, id);
  }
  return vocabulary;
}

function corrupt(reason: string): AppError {
  return new AppError('corrupt', `tokenizer.json is damaged or not supported: ${reason}.`);
}
