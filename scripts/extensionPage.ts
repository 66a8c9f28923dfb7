const PICTURE = /^!\[[^\]]*\]\([^)]*\)\n\n?/gm;
const RELATIVE_LINK = /\[([^\][]*)\]\((?!\w+:|#)[^)]*\)/g;

/**
 * A page of the extension without a repository to load from: VS Code shows only pictures with an `https` address, and no file of the
 * VSIX, so pictures are left out, and of links to files only their text remains.
 */
export function withoutFiles(markdown: string): string {
  return markdown.replaceAll(PICTURE, '').replaceAll(RELATIVE_LINK, '$1');
}
