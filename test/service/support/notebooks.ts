import { programsAreMissing } from '../../../scripts/programs.ts';

export interface Cell {
  readonly cell_type: string;
  readonly source: string | readonly string[];
  readonly metadata?: { readonly tags?: readonly string[] };
  readonly outputs?: readonly Record<string, unknown>[];
}

/** Why this machine cannot run notebooks; undefined where it can. Root on Debian gets what is missing. */
export function notebooksAreMissing(): Promise<string | undefined> {
  return programsAreMissing('nbclient', {
    programs: ['/usr/bin/jupyter-execute', '/usr/share/jupyter/kernels/python3/kernel.json'],
    packages: ['python3-nbclient', 'python3-ipykernel'],
  });
}

export const code = (source: string, tags: readonly string[] = []): Cell => ({
  cell_type: 'code',
  source,
  metadata: { tags },
  outputs: [],
});

/** A notebook as JSON. A text is a cell with code. */
export function notebook(
  cells: readonly (Cell | string)[],
  kernelspec = { name: 'python3', display_name: '', language: 'python' },
): string {
  const complete = cells.map((cell) => ({
    metadata: {},
    execution_count: null,
    ...(typeof cell === 'string' ? code(cell) : cell),
  }));
  return JSON.stringify({ cells: complete, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 4 });
}
