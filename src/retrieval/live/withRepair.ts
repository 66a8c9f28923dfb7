import { AppError } from '../../core/errors.ts';

/** Searches an index. If a file of it was damaged or removed, rebuilds it, and searches once more in what is indexed by then. */
export async function withRepair<T>(index: { rebuild(): Promise<void> }, search: () => Promise<T>): Promise<T> {
  try {
    return await search();
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'corrupt')) throw error;
    await index.rebuild();
    return search();
  }
}
