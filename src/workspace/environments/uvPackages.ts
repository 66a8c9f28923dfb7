const LOCAL_SOURCE = /^source = \{ (?:editable|directory|path|virtual) = "(.*)" \}$/gm;

/** The folder of a package, besides the project itself, that a uv.lock installs from the folder. */
export function localPackage(text: string): string | undefined {
  return [...text.matchAll(LOCAL_SOURCE)].map(([, path]) => path).find((path) => path !== '.');
}
