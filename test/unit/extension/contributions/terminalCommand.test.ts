import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { suite, test } from 'node:test';

const LAUNCHERS = resolve(import.meta.dirname, '../../../../terminal');
const WINDOWS = process.platform === 'win32';

// VS Code sets these variables in its terminals; the extension puts the folder at the end of the PATH.
suite('the command `farwharf` of the terminals', () => {
  const run = async (cli: string, args: readonly string[], editor: NodeJS.ProcessEnv) => {
    const scratch = await mkdtemp(join(tmpdir(), 'farwharf-terminal-'));
    try {
      const extension = join(scratch, 'Ördner with spaces & $HOME');
      await cp(LAUNCHERS, join(extension, 'terminal'), { recursive: true });
      await mkdir(join(extension, 'dist'));
      await writeFile(join(extension, 'dist/cli.mjs'), cli);
      const env = {
        ...process.env,
        ...editor,
        PATH: `${process.env['PATH']}${delimiter}${join(extension, 'terminal')}`,
      };
      return spawnSync('farwharf', args, { cwd: scratch, env, encoding: 'utf8', shell: WINDOWS });
    } finally {
      await rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  };
  const node = { FARWHARF_EDITOR_NODE: process.execPath };

  test('runs the command line of the extension with the Node.js of the editor, wherever the extension is', async () => {
    const print =
      'console.log(JSON.stringify([process.execPath, process.env.ELECTRON_RUN_AS_NODE, ...process.argv.slice(2)]));';
    const { stdout } = await run(print, ['search', 'dead letter'], node);
    assert.deepEqual(JSON.parse(stdout), [process.execPath, '1', 'search', 'dead letter']);
  });

  test('has the exit status of the command line', async () => {
    assert.equal((await run('process.exitCode = 4;', [], node)).status, 4);
  });

  test('says what to do where the editor did not name its Node.js', { skip: WINDOWS }, async () => {
    const { status, stderr } = await run('', [], { FARWHARF_EDITOR_NODE: undefined });
    assert.notEqual(status, 0);
    assert.match(stderr, /FARWHARF_EDITOR_NODE: is not set\. Open a new terminal in VS Code\./);
  });

  test('cmd runs it with the same variables', async () => {
    const [posix, cmd] = await Promise.all(
      ['farwharf', 'farwharf.cmd'].map((name) => readFile(join(LAUNCHERS, name), 'utf8')),
    );
    const variables = (text: string | undefined): Set<string> => new Set(text?.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g));
    assert.deepEqual(variables(cmd), variables(posix));
  });
});
