import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { withOwnModel } from '../../../../src/extension/flows/templateText.ts';
import { diagnose } from '../../../../src/flows/language/diagnose.ts';
import { readFlows } from '../../../../src/flows/project/flowProject.ts';
import { diskHost } from '../../../../src/flows/project/diskHost.ts';
import { typeErrorsIn } from '../../flows/typeCheck.ts';

const TEMPLATES = join(import.meta.dirname, '../../../../media/flowTemplates');

test('templates have no type errors and no problems, with recorded replies and with the user’s own model', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-templates-'));
  try {
    for (const file of await readdir(TEMPLATES)) {
      const text = await readFile(join(TEMPLATES, file), 'utf8');
      // Without these, a folder needs no types but those of the library.
      assert.doesNotMatch(text, /\bprocess\b|from 'node:|import\.meta/, file);
      const own = withOwnModel(text);
      assert.match(own, /^const model = new LLMClient\(\);$/m, file);
      assert.doesNotMatch(own, /recorded/i, file);
      await writeFile(join(folder, file), text);
      await writeFile(join(folder, `own${file}`), own);
      assert.deepEqual(diagnose(readFlows(file, text, diskHost)), [], file);
    }
    assert.equal(await typeErrorsIn(folder), '');
  } finally {
    await rm(folder, { recursive: true });
  }
});
