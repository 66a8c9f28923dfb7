import { hash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
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

// A process that embeds the folder can write a file while the folder is being removed: 5.5 s at most, waiting longer each time.
const REMOVE_RETRIES = 10;

/** Stores what was chosen; with nothing chosen, the folder's vectors are removed. @throws the system's error. */
export async function writeMeaningChoice(home: string, root: string, choice: MeaningChoice | undefined): Promise<void> {
  const folder = vectorsFolder(home, root);
  if (choice === undefined) {
    // The choice goes first: whatever happens to the vectors, the folder is ranked by words alone from here on.
    await rm(join(folder, FILE), { force: true });
    return rm(folder, { recursive: true, force: true, maxRetries: REMOVE_RETRIES });
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeAtomically(join(folder, FILE), JSON.stringify(choice));
}
