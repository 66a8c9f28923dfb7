/** A connection of a synthetic flow, by the numbers of its nodes; a target of null ends the flow. */
export interface SyntheticEdge {
  readonly source: number;
  readonly target: number | null;
  readonly action: string;
}

/**
 * A flow like those that programs write: stages of a few nodes each, decisions that skip some, retries that go back, and one
 * node for failures that a tenth of the others lead to. Equal numbers give equal flows.
 */
export function syntheticFlow(count: number, seed = 1): SyntheticEdge[] {
  const random = generator(seed);
  const edges: SyntheticEdge[] = [];
  const failures = count - 1;
  for (let source = 0; source < failures; source += 1) {
    const ahead = Math.min(failures - 1, source + 1 + Math.floor(random() * 3));
    edges.push({ source, target: ahead > source ? ahead : null, action: 'default' });
    if (random() < 0.35) {
      edges.push({ source, target: Math.min(failures - 1, source + 2 + Math.floor(random() * 5)), action: 'skip' });
    }
    if (random() < 0.15)
      edges.push({ source, target: Math.max(0, source - Math.floor(random() * 6)), action: 'again' });
    if (random() < 0.1) edges.push({ source, target: failures, action: 'failed' });
  }
  edges.push({ source: failures, target: null, action: 'default' });
  return edges;
}

/** Numbers from 0 to 1 that look random: the 32-bit generator "mulberry32", which is enough to vary a drawing. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
