import { type FolderHit, type FolderSearchOptions, searchFolder, type SearchedFolder } from './folderSearch.ts';
import { mentionedFiles } from '../ranking/mentionedFiles.ts';
import { fileMentions } from '../search/fileMentions.ts';
import { PathFilter } from '../search/pathFilter.ts';
import { parseQuery, type Query } from '../search/query.ts';
import { correct, type Corrections, findCorrections } from './spelling.ts';
import { toTermQuery, withRelated } from '../search/termQuery.ts';
import { scanWords } from '../tokenizer/scanWords.ts';
import type { WordAnalyzer } from '../tokenizer/words.ts';

// Each is searched for by itself; more are pasted.
const MOST_PHRASES = 8;

/** Searches of a folder that correct misspelt words and ignore quoted phrases that it does not contain. */
export class ForgivingSearch {
  readonly #folder: SearchedFolder;
  readonly #analyzer: WordAnalyzer;

  constructor(folder: SearchedFolder, analyzer: WordAnalyzer) {
    this.#folder = folder;
    this.#analyzer = analyzer;
  }

  search(query: Query, limit: number, options: FolderSearchOptions): readonly FolderHit[] {
    const corrected = { ...query, text: correct(query.text, this.#corrections(query)) };
    const hits = this.#searchAsIs(corrected, limit, options);
    if (hits.length > 0 || query.phrases.length === 0) return hits;
    const occurs = (phrase: string): boolean =>
      this.#searchAsIs({ ...query, phrases: [phrase], excluded: [], paths: PathFilter.ALL }, 1, {}).length > 0;
    const phrases = query.phrases.slice(0, MOST_PHRASES).filter(occurs);
    if (phrases.length === query.phrases.length) return hits;
    return this.#searchAsIs({ ...corrected, phrases }, limit, options);
  }

  /** The query with unknown words replaced by those they were probably meant to be; undefined if there are none. */
  correct(query: string, isTyping: boolean): string | undefined {
    const corrections = this.#corrections(parseQuery(query, { isTyping }));
    return corrections.size === 0 ? undefined : correct(query, corrections);
  }

  #searchAsIs(query: Query, limit: number, options: FolderSearchOptions): readonly FolderHit[] {
    return searchFolder(query, withRelated(toTermQuery(query, this.#analyzer)), { ...options, limit }, this.#folder);
  }

  /**
   * A word that is still being typed is not corrected, unless no word begins with it. Names in paths are not corrected either if the folder
   * has one of the files, because the folders above it are those of another machine.
   */
  #corrections({ text, prefixes }: Query): Corrections {
    const { set } = this.#folder;
    const mentions = fileMentions(text);
    const isMentioned = mentions.length > 0 && mentionedFiles(mentions, this.#paths()).size > 0;
    const named = new Set<string>();
    if (isMentioned) for (const { names } of mentions) scanWords(names.join('/'), (word) => named.add(word));
    const isRight = (word: string): boolean =>
      (prefixes.includes(word) && set.hasPrefix(word)) || named.has(word.toLowerCase());
    return findCorrections(text, this.#analyzer, set, isRight);
  }

  *#paths(): Generator<string, void> {
    for (const { path, documentCount } of this.#folder.set.sources()) if (documentCount > 0) yield path;
  }
}
