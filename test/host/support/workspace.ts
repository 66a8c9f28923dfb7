import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder with one script whose job waits in the middle until it may continue. */
export interface GatedWorkspace {
  readonly folder: string;
  /** Lets jobs of this workspace end, those that run and those to come. */
  open(): Promise<void>;
}

export const SCRIPT = 'main.mjs';
export const FIRST_LINE = 'epoch 1: loss 2.31';
export const LAST_LINE = 'epoch 2: loss 1.98';
export const RESULT = 'metrics.json';
export const RESULT_TEXT = '{"loss":1.98}\n';

/**
 * Writes the workspace. The job is held by a file outside of it, because a job runs on a copy.
 *
 * @param gate path of a file that does not exist yet.
 */
export async function writeGatedWorkspace(folder: string, gate: string): Promise<GatedWorkspace> {
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, SCRIPT),
    [
      `import { existsSync, writeFileSync } from 'node:fs';`,
      `import { setTimeout as sleep } from 'node:timers/promises';`,
      `console.log(${JSON.stringify(FIRST_LINE)});`,
      `while (!existsSync(${JSON.stringify(gate)})) await sleep(50);`,
      `console.log(${JSON.stringify(LAST_LINE)});`,
      `writeFileSync(${JSON.stringify(RESULT)}, ${JSON.stringify(RESULT_TEXT)});`,
      '',
    ].join('\n'),
  );
  await writeFile(join(folder, 'notes.md'), '# Notes\n');
  return { folder, open: () => writeFile(gate, '') };
}
