import table from './relatedTerms.json' with { type: 'json' };

/** A term that code uses where a person writes another one, such as `tty` for `terminal`. */
export interface RelatedTerm {
  readonly term: string;
  /** The cosine of the vectors of the two, from 0 to 1. */
  readonly similarity: number;
}

const NONE: readonly RelatedTerm[] = [];
// Each is a related term and 100 times its similarity, one after the other.
const LISTS: ReadonlyMap<string, string> = new Map(Object.entries(table));

/**
 * The terms related to a term, best first; none for most. They were learned from a million comments and commit messages of public
 * repositories, and the code beside them, by `bench/related/train.py`.
 */
export function relatedTerms(term: string): readonly RelatedTerm[] {
  const list = LISTS.get(term);
  if (list === undefined) return NONE;
  const fields = list.split(' ');
  return Array.from({ length: fields.length / 2 }, (_, at) => ({
    term: fields[2 * at] ?? '',
    similarity: Number(fields[2 * at + 1]) / 100,
  }));
}
