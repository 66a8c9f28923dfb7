import { peerPackage } from './peerPackage.ts';

export interface MiniSearchAnalysis {
  readonly tokenize?: (text: string) => string[];
}

interface MiniSearchOptions extends MiniSearchAnalysis {
  readonly fields: readonly string[];
  readonly searchOptions?: { readonly boost: Readonly<Record<string, number>> };
}

/** What is used of MiniSearch. */
interface MiniSearchIndex {
  addAll(documents: readonly Readonly<Record<string, string | number>>[]): void;
  search(query: string): { readonly id: number }[];
}

interface MiniSearchClass {
  new (options: MiniSearchOptions): MiniSearchIndex;
  loadJSON(json: string, options: MiniSearchOptions): MiniSearchIndex;
}

export const { default: MiniSearch } = (await peerPackage('minisearch')) as { readonly default: MiniSearchClass };
