import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LanguageServiceHost, typesPlugin } from '../../../../../src/extension/flows/language/typesPlugin.ts';

test('the plugin adds declarations only for its modules, and only where the folder has none', () => {
  const own = { resolvedFileName: '/folder/node_modules/farwharf/agents.d.ts' };
  let isInstalled = false;
  const host: LanguageServiceHost = {
    resolveModuleNameLiterals: (names) =>
      names.map(({ text }) => ({ resolvedModule: isInstalled && text === 'farwharf/agents' ? own : undefined })),
  };
  const languageService = {};
  const plugin = typesPlugin({ 'farwharf/agents': '/ext/agents.d.ts' })();
  assert.equal(plugin.create({ languageService, languageServiceHost: host }), languageService);
  const resolved = () => host.resolveModuleNameLiterals?.([{ text: 'farwharf/agents' }, { text: 'other' }], '/a.mts');
  assert.deepEqual(resolved(), [
    {
      resolvedModule: {
        resolvedFileName: '/ext/agents.d.ts',
        extension: '.d.ts',
        isExternalLibraryImport: true,
        resolvedUsingTsExtension: false,
      },
    },
    { resolvedModule: undefined },
  ]);
  isInstalled = true;
  assert.equal(resolved()?.[0]?.resolvedModule, own);
});
