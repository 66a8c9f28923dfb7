import { peerPackage } from './peerPackage.ts';

export interface MiniSearchAnalysis {
  readonly tokenize?: (text: string) => string[];
}

interface MiniSearchOptions extends MiniSearchAnalysis {
  readonly fields: readonly string[];
}

/** What is used of MiniSearch. */
interface MiniSearchIndex {
  addAll(documents: readonly { readonly id: number; readonly text: string }[]): void;
  search(query: string): { readonly id: number }[];
}

interface MiniSearchClass {
  new (options: MiniSearchOptions): MiniSearchIndex;
  loadJSON(json: string, options: MiniSearchOptions): MiniSearchIndex;
}

export const { default: MiniSearch } = (await peerPackage('minisearch')) as { readonly default: MiniSearchClass };
