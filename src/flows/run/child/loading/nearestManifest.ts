import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The package.json of the package that contains a file; undefined if there is none. */
export function nearestManifest(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) return manifest;
    if (dirname(folder) === folder) return undefined;
  }
}
