import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './requirements.mjs';

/**
 * What the built files consist of, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). It has neither a time nor a serial number,
 * so that the same sources give the same bytes.
 *
 * @param {readonly import('./bundledPackages.mjs').BundledPackage[]} packages
 * @returns {Promise<string>}
 */
export async function billOfMaterials(packages) {
  const { name, version, license } = /** @type {import('./bundledPackages.mjs').Manifest} */ (
    JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  );
  const kernels = {
    type: 'library',
    'bom-ref': 'search-kernels',
    name: 'search-kernels',
    version,
    description: 'WebAssembly, compiled by the build from src/retrieval/kernel/assembly (AssemblyScript)',
    licenses: [{ license: { id: license } }],
  };
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': name, name, version } },
    // One version of a package can lie in several folders.
    components: [kernels, ...new Map(packages.map((each) => [purlOf(each), component(each)])).values()],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** @param {import('./bundledPackages.mjs').BundledPackage} bundled */
function purlOf({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** @param {import('./bundledPackages.mjs').BundledPackage} bundled */
function component(bundled) {
  const { name, version, license, integrity } = bundled;
  const purl = purlOf(bundled);
  const [algorithm = '', hash = ''] = integrity.split(/-(.*)/);
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    licenses: [{ license: { id: license } }],
    hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(hash, 'base64').toString('hex') }],
  };
}
