import { hash } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { textField } from '../../core/jsonFields.ts';

const FILE = 'model.json';
const OPTIONAL = ['model', 'baseUrl', 'localModelPath'] as const;

/** The model that the user selected for a folder's semantic ranking, without keys. */
export interface EmbeddingChoice {
  /** `local`, or the name of a service. */
  readonly provider: string;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly localModelPath?: string | undefined;
}

/** The folder in FARWHARF_HOME that contains the vectors of `root`. */
export function vectorsFolder(home: string, root: string): string {
  return join(home, 'vectors', hash('sha256', root, 'hex').slice(0, 32));
}

/** The choice for a folder; undefined if none was made, so that keyword ranking is used. */
export async function readEmbeddingChoice(home: string, root: string): Promise<EmbeddingChoice | undefined> {
  try {
    const choice: unknown = JSON.parse(await readFile(join(vectorsFolder(home, root), FILE), 'utf8'));
    const provider = textField(choice, 'provider');
    if (provider === undefined) return undefined;
    const options = OPTIONAL.flatMap((name): [string, string][] => {
      const value = textField(choice, name);
      return value === undefined ? [] : [[name, value]];
    });
    return { provider, ...Object.fromEntries(options) };
  } catch {
    return undefined;
  }
}

/** Stores the choice; undefined removes the folder's vectors. @throws the system's error. */
export async function writeEmbeddingChoice(
  home: string,
  root: string,
  choice: EmbeddingChoice | undefined,
): Promise<void> {
  const folder = vectorsFolder(home, root);
  if (choice === undefined) {
    // The choice is removed first, so that keyword ranking is used from now on, whatever happens to the vectors.
    await rm(join(folder, FILE), { force: true });
    // Another process may keep writing vectors into the folder; after a rename it cannot. Windows does not rename folders in use.
    const renamed = `${folder}.removed`;
    await rm(renamed, { recursive: true, force: true }); // left over from an interrupted removal
    const isRenamed = await rename(folder, renamed).then(
      () => true,
      () => false,
    );
    return rm(isRenamed ? renamed : folder, { recursive: true, force: true, maxRetries: 3 });
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeAtomically(join(folder, FILE), JSON.stringify(choice));
}
