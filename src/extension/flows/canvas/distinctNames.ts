/**
 * The names of files, each with as many of its folders as distinguish it from the others of the same name: `a/main.mts`, `b/main.mts`.
 *
 * @param paths different ones, with `/`.
 */
export function distinctNames(paths: readonly string[]): readonly string[] {
  return paths.map((path) => {
    const parts = path.split('/');
    const others = paths.filter((other) => other !== path);
    for (let count = 1; count < parts.length; count += 1) {
      const end = parts.slice(-count).join('/');
      if (!others.some((other) => other === end || other.endsWith(`/${end}`))) return end;
    }
    return path;
  });
}
