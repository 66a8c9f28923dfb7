/**
 * A package of `bench/package.json`, which is installed apart from the project's own: only `npm run bench` needs it. What is
 * used of it is described by its user, so that `npm run check` can read all of `bench/` without it.
 *
 * @throws Error that says how to install it.
 */
export async function peerPackage(name: string): Promise<unknown> {
  try {
    const peer: unknown = await import(name);
    return peer;
  } catch (cause) {
    throw new Error(`${name} is not installed in bench/. Run "npm ci --prefix bench".`, { cause });
  }
}
