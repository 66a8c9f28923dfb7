import { kernelBytes } from '../src/retrieval/kernel/compiledKernel.ts';

const KERNELS = /** @type {const} */ (['tokenizer', 'vectors']);

/**
 * Puts the compiled kernels into a bundle, in place of the module that compiles them.
 *
 * @type {import('esbuild').Plugin}
 */
export const compiledKernels = {
  name: 'compiled-kernels',
  setup(build) {
    build.onLoad({ filter: /[\\/]retrieval[\\/]kernel[\\/]compiledKernel\.ts$/ }, () => {
      const bytes = KERNELS.map((name) => [name, Buffer.from(kernelBytes(name)).toString('base64')]);
      return {
        contents: `const KERNELS = ${JSON.stringify(Object.fromEntries(bytes))};
          export const kernelBytes = (name) => new Uint8Array(Buffer.from(KERNELS[name], 'base64'));`,
      };
    });
  },
};
