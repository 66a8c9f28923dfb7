import { Index } from '../../src/retrieval/index/index.ts';
import { selectSearchable } from '../../src/workspace/select/searchableFiles.ts';

const MOST_MS = 600_000;

/** The index of a folder as VS Code and the command line have it. @param home FARWHARF_HOME */
export async function indexFolder(folder: string, home: string): Promise<Index> {
  const index = await Index.open({ root: folder, home });
  const { files } = await selectSearchable(folder, {
    isTrusted: true,
    isKnown: () => false,
    signal: AbortSignal.timeout(MOST_MS),
    onProgress: () => {},
  });
  await index.sync(files);
  return index;
}
