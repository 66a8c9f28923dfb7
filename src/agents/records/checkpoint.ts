import { AppError, systemCode } from '../../core/errors.ts';
import { parseJson } from '../../core/jsonFields.ts';
import type { Checkpoint } from './recordSchemas.ts';

// As long as a text can be.
const MAX_BYTES = 500e6;

/** An `onCheckpoint` that stores the newest checkpoint in a file, atomically, so that it is complete after a crash. */
export function checkpointFile(path: string): (checkpoint: Checkpoint) => Promise<void> {
  return async (checkpoint) => {
    const { writeAtomically } = await import('../../core/files/atomicFile.ts'); // loads node:crypto, half the cost of importing the runtime
    await writeAtomically(path, `${JSON.stringify(checkpoint)}\n`).catch((cause: unknown) => {
      if (systemCode(cause) !== 'ENOENT') throw cause;
      const message = `The checkpoint ${path} could not be written, because its folder does not exist. Create the folder.`;
      throw new AppError('missing', message, { cause });
    });
  };
}

/**
 * Reads what `checkpointFile` wrote.
 *
 * @throws AppError `missing` or `corrupt`, with the path.
 */
export async function readCheckpoint(path: string): Promise<Checkpoint> {
  const { readNamedFile } = await import('../../core/files/namedFile.ts'); // loads streams, a tenth of the cost of importing the library
  const text = await readNamedFile(path, { name: `The checkpoint ${path}`, maxBytes: MAX_BYTES });
  const { checkpointSchema } = await import('./recordSchemas.ts');
  try {
    return checkpointSchema.parse(parseJson(text));
  } catch (error) {
    throw new AppError('corrupt', `${path} is not a checkpoint of this version. Start the run from its beginning.`, {
      cause: error,
    });
  }
}
