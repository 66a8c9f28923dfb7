import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signedLanguageOf, signedNamesIn, withoutSigns } from '../../../../src/retrieval/tokenizer/signedNames.ts';

test('names with signs are found in a text, and operators and other words are none', () => {
  for (const [text, names] of Object.entries({
    'Write it in C++, C# or F#.': ' cplusplus csharp fsharp',
    'C++17 and ASP.NET on .NET 8': ' cplusplus dotnet dotnet',
    'for (c = 0; c < n; c++) C+++x; ABC#; C##; C#sharp; .NETS; obj.NETWORK': '',
    '(C#) C#-client /C++/': ' cplusplus csharp csharp',
  }))
    assert.equal(signedNamesIn(text), names, text);
});

test('a query may have them in any case', () => {
  assert.equal(withoutSigns('c++ parser'), 'cplusplus parser');
  assert.equal(withoutSigns('a C# or f# client for .net'), 'a csharp or fsharp client for dotnet');
  assert.equal(withoutSigns('i++ #if a.b'), 'i++ #if a.b');
});

test('the files of such a language are known by their extension', () => {
  assert.equal(signedLanguageOf('src/a.CPP'), 'cplusplus');
  assert.equal(signedLanguageOf('a.cs'), 'csharp dotnet');
  assert.equal(signedLanguageOf('cs'), '');
  assert.equal(signedLanguageOf('a.ts'), '');
});
