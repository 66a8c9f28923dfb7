import type { Commands } from '../contributions/commands.ts';
import type { Parts } from '../contributions/parts.ts';
import { Search, type SearchDeps } from './search.ts';

interface SearchFeature {
  /** Created on first use. */
  readonly search: () => Search;
  readonly commands: () => Promise<Commands<'search'>>;
}

/** Indexes the window's folders, searches them, and asks models about what is found. */
export function registerSearch({ parts, ...deps }: SearchDeps & { readonly parts: Parts }): SearchFeature {
  const search = parts.onFirstUse(() => new Search(deps));
  return { search, commands: async () => (await import('./searchCommands.ts')).searchCommands(search()) };
}
