import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../core/errors.ts';

const KEY_BYTES = 32;

/**
 * Returns a function that derives the secret with which a job's runner seals its report. It is the same for every service on this
 * data folder, because runners outlive services. Isolated jobs never see the folder. A job that is not isolated could read the key
 * there, but it could also change the store itself.
 */
export function openRunnerSecrets(data: string): (jobId: string) => string {
  const key = readKey(join(data, 'runner.key'));
  return (jobId) => createHmac('sha256', key).update(jobId).digest('hex');
}

function readKey(path: string): Buffer {
  try {
    writeFileSync(path, randomBytes(KEY_BYTES), { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
  const key = readFileSync(path);
  if (key.length === KEY_BYTES) return key;
  // A full disk or a power loss truncated it before any runner used it.
  writeFileSync(path, randomBytes(KEY_BYTES), { mode: 0o600, flush: true });
  return readFileSync(path);
}
