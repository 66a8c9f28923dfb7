import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const IMPORTS = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"](\.[^'"]+)['"]/g;

/** Which unit tests use a source, by the imports of sources and tests. */
export class NearestTests {
  readonly #importers = new Map<string, string[]>();

  constructor(root: string) {
    for (const path of globSync('{src,test/unit}/**/*.ts', { cwd: root })) {
      for (const [, specifier = ''] of readFileSync(join(root, path), 'utf8').matchAll(IMPORTS)) {
        const imported = normalize(join(dirname(path), specifier));
        this.#importers.set(imported, [...(this.#importers.get(imported) ?? []), path]);
      }
    }
  }

  /** Returns up to `most` test files that import a source, those that do so through fewest other files first. */
  of(source: string, most: number): string[] {
    const seen = new Set([source]);
    const tests: string[] = [];
    for (const path of seen) {
      if (tests.length === most) break;
      if (path.endsWith('.test.ts')) tests.push(path);
      else for (const importer of this.#importers.get(path) ?? []) seen.add(importer);
    }
    return tests;
  }
}
