// npm runs this before it packs the project, and when the project is installed from git or from a folder: what it takes
// from here must be built. It also runs it at the end of `npm ci`, where the commands that need a build make one.
import { spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import { ROOT } from './requirements.mjs';

const { npm_command: command = '', npm_config_local_prefix: project = '', npm_config_global: isGlobal } = process.env;
const installsOnlyItsOwnPackages =
  ['ci', 'install'].includes(command) && isGlobal !== 'true' && relative(project, ROOT) === '';

if (!installsOnlyItsOwnPackages) {
  await import('./ready.mjs');
  const { status } = spawnSync(process.execPath, ['esbuild.mjs'], { cwd: ROOT, stdio: 'inherit' });
  process.exit(status ?? 1);
}
