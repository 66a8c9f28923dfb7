import { type KernelName, kernelBytes } from './compiledKernel.ts';

/** Bytes of a page, the unit in which memory grows. */
export const PAGE_BYTES = 65_536;

// The used part of https://webassembly.github.io/spec/js-api/, which TypeScript only declares with the browser's types.
export interface WasmMemory {
  /** Replaced after each growth. */
  readonly buffer: ArrayBuffer;
  /** @throws RangeError if the memory is not available. */
  grow(pages: number): number;
}
interface WebAssemblyApi {
  readonly Memory: new (limits: { readonly initial: number; readonly maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  validate(bytes: Uint8Array): boolean;
}

/** The functions of a kernel, and their memory. */
export interface KernelInstance<Functions> {
  readonly memory: WasmMemory;
  readonly functions: Functions;
}

/** Whether kernels can run here: they need WebAssembly with SIMD instructions. */
export function canStartKernel(name: KernelName): boolean {
  return webAssembly()?.validate(kernelBytes(name)) === true;
}

/** Starts a kernel with its own memory, whose limits are in pages. `Functions` must declare the exports of its source. */
export function startKernel<Functions>(
  name: KernelName,
  limits: { readonly initial: number; readonly maximum: number },
): KernelInstance<Functions> {
  const api = webAssembly();
  if (api === undefined) throw new Error('This JavaScript engine has no WebAssembly.');
  const memory = new api.Memory(limits);
  const { exports } = new api.Instance(new api.Module(kernelBytes(name)), { env: { memory } });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller declares them
  return { memory, functions: exports as Functions };
}

function webAssembly(): WebAssemblyApi | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- declared above
  return Reflect.get(globalThis, 'WebAssembly') as WebAssemblyApi | undefined;
}
