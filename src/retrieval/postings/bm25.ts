// BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with k1 above the usual 1.2, which ranks
// better once the names of definitions are weighted.
export const K1 = 2;
export const B = 0.85;

/** The length of longer documents is counted as this many words. */
export const MAX_LENGTH = 0xffff;
