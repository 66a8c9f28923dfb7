// Builds the release of the last commit twice, as two machines would that have nothing in common but the commit, and compares the bytes.
// Then installs the extension and the npm package in clean places, and runs the main job, a flow and a search with each.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRelease } from './release/buildRelease.ts';

const PLATFORMS = ['Node.js', 'VS Code'];

const scratch = mkdtempSync(join(tmpdir(), 'farwharf-release-check-'));
try {
  const [here, elsewhere] = [join(scratch, 'here'), join(scratch, 'elsewhere')];
  const checksums = await buildRelease(here);
  const other = await buildRelease(elsewhere, otherMachine());
  process.stdout.write(`${checksums}\n`);
  if (other !== checksums) throw new Error(`Built again, the release has other bytes:\n${other}`);
  process.stdout.write('Both builds have the same bytes.\n');
  for (const platform of PLATFORMS) testPlatform(platform, here);
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

/** The environment of somebody else: other places, another time zone and language, and files that only the owner can read. */
function otherMachine(): NodeJS.ProcessEnv {
  const folder = (name: string): string => {
    const path = join(scratch, 'another machine', name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const places = { HOME: folder('home'), TMPDIR: folder('temporary files') };
  return { ...process.env, ...places, npm_config_cache: folder('npm'), TZ: 'Pacific/Auckland', LANG: 'tr_TR.UTF-8' };
}

function testPlatform(platform: string, artefacts: string): void {
  const args = [join(import.meta.dirname, 'testMatrix.ts'), '--short', '--only', platform, '--artefacts', artefacts];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`The release does not work on ${platform}.`);
}
