import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The package.json of the package that a file belongs to; undefined where there is none above it. */
export function nearestManifest(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) return manifest;
    if (dirname(folder) === folder) return undefined;
  }
}
