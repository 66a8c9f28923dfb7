const MAX_FOLDERS = 32;
// Code that a job imports but that is not its own: a file of the same name in the folder is a different file.
const FOREIGN =
  /^(?:node:|<|\/(?:usr|lib|lib64|opt|rustc|nix|System|Library)\/)|[/\\](?:site-packages|dist-packages|node_modules|\.cargo|\.rustup|\.venv|venv|virtualenvs|Program Files)[/\\]/;
const JAVA_ROOTS = [
  '',
  'src/main/java/',
  'src/test/java/',
  'src/main/kotlin/',
  'src/test/kotlin/',
  'src/main/scala/',
  'src/',
];
const JAVA_FILE = /\.(?:java|kt|scala|groovy)$/;

/**
 * The paths in the submitted folder that a printed path may stand for, with `/`, the most specific first. A job runs in another folder
 * than the one that was submitted, whose path no service reports, so leading folders are dropped one by one.
 */
export function workspacePaths(printedPath: string): string[] {
  if (isForeign(printedPath)) return [];
  const path = withoutScheme(printedPath).replaceAll('\\', '/');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || parts.length === 0 || parts.length > MAX_FOLDERS) return [];
  if (/^(?:\/|[A-Za-z]:)/.test(path)) return parts.map((_, index) => parts.slice(index).join('/'));
  const relative = parts.join('/');
  return JAVA_FILE.test(relative) ? JAVA_ROOTS.map((root) => root + relative) : [relative];
}

/** Whether a path is in a folder of packages or of the system, by its names alone. */
export function isForeign(path: string): boolean {
  return FOREIGN.test(path);
}

function withoutScheme(path: string): string {
  if (!path.startsWith('file://')) return path;
  try {
    return decodeURIComponent(path.slice('file://'.length));
  } catch {
    return path.slice('file://'.length); // a literal percent sign
  }
}
