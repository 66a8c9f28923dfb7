import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** What the compiler says of the flow files in a folder; empty where they are right. An edit may leave a class that nobody uses. */
export async function typeErrorsIn(folder: string): Promise<string> {
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noUnusedLocals: false,
      paths: { 'farwharf/agents': [join(ROOT, 'src/agents/index.ts')] },
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    include: [folder],
    exclude: [join(folder, 'node_modules')],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  return spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout;
}
