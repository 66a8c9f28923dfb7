import { startOf, type SourceFile } from '../syntax/sourceFile.ts';
import { indentOf, lineBreakOf, stepOf } from '../syntax/sourceStyle.ts';
import { type Edit, removal, type Unconverted } from '../syntax/edits.ts';
import type { LibraryNames } from './libraryNames.ts';
import { type Creation, type WiredLink, readWiring, type WiringScope, type Wiring } from './wiring.ts';

const MAX_LINE = 100;

/** Connections of nodes become connections of the flow that reaches them. Nodes that nothing follows end it. */
export function convertConnections(
  file: SourceFile,
  names: LibraryNames,
): { readonly edits: readonly Edit[]; readonly unconverted: readonly Unconverted[] } {
  const { scopes, others } = readWiring(file, names);
  const edits: Edit[] = [];
  const unconverted = others.map((node) => ({
    offset: startOf(node),
    message: `connect the nodes of \`${file.snippet(node)}\` with connect of their flow`,
  }));
  for (const scope of scopes) convertScope(file.text, scope, { edits, unconverted });
  return { edits, unconverted };
}

function convertScope(
  text: string,
  { wirings, creations }: WiringScope,
  { edits, unconverted }: { edits: Edit[]; unconverted: Unconverted[] },
): void {
  const chains = new Map<Creation, string[]>();
  const inPlace = new Map<Wiring, string[]>();
  const placedLinks = new Set<WiredLink>();
  const links = wirings.flatMap((wiring) => wiring.links.map((link) => ({ link, wiring })));
  for (const creation of creations) {
    // A flow that is created inside a connection has no place for its own connections.
    if (wirings.some(({ start, end }) => start <= creation.start && creation.end <= end)) continue;
    const reached = reachedFrom(creation.first, links);
    const chain: string[] = [];
    const sources = new Set(reached.map(({ link }) => link.source));
    const ended = new Set<string>();
    const endings = (targets: readonly string[]): string[] =>
      targets.flatMap((target) => {
        if (!isName(target) || sources.has(target) || ended.has(target)) return [];
        ended.add(target);
        return [`connect(${target}, null)`];
      });
    const later = reached.filter(({ wiring }) => !isChained(wiring, creation));
    for (const { link, wiring } of reached) {
      if (!isChained(wiring, creation)) continue;
      chain.push(connectOf(link));
      placedLinks.add(link);
    }
    const chainedTargets = reached.filter(({ wiring }) => isChained(wiring, creation)).map(({ link }) => link.target);
    chain.push(...endings([creation.first, ...chainedTargets]));
    chains.set(creation, chain);
    for (const { link, wiring } of later) {
      if (creation.name === undefined || wiring.start < creation.start) continue;
      const calls = [connectOf(link), ...endings([link.target])];
      inPlace.set(wiring, [...(inPlace.get(wiring) ?? []), `${creation.name}.${calls.join('.')};`]);
      placedLinks.add(link);
    }
  }
  for (const wiring of wirings) {
    const missing = wiring.links.filter((link) => !placedLinks.has(link));
    for (const { source } of missing) {
      unconverted.push({
        offset: wiring.start,
        message: `no flow is visible here that reaches ${source}: connect it there`,
      });
    }
    if (missing.length > 0) continue;
    const statements = inPlace.get(wiring);
    const { start, end } = wiring;
    if (statements === undefined) edits.push(removal(text, start, end));
    else edits.push({ start, end, text: statements.join(lineBreakOf(text) + indentOf(text, start)) });
  }
  for (const [creation, chain] of chains) if (chain.length > 0) edits.push(chainEdit(text, creation, chain));
}

interface Placed {
  readonly link: WiredLink;
  readonly wiring: Wiring;
}

/** The connections that can be reached from a node, in the order of the source. */
function reachedFrom(first: string, links: readonly Placed[]): readonly Placed[] {
  const nodes = new Set([first]);
  for (const node of nodes) for (const { link } of links) if (link.source === node) nodes.add(link.target);
  return links.filter(({ link }) => nodes.has(link.source));
}

/** Whether a connection can be made together with the flow. Before `super`, a constructor cannot use `this`, but its nodes exist. */
function isChained({ start, isCertain }: Wiring, creation: Creation): boolean {
  return isCertain && start < creation.start;
}

function connectOf({ source, target, action }: WiredLink): string {
  return `connect(${[source, target, ...(action === undefined ? [] : [action])].join(', ')})`;
}

function isName(text: string): boolean {
  return /^[\w$]+(?:\.[\w$]+)*$/.test(text);
}

function chainEdit(text: string, { start, end, isSuper }: Creation, chain: readonly string[]): Edit {
  const indent = indentOf(text, start);
  if (isSuper) {
    const statements = chain.map((call) => `${lineBreakOf(text)}${indent}this.${call};`);
    return { start: end, end, text: statements.join('') };
  }
  const [only] = chain;
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const isShort = chain.length === 1 && end - lineStart + (only?.length ?? 0) + 'start: {}'.length <= MAX_LINE;
  const separator = isShort ? '' : `${lineBreakOf(text)}${indent}${stepOf(text)}`;
  return { start: end, end, text: chain.map((call) => `${separator}.${call}`).join('') };
}
