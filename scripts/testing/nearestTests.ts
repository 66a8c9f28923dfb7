import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** The path of a source in quotation marks: what is imported, and the programs that are started as a process or thread. */
const PATHS = /['"]([^'"\s]+\.ts)['"]/g;

/** Starts what is built, which does not change with a source. */
const BUILT = 'test/service/support/built.ts';

/** Which tests may use a source, by the paths in sources and tests. */
export class NearestTests {
  readonly #importers = new Map<string, string[]>();

  constructor(root: string) {
    for (const path of globSync(['{src,scripts}/**/*.ts', 'test/*.ts', 'test/{unit,fuzz,kills,service}/**/*.ts'], {
      cwd: root,
    })) {
      for (const [, specifier = ''] of readFileSync(join(root, path), 'utf8').matchAll(PATHS)) {
        const imported = normalize(join(dirname(path), specifier));
        this.#importers.set(imported, [...(this.#importers.get(imported) ?? []), path]);
      }
    }
  }

  /**
   * Returns the test files that name a source, directly or through others: the one of the same name comes first, then those of its
   * own folder and area, and of these the ones that name it most directly.
   */
  of(source: string): string[] {
    const folders = source.split('/').slice(1, -1);
    const ownTest = source.replace(/^src\/(.*)\.ts$/, 'test/unit/$1.test.ts');
    const kinship = (test: string): number => {
      if (test === ownTest) return Number.POSITIVE_INFINITY;
      const parts = test.split('/').slice(2, -1);
      const differs = folders.findIndex((folder, index) => folder !== parts[index]);
      return differs === -1 ? folders.length : differs;
    };
    const startBuilt = this.#testsThatReach(BUILT);
    const tests = [...this.#testsThatReach(source)].filter((test) => !startBuilt.has(test));
    return tests.toSorted((a, b) => kinship(b) - kinship(a));
  }

  #testsThatReach(source: string): Set<string> {
    const found = new Set([source]);
    for (const path of found) {
      if (!path.endsWith('.test.ts')) for (const importer of this.#importers.get(path) ?? []) found.add(importer);
    }
    return new Set([...found].filter((path) => path.endsWith('.test.ts')));
  }
}
