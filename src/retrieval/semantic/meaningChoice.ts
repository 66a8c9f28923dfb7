import { hash } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from '../../core/files/atomicFile.ts';

const FILE = 'model.json';

/** The model that ranks a folder by meaning, as a person chose it. Keys are no part of it. */
export interface MeaningChoice {
  /** `local`, or the name of a service. */
  readonly provider: string;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly localModelPath?: string | undefined;
}

/** The folder that holds the vectors of `root`, in FARWHARF_HOME. */
export function vectorsFolder(home: string, root: string): string {
  return join(home, 'vectors', hash('sha256', root, 'hex').slice(0, 32));
}

/** What was chosen for a folder; undefined where nothing was, and it is ranked by words alone. */
export async function readMeaningChoice(home: string, root: string): Promise<MeaningChoice | undefined> {
  try {
    const choice: unknown = JSON.parse(await readFile(join(vectorsFolder(home, root), FILE), 'utf8'));
    const isChoice = typeof choice === 'object' && choice !== null && 'provider' in choice;
    return isChoice && typeof choice.provider === 'string' ? (choice as MeaningChoice) : undefined;
  } catch {
    return undefined;
  }
}

/** Stores what was chosen; with nothing chosen, the folder's vectors are removed. @throws the system's error. */
export async function writeMeaningChoice(home: string, root: string, choice: MeaningChoice | undefined): Promise<void> {
  const folder = vectorsFolder(home, root);
  if (choice === undefined) {
    // The choice goes first: whatever happens to the vectors, the folder is ranked by words alone from here on.
    await rm(join(folder, FILE), { force: true });
    // Another process can write vectors into it without end. Under another name it gets no more; Windows renames no folder in use.
    const renamed = `${folder}.removed`;
    await rm(renamed, { recursive: true, force: true }); // of a removal that was interrupted
    const isRenamed = await rename(folder, renamed).then(
      () => true,
      () => false,
    );
    return rm(isRenamed ? renamed : folder, { recursive: true, force: true, maxRetries: 3 });
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeAtomically(join(folder, FILE), JSON.stringify(choice));
}
