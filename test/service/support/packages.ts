import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './service.ts';

const HAS_PYTHON = spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0;
/** The option of tests that build a Python environment. */
export const skipWithoutPython = HAS_PYTHON
  ? false
  : 'LOUD: python3 with venv and ensurepip is not installed on this machine';

/** Writes a wheel with the module `tiny`, so that pip has something to install without a network. */
const WRITE_WHEEL = `
import zipfile
def write_wheel(path):
    with zipfile.ZipFile(path, 'w') as wheel:
        wheel.writestr('tiny.py', 'VALUE = 42')
        wheel.writestr('tiny-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')
        wheel.writestr('tiny-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr('tiny-1.0.dist-info/RECORD', '')
`;
export const WHEEL = 'tiny-1.0-py3-none-any.whl';

/** The files of the package `tiny` in a folder, whose own program builds it: pip runs that, and so these statements. */
export function packageThatRuns(statements: string): Record<string, string> {
  const build = `def build_wheel(folder, *_):\n    write_wheel(f'{folder}/${WHEEL}')\n    return '${WHEEL}'\n`;
  return {
    'tiny/pyproject.toml': '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    'tiny/backend.py': `${statements}\n${WRITE_WHEEL}${build}`,
  };
}

/** A folder with the wheel `tiny`. */
export async function wheelFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  assert.equal(spawnSync('python3', ['-c', `${WRITE_WHEEL}write_wheel('${join(folder, WHEEL)}')`]).status, 0);
  return folder;
}

/** A folder of programs on the search path of the service. */
export async function programs(t: TestContext, scripts: Readonly<Record<string, string>>): Promise<string> {
  const bin = await temporaryFolder(t);
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const path = process.env['PATH'];
  process.env['PATH'] = `${bin}${delimiter}${path}`;
  t.after(() => (process.env['PATH'] = path));
  return bin;
}
