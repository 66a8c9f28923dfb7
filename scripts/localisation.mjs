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

/** Elsewhere texts are English. The package itself has no licence text, so it must not ship. */
export const englishTexts = replacedBy(`
  export function t(text, ...values) {
    const { message = text, args = typeof values[0] === 'object' ? values[0] : values } = text;
    return message.replace(/\\{(\\w+)\\}/g, (whole, name) => args[name] ?? whole);
  }
`);

/** In a webview: the page has the bundle of VS Code's language in an attribute. */
export const textsOfPage = replacedBy(`
  const texts = JSON.parse(document.body.dataset.texts ?? '{}');
  export function t(text, ...values) {
    const { message = text, args = typeof values[0] === 'object' ? values[0] : values, comment } = text;
    const translated = texts[[message, ...(comment === undefined ? [] : ['/', comment])].flat().join('')] ?? message;
    return translated.replace(/\\{(\\w+)\\}/g, (whole, name) => args[name] ?? whole);
  }
`);
