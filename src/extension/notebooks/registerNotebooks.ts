import type { WindowParts } from '../contributions/parts.ts';
import { loadWhenOpened } from '../ui/loadWhenOpened.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';

interface NotebookInputs extends Pick<WindowParts, 'context' | 'home' | 'parts' | 'report'> {
  readonly store: JobStore;
}

const CELL_SCHEME = 'vscode-notebook-cell';

/** Shows the outputs of jobs in the open notebooks that they run. */
export function registerNotebooks({ context, home, parts, report, store }: NotebookInputs): void {
  const load = async (): Promise<void> => {
    const { OpenNotebooks } = await import('./openNotebooks.ts');
    parts.add(new OpenNotebooks({ home, parts, store, memory: context.workspaceState }));
  };
  parts.setUp('notebooks', () =>
    loadWhenOpened(
      ({ uri }) => uri.scheme === CELL_SCHEME,
      load,
      async (error) => report(error),
    ),
  );
}
