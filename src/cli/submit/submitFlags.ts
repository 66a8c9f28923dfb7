import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import { parseJsonObject, readNamedFile } from '../grammar/jsonObject.ts';
import type { ConflictChoice } from '../jobs/results.ts';
import type { FlowSubmitFlags } from '../flows/flowSubmission.ts';

/** The flags of `farwharf submit`. */
export interface SubmitFlags extends FlowSubmitFlags {
  readonly script?: string;
  /** Seconds. */
  readonly maxRuntime: number;
  readonly machineClass?: string;
  readonly project?: string;
  readonly venv?: string;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly watch?: boolean;
  readonly download?: boolean;
  readonly onConflict: ConflictChoice;
  readonly dryRun?: boolean;
  /** Send even if the outcome of the folder's last submit is unknown. */
  readonly again?: boolean;
}

/**
 * The absolute path of a folder that a person named.
 *
 * @throws AppError `missing`, `permission` or `bad-input` when the folder does not exist, cannot be read or is a file.
 */
export async function readFolder(argument: string): Promise<string> {
  const folder = resolve(argument);
  try {
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    if (systemCode(error) === 'EACCES') {
      const sentence = `${folder} cannot be read: no permission to enter a folder above it. Ask its owner for access.`;
      throw new AppError('permission', sentence, { cause: error });
    }
    throw new AppError('missing', `Folder ${folder} does not exist. Check the path.`, { cause: error });
  }
  throw new AppError('bad-input', `${folder} is a file. Enter the folder that contains it.`);
}

/** The description of a Python environment. @throws AppError `missing` or `bad-input` when the file cannot be read or is not a JSON object. */
export async function readVenv(file: string): Promise<Readonly<Record<string, unknown>>> {
  return parseJsonObject(await readNamedFile(file), file, '{ "requirements": ["numpy"] }');
}
