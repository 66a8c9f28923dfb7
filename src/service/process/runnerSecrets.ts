import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../core/errors.ts';

const KEY_BYTES = 32;

/**
 * Gives each job the secret that its runner seals its report with: the same one in every service on this data folder, since a runner
 * outlives the service that started it. Isolated jobs never see the folder; a job that is not isolated could look for the
 * key there, as it could change the store itself.
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
  // A full disk or a power loss left a part of it, before any runner had it.
  writeFileSync(path, randomBytes(KEY_BYTES), { mode: 0o600, flush: true });
  return readFileSync(path);
}
