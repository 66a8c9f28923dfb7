import * as z from 'zod';

const https = z.url({ protocol: /^https$/ });
const ADDRESSES = {
  repository: z.object({ type: z.literal('git'), url: z.url({ protocol: /^git\+https$/ }) }),
  homepage: https,
  bugs: z.object({ url: https }),
};
const COMMAND =
  'npm pkg set repository.type=git repository.url=git+https://… homepage=https://… bugs.url=https://…, and commit it';

/**
 * Makes sure that package.json says where the project is found: registries and marketplaces show it, and a version that was published
 * without it cannot be corrected.
 *
 * @param manifest the parsed package.json.
 * @throws Error that names what is missing, and how to add it.
 */
export function requireAddresses(manifest: Readonly<Record<string, unknown>>): void {
  const missing = Object.entries(ADDRESSES).flatMap(([name, schema]) =>
    schema.safeParse(manifest[name]).success ? [] : [name],
  );
  if (missing.length === 0) return;
  throw new Error(
    `package.json has no valid ${missing.join(', ')}, which a published release needs. Run ${COMMAND}. To try a release that is not published, add --draft.`,
  );
}
