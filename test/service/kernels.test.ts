import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { compileKernel, kernelBytes } from '../../src/retrieval/kernel/compiledKernel.ts';

for (const name of ['tokenizer', 'vectors'] as const) {
  test(`the kernel ${name} is compiled to the same bytes each time`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'farwharf-kernel-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'kernel.wasm');
    compileKernel(name, file);
    assert.deepEqual(new Uint8Array(readFileSync(file)), kernelBytes(name));
  });
}
