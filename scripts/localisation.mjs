// What `@vscode/l10n` is in the bundles. Sources import that package everywhere, so that `@vscode/l10n-dev` finds their texts.

/** @type {(contents: string) => import('esbuild').Plugin} */
const replacedBy = (contents) => ({
  name: 'localisation',
  setup(build) {
    build.onResolve({ filter: /^@vscode\/l10n$/ }, () => ({ path: 'localisation', namespace: 'localisation' }));
    build.onLoad({ filter: /.*/, namespace: 'localisation' }, () => ({ contents }));
  },
});

/** In the extension host: VS Code translates the texts, with the bundle of `l10n/` for its language. */
export const localisedByVSCode = replacedBy(`import { l10n } from 'vscode';\nexport const t = l10n.t;\n`);

const TRANSLATE = `
  export function t(text, ...values) {
    const { message = text, args = typeof values[0] === 'object' ? values[0] : values, comment } = text;
    const translated = texts[[message, ...(comment === undefined ? [] : ['/', comment])].flat().join('')] ?? message;
    return translated.replace(/\\{(\\w+)\\}/g, (whole, name) => args[name] ?? whole);
  }
`;

/**
 * Elsewhere texts are English, until a program sets others: a thread of the extension sets those that it got from there. The package
 * itself has no licence text, so it must not ship.
 */
export const englishTexts = replacedBy(`
  let texts = {};
  export function config({ contents }) {
    texts = contents;
  }
  ${TRANSLATE}
`);

/** In a webview: the page has the bundle of VS Code's language in an attribute. */
export const textsOfPage = replacedBy(`
  const texts = JSON.parse(document.body.dataset.texts ?? '{}');
  ${TRANSLATE}
`);
