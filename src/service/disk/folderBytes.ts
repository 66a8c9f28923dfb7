import { execFile } from 'node:child_process';
import { findProgram } from '../../core/processes/findProgram.ts';

// A limit against hangs; what was printed until then counts.
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1 << 20;

/**
 * Measures what folders occupy on their disk, in bytes by path. A folder that is missing, or was not measured in time, is not in
 * the result, which is empty on systems without du(1).
 *
 * du follows no link and goes to any depth, whatever a job does to its folder meanwhile, and neither blocks this process nor takes its
 * memory.
 */
export async function folderBytes(
  folders: readonly string[],
  { signal, timeoutMs = TIMEOUT_MS }: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Promise<ReadonlyMap<string, number>> {
  const program = findProgram('du', process.env['PATH'] ?? '');
  if (program === undefined || folders.length === 0) return new Map();
  const args = ['-skx', '--', ...folders];
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES, signal } as const;
  const output = await new Promise<string>((resolve) => {
    // It fails if a single folder cannot be read, but prints the sums all the same.
    execFile(program, args, options, (_, stdout) => resolve(stdout));
  });
  signal?.throwIfAborted();
  const lines = [...output.matchAll(/^(\d+)\t(.*)$/gm)];
  return new Map(lines.map(([, kilobytes, path = '']) => [path, 1024 * Number(kilobytes)]));
}
