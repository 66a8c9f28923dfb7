// Plain spellings of language names that consist of a word and signs. Files and people use both.
const NAMES: readonly (readonly [sign: string, name: string])[] = [
  ['C++', 'cplusplus'],
  ['C#', 'csharp'],
  ['F#', 'fsharp'],
  ['.NET', 'dotnet'],
];
// In lower case, `c++` in a text is mostly an operator.
const WRITTEN = NAMES.map(([sign, name]) => ({ sign, name, pattern: patternOf(sign, 'g') }));
const ASKED = NAMES.map(([sign, name]) => ({ name, pattern: patternOf(sign, 'gi') }));
const BY_EXTENSION: Readonly<Record<string, string>> = {
  cc: 'cplusplus',
  cpp: 'cplusplus',
  cxx: 'cplusplus',
  hh: 'cplusplus',
  hpp: 'cplusplus',
  hxx: 'cplusplus',
  cs: 'csharp dotnet',
  csproj: 'csharp dotnet',
  fs: 'fsharp dotnet',
  fsproj: 'fsharp dotnet',
  sln: 'dotnet',
  vb: 'dotnet',
};

/** The plain spelling of each `C++`, `C#`, `F#` and `.NET` in a text, with spaces between them. */
export function signedNamesIn(text: string): string {
  // Most texts have none of the rarer characters, which are found in a fraction of the time that the names take.
  if (!text.includes('++') && !text.includes('#') && !text.includes('NET')) return '';
  let names = '';
  for (const { sign, name, pattern } of WRITTEN) {
    if (!text.includes(sign)) continue;
    names += ` ${name}`.repeat(text.match(pattern)?.length ?? 0);
  }
  return names;
}

/** A query with the plain spellings instead, regardless of case. */
export function withoutSigns(query: string): string {
  return ASKED.reduce((text, { name, pattern }) => text.replace(pattern, name), query);
}

/** The names of the language of a file, if they are among these. */
export function signedLanguageOf(path: string): string {
  const dot = path.lastIndexOf('.');
  return dot < 0 ? '' : (BY_EXTENSION[path.slice(dot + 1).toLowerCase()] ?? '');
}

function patternOf(sign: string, flags: string): RegExp {
  // `C++17` and `ASP.NET` contain the names; `NaC#`, `C##` and `C#sharp` do not.
  const before = sign.startsWith('.') ? '' : String.raw`(?<![\w$#+.])`;
  const after = sign === 'C++' ? String.raw`(?![A-Za-z_$+#])` : String.raw`(?![\w$#+])`;
  return new RegExp(`${before}${sign.replaceAll(/[.+]/g, String.raw`\$&`)}${after}`, flags);
}
