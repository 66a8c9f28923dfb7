import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SelectedFile } from '../../workspace/files/selectedFile.ts';
import { writeCommandLine } from '../selection/commandLine.ts';

/** The folder of what is sent beside the user's files. */
const FOLDER = '.farwharf';

/** Scripts that run commands, for services that run scripts only, sent beside the files of a folder. Dispose of them once they are sent. */
export class CommandScripts implements AsyncDisposable {
  readonly files: readonly SelectedFile[];
  readonly #paths: ReadonlyMap<string, string>;
  readonly #scratch: string;

  private constructor(files: readonly SelectedFile[], paths: ReadonlyMap<string, string>, scratch: string) {
    this.files = files;
    this.#paths = paths;
    this.#scratch = scratch;
  }

  /** Writes the scripts outside of the folder. */
  static async write(commands: readonly (readonly string[])[]): Promise<CommandScripts> {
    const scratch = await mkdtemp(join(tmpdir(), 'farwharf-command-'));
    const paths = new Map<string, string>();
    const files: SelectedFile[] = [];
    for (const command of commands) {
      const line = writeCommandLine(command);
      if (paths.has(line)) continue;
      const name = paths.size === 0 ? 'command.sh' : `command-${paths.size + 1}.sh`;
      const source = join(scratch, name);
      await writeFile(source, scriptOf(line));
      await chmod(source, 0o755);
      const { size, mtimeMs } = await stat(source);
      const path = `${FOLDER}/${name}`;
      paths.set(line, path);
      files.push({ path, size, mode: 0o755, mtimeMs, source });
    }
    return new CommandScripts(files, paths, scratch);
  }

  /** The path of the script of a command in the folder that is sent; undefined if none was written. */
  pathOf(command: readonly string[]): string | undefined {
    return this.#paths.get(writeCommandLine(command));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#scratch, { recursive: true, force: true });
  }
}

function scriptOf(line: string): string {
  return `#!/bin/sh
# Runs the command of this job, whose service runs scripts only.
cd "$(dirname "$0")/.." || exit 1
exec ${line}
`;
}
